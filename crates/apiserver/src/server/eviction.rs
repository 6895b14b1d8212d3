//! `Evictor`: which connection goes when there is no room for another.
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
const CANDIDATES_MAX: usize = 64;
/// What happens again and again is logged once in this time.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// The connections that are open.
#[derive(Debug, Default)]
pub(super) struct Evictor {
    /// In the order in which they opened, some that ended among them.
    open: Vec<Weak<Activity>>,
    /// Those to go next, with when they asked for something last; the first to go at the end.
    candidates: Vec<(u64, Weak<Activity>)>,
    closed: LogThrottle,
    full: LogThrottle,
}

impl Evictor {
    /// A connection is open.
    pub(super) fn track(&mut self, activity: &Arc<Activity>) {
        if self.open.len() == self.open.capacity() {
            // At most half of the memory is for those that ended.
            self.open.retain(|it| it.strong_count() > 0);
            self.open.reserve(self.open.len());
        }
        self.open.push(Arc::downgrade(activity));
    }

    /// Sends a connection away. Whether one goes.
    pub(super) fn evict_one(&mut self) -> bool {
        let mut goes = self.evict_next_candidate();
        if !goes {
            self.select_candidates();
            goes = self.evict_next_candidate();
        }
        if !goes {
            if let Some(times) = self.full.due() {
                tracing::warn!(
                    times,
                    connections = self.open.len(),
                    "no room for another connection, and clients that say who they are have all: \
                     the others wait"
                );
            }
            return false;
        }
        if let Some(closed) = self.closed.due() {
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
    fn evict_next_candidate(&mut self) -> bool {
        while let Some((last, activity)) = self.candidates.pop() {
            let activity = activity.upgrade();
            if activity.is_some_and(|it| it.last_request_at() == last && it.evict()) {
                return true;
            }
        }
        false
    }

    fn select_candidates(&mut self) {
        self.open.retain(|it| it.strong_count() > 0);
        let open = self.open.iter();
        let unauthenticated = open.filter_map(|it| {
            let activity = it
                .upgrade()
                .filter(|it| it.client_state().is_unauthenticated())?;
            Some((activity.last_request_at(), Weak::clone(it)))
        });
        let mut unauthenticated: Vec<_> = unauthenticated.collect();
        // By time; of those that asked at the same moment, the first to open goes first.
        unauthenticated.sort_by_key(|(last, _)| *last);
        unauthenticated.truncate(CANDIDATES_MAX);
        unauthenticated.reverse();
        self.candidates = unauthenticated;
    }
}

/// Something that happens again and again.
#[derive(Debug, Default)]
struct LogThrottle {
    last: Option<Instant>,
    since: u64,
}

impl LogThrottle {
    /// It has happened again; how often since it was told, if it is to be told now.
    fn due(&mut self) -> Option<u64> {
        self.since += 1;
        if self.last.is_some_and(|it| it.elapsed() < LOG_INTERVAL) {
            return None;
        }
        self.last = Some(Instant::now());
        Some(std::mem::take(&mut self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::super::activity::LoadCounters;
    use super::*;
    use futures_util::FutureExt;
    use tokio::time::advance;

    fn goes(activity: &Activity) -> bool {
        activity.evicted().now_or_never().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn the_stranger_that_was_idle_longest_goes_first() {
        let counters = Arc::new(LoadCounters::default());
        let mut room = Evictor::default();
        let mut open = Vec::new();
        for _ in 0..4 {
            let activity = Activity::new(&counters);
            room.track(&activity);
            open.push(activity);
            advance(Duration::from_secs(1)).await;
        }
        open[0].client_state().mark_authenticated();
        drop(open[1].begin());
        assert!(room.evict_one());
        assert!(goes(&open[2]));
        // It is chosen, and asks for something before its turn.
        advance(Duration::from_secs(1)).await;
        drop(open[3].begin());
        assert!(room.evict_one());
        assert!(goes(&open[1]));
        assert!(room.evict_one());
        assert!(goes(&open[3]));
        assert!(!room.evict_one(), "who is known stays");
        assert!(!goes(&open[0]));
    }

    #[tokio::test(start_paused = true)]
    async fn connections_that_ended_are_forgotten() {
        let counters = Arc::new(LoadCounters::default());
        let mut room = Evictor::default();
        let kept: Vec<_> = (0..10).map(|_| Activity::new(&counters)).collect();
        for activity in &kept {
            room.track(activity);
        }
        for _ in 0..10_000 {
            room.track(&Activity::new(&counters));
        }
        assert!(room.open.len() <= 4 * kept.len(), "{}", room.open.len());
        let left = room.open.iter().filter(|it| it.strong_count() > 0);
        assert_eq!(left.count(), kept.len());
    }

    #[tokio::test(start_paused = true)]
    async fn what_happens_often_is_told_once_a_minute() {
        let mut throttle = LogThrottle::default();
        assert_eq!(throttle.due(), Some(1));
        assert_eq!((0..9).find_map(|_| throttle.due()), None);
        advance(LOG_INTERVAL).await;
        assert_eq!(throttle.due(), Some(10));
    }
}
