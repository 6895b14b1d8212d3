//! `Room`: which connection goes when there is no room for another.
//!
//! A client that says who it is has a connection for as long as it likes. One on which nobody has
//! yet goes for the next that comes: the one that has asked for nothing for the longest time. So a
//! client without credentials can take all the room and keep nobody out; who comes has as much time
//! to say who it is as all the others that come meanwhile take to fill the room anew.

use super::activity::Activity;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// How many are chosen at once: to find them, all connections are looked at.
const CHOSEN_MAX: usize = 64;
/// What happens again and again is logged once in this time.
const TOLD_EVERY: Duration = Duration::from_mins(1);

/// The connections that are open.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// In the order in which they opened, some that ended among them.
    open: Vec<Weak<Activity>>,
    /// Those to go next, with when they asked for something last; the first to go at the end.
    chosen: Vec<(u64, Weak<Activity>)>,
    closed: Told,
    full: Told,
}

impl Room {
    /// A connection is open.
    pub(super) fn opened(&mut self, activity: &Arc<Activity>) {
        if self.open.len() == self.open.capacity() {
            // At most half of the memory is for those that ended.
            self.open.retain(|it| it.strong_count() > 0);
            self.open.reserve(self.open.len());
        }
        self.open.push(Arc::downgrade(activity));
    }

    /// Sends a connection away. Whether one goes.
    pub(super) fn make(&mut self) -> bool {
        let mut goes = self.send_next_away();
        if !goes {
            self.choose();
            goes = self.send_next_away();
        }
        if !goes {
            if let Some(times) = self.full.again() {
                tracing::warn!(
                    times,
                    connections = self.open.len(),
                    "no room for another connection, and clients that say who they are have all: \
                     the others wait"
                );
            }
            return false;
        }
        if let Some(closed) = self.closed.again() {
            tracing::warn!(
                closed,
                connections = self.open.len(),
                "no room for another connection: those that were idle longest, of clients that \
                 did not say who they are, are closed"
            );
        }
        true
    }

    /// Sends the first of the chosen away that has asked for nothing since.
    fn send_next_away(&mut self) -> bool {
        while let Some((last, activity)) = self.chosen.pop() {
            let activity = activity.upgrade();
            if activity.is_some_and(|it| it.last_asked() == last && it.send_away()) {
                return true;
            }
        }
        false
    }

    fn choose(&mut self) {
        self.open.retain(|it| it.strong_count() > 0);
        let open = self.open.iter();
        let strangers = open.filter_map(|it| {
            let activity = it.upgrade().filter(|it| it.standing().is_stranger())?;
            Some((activity.last_asked(), Weak::clone(it)))
        });
        let mut strangers: Vec<_> = strangers.collect();
        // By time; of those that asked at the same moment, the first to open goes first.
        strangers.sort_by_key(|(last, _)| *last);
        strangers.truncate(CHOSEN_MAX);
        strangers.reverse();
        self.chosen = strangers;
    }
}

/// Something that happens again and again.
#[derive(Debug, Default)]
struct Told {
    last: Option<Instant>,
    since: u64,
}

impl Told {
    /// It has happened again; how often since it was told, if it is to be told now.
    fn again(&mut self) -> Option<u64> {
        self.since += 1;
        if self.last.is_some_and(|it| it.elapsed() < TOLD_EVERY) {
            return None;
        }
        self.last = Some(Instant::now());
        Some(std::mem::take(&mut self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::super::activity::Totals;
    use super::*;
    use futures_util::FutureExt;
    use tokio::time::advance;

    fn goes(activity: &Activity) -> bool {
        activity.sent_away().now_or_never().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn the_stranger_that_was_idle_longest_goes_first() {
        let totals = Arc::new(Totals::default());
        let mut room = Room::default();
        let mut open = Vec::new();
        for _ in 0..4 {
            let activity = Activity::new(&totals);
            room.opened(&activity);
            open.push(activity);
            advance(Duration::from_secs(1)).await;
        }
        open[0].standing().become_known();
        drop(open[1].begin());
        assert!(room.make());
        assert!(goes(&open[2]));
        // It is chosen, and asks for something before its turn.
        advance(Duration::from_secs(1)).await;
        drop(open[3].begin());
        assert!(room.make());
        assert!(goes(&open[1]));
        assert!(room.make());
        assert!(goes(&open[3]));
        assert!(!room.make(), "who is known stays");
        assert!(!goes(&open[0]));
    }

    #[tokio::test(start_paused = true)]
    async fn connections_that_ended_are_forgotten() {
        let totals = Arc::new(Totals::default());
        let mut room = Room::default();
        let kept: Vec<_> = (0..10).map(|_| Activity::new(&totals)).collect();
        for activity in &kept {
            room.opened(activity);
        }
        for _ in 0..10_000 {
            room.opened(&Activity::new(&totals));
        }
        assert!(room.open.len() <= 4 * kept.len(), "{}", room.open.len());
        let left = room.open.iter().filter(|it| it.strong_count() > 0);
        assert_eq!(left.count(), kept.len());
    }

    #[tokio::test(start_paused = true)]
    async fn what_happens_often_is_told_once_a_minute() {
        let mut told = Told::default();
        assert_eq!(told.again(), Some(1));
        assert_eq!((0..9).find_map(|_| told.again()), None);
        advance(TOLD_EVERY).await;
        assert_eq!(told.again(), Some(10));
    }
}
