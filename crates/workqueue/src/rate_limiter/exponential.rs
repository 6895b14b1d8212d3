//! A delay that doubles with every failure of the item.

use super::RateLimiter;
use std::time::Duration;

/// `base`, then twice that, and so on up to `max`. Other items have no influence.
///
/// The default is client-go's for controllers: 5 ms up to 1,000 s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exponential {
    /// The delay after the first failure.
    pub base: Duration,
    /// The maximum delay.
    pub max: Duration,
}

impl Default for Exponential {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(5),
            max: Duration::from_secs(1000),
        }
    }
}

impl<T: ?Sized> RateLimiter<T> for Exponential {
    fn delay(&mut self, _item: &T, failures: u32, _now: Duration) -> Duration {
        let base = self.base.as_nanos();
        let doublings = failures.saturating_sub(1);
        if base != 0 && doublings >= base.leading_zeros() {
            return self.max;
        }
        let nanos = base
            .checked_shl(doublings)
            .unwrap_or(0)
            .min(self.max.as_nanos());
        u64::try_from(nanos).map_or(self.max, Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(limiter: Exponential, failures: u32) -> Duration {
        let mut limiter = limiter;
        limiter.delay("item", failures, Duration::ZERO)
    }

    /// Contract WORK-5.
    #[test]
    fn the_wait_doubles_from_5_ms_to_1000_s() {
        let limiter = Exponential::default();
        let waits: Vec<_> = (1..=4).map(|n| delay(limiter, n).as_millis()).collect();
        assert_eq!(waits, [5, 10, 20, 40]);
        assert_eq!(delay(limiter, 18), Duration::from_millis(655_360));
        assert_eq!(delay(limiter, 19), Duration::from_secs(1000));
    }

    #[test]
    fn many_failures_do_not_overflow() {
        let limiter = Exponential {
            base: Duration::from_nanos(1),
            max: Duration::from_secs(1000),
        };
        assert_eq!(delay(limiter, 40), Duration::from_nanos(1 << 39));
        for failures in [60, 64, 65, 127, 128, 129, 1000, u32::MAX] {
            assert_eq!(delay(limiter, failures), limiter.max, "{failures}");
        }
        let unbounded = Exponential {
            base: Duration::from_secs(1),
            max: Duration::MAX,
        };
        assert_eq!(delay(unbounded, u32::MAX), Duration::MAX);
    }

    #[test]
    fn a_base_of_zero_stays_zero() {
        let limiter = Exponential {
            base: Duration::ZERO,
            max: Duration::from_secs(1),
        };
        assert_eq!(delay(limiter, 500), Duration::ZERO);
    }

    #[test]
    fn a_base_above_the_maximum_is_the_maximum() {
        let limiter = Exponential {
            base: Duration::from_secs(5),
            max: Duration::from_secs(3),
        };
        assert_eq!(delay(limiter, 1), Duration::from_secs(3));
    }
}
