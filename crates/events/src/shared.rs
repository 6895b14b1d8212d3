//! `Shared`: what recorders and their broadcaster have in common.

use crate::EventStats;
use kubist_client::Ambient;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Where dates and random numbers come from.
    pub(crate) ambient: Ambient,
    recorded: AtomicU64,
    dropped: AtomicU64,
    /// Whether the last event was dropped, so that only the first of several is logged.
    is_dropping: AtomicBool,
    /// The last time that was in a name.
    nanoseconds: Mutex<i128>,
    /// What the correlator counts.
    written: Mutex<EventStats>,
}

impl Shared {
    pub(crate) fn new(ambient: Ambient) -> Self {
        Self {
            ambient,
            ..Self::default()
        }
    }

    /// Returns the time, or the next one that no name has yet.
    pub(crate) fn unique_nanoseconds(&self, now: i128) -> i128 {
        let mut last = self.nanoseconds.lock();
        *last = now.max(last.saturating_add(1));
        *last
    }

    pub(crate) fn count_recorded(&self, is_sent: bool) {
        self.recorded.fetch_add(1, Ordering::Relaxed);
        if is_sent {
            self.is_dropping.store(false, Ordering::Relaxed);
            return;
        }
        self.count_dropped(1);
        if !self.is_dropping.swap(true, Ordering::Relaxed) {
            let dropped = self.dropped.load(Ordering::Relaxed);
            tracing::warn!(
                dropped,
                "events are dropped: the queue is full, or nobody writes them"
            );
        }
    }

    pub(crate) fn count_dropped(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn set_written(&self, stats: EventStats) {
        *self.written.lock() = stats;
    }

    pub(crate) fn stats(&self) -> EventStats {
        let written = *self.written.lock();
        EventStats {
            recorded: self.recorded.load(Ordering::Relaxed),
            dropped: written.dropped + self.dropped.load(Ordering::Relaxed),
            ..written
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_have_one_time_whatever_the_clock_shows() {
        let shared = Shared::default();
        let times = [5, 5, 3, 9].map(|now| shared.unique_nanoseconds(now));
        assert_eq!(times, [5, 6, 7, 9]);
    }
}
