//! A few fast retries, then slow ones.

use super::RateLimiter;
use std::time::Duration;

/// `fast` for the first `fast_tries_max` failures of an item, `slow` after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastSlow {
    /// The delay of the first retries.
    pub fast: Duration,
    /// The delay of later retries.
    pub slow: Duration,
    /// The number of fast retries.
    pub fast_tries_max: u32,
}

impl<T: ?Sized> RateLimiter<T> for FastSlow {
    fn delay(&mut self, _item: &T, failures: u32, _now: Duration) -> Duration {
        if failures <= self.fast_tries_max {
            self.fast
        } else {
            self.slow
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tries_are_fast_and_the_others_slow() {
        let fast = Duration::from_millis(5);
        let slow = Duration::from_secs(10);
        let mut limiter = FastSlow {
            fast,
            slow,
            fast_tries_max: 3,
        };
        let mut waits = (1..=5).map(|failures| limiter.delay("a", failures, Duration::ZERO));
        let waits: Vec<_> = waits.by_ref().collect();
        assert_eq!(waits, [fast, fast, fast, slow, slow]);
    }
}
