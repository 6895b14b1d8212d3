//! `Evictor`: chooses the connection to close when the connection limit is reached.
//!
//! A connection with an authenticated request is never closed for another. Of the others, the one
//! that has been idle longest goes first. A client without credentials can therefore occupy all
//! connections but cannot lock others out: a new client has as much time to authenticate as it
//! takes the others to open that many connections again.

use super::activity::Activity;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// How many candidates are chosen at once, because finding them scans all connections.
const CANDIDATES_MAX: usize = 64;
/// Minimum interval between log lines about the same condition.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The open connections.
#[derive(Debug, Default)]
pub(super) struct Evictor {
    /// In order of opening; some may have ended.
    open: Vec<Weak<Activity>>,
    /// The next to evict, with the time of their last request; the first to go is at the end.
    candidates: Vec<(u64, Weak<Activity>)>,
    closed: LogThrottle,
    full: LogThrottle,
}

impl Evictor {
    /// Registers an open connection.
    pub(super) fn track(&mut self, activity: &Arc<Activity>) {
        if self.open.len() == self.open.capacity() {
            // At most half of the capacity is wasted on connections that ended.
            self.open.retain(|it| it.strong_count() > 0);
            self.open.reserve(self.open.len());
        }
        self.open.push(Arc::downgrade(activity));
    }

    /// Evicts one connection. Returns whether there was one to evict.
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
                    "the connection limit is reached, and all connections are authenticated: further \
                     connections wait"
                );
            }
            return false;
        }
        if let Some(closed) = self.closed.due() {
            tracing::warn!(
                closed,
                connections = self.open.len(),
                "the connection limit is reached: the longest-idle unauthenticated \
                 connections are closed"
            );
        }
        true
    }

    /// Evicts the first candidate that made no request since it was chosen.
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
        // By time of the last request; for equal times, the first to open goes first.
        unauthenticated.sort_by_key(|(last, _)| *last);
        unauthenticated.truncate(CANDIDATES_MAX);
        unauthenticated.reverse();
        self.candidates = unauthenticated;
    }
}

/// Limits how often a condition is logged.
#[derive(Debug, Default)]
struct LogThrottle {
    last: Option<Instant>,
    since: u64,
}

impl LogThrottle {
    /// Counts an occurrence. Returns the number since the last log line if it is time to log again.
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
    async fn the_longest_idle_unauthenticated_connection_is_evicted_first() {
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
    async fn repeated_conditions_are_logged_once_a_minute() {
        let mut throttle = LogThrottle::default();
        assert_eq!(throttle.due(), Some(1));
        assert_eq!((0..9).find_map(|_| throttle.due()), None);
        advance(LOG_INTERVAL).await;
        assert_eq!(throttle.due(), Some(10));
    }
}
