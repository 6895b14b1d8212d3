//! `LogLimit`: at most one log line a second about what clients can cause with each request.

use kubist_apimachinery::Time;
use std::sync::atomic::{AtomicI64, Ordering};

/// Lets one event of each second pass.
#[derive(Debug)]
pub(crate) struct LogLimit {
    /// The second of the last event that passed, in Unix time.
    last: AtomicI64,
}

impl LogLimit {
    pub(crate) const fn new() -> Self {
        Self {
            last: AtomicI64::new(i64::MIN),
        }
    }

    /// Reports whether an event is logged.
    pub(crate) fn passes(&self, now: Time) -> bool {
        self.last.swap(now.unix(), Ordering::Relaxed) != now.unix()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_event_of_a_second_passes() {
        let limit = LogLimit::new();
        let passes = [1, 1, 2, 2, 2, 4].map(|second| limit.passes(Time::from_unix(second)));
        assert_eq!(passes, [true, false, true, false, false, true]);
    }
}
