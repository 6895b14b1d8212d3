//! The maximum of several limiters.

use super::RateLimiter;
use std::fmt;
use std::time::Duration;

/// The longest delay of several limiters.
///
/// All are called each time, so all of them count the failure.
pub struct MaxOf<T: ?Sized> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T: ?Sized> MaxOf<T> {
    /// Creates the maximum of `limiters`; without any, there is no delay.
    pub fn new(limiters: Vec<Box<dyn RateLimiter<T>>>) -> Self {
        Self { limiters }
    }
}

impl<T: ?Sized> RateLimiter<T> for MaxOf<T> {
    fn delay(&mut self, item: &T, failures: u32, now: Duration) -> Duration {
        let waits = self
            .limiters
            .iter_mut()
            .map(|limiter| limiter.delay(item, failures, now));
        waits.max().unwrap_or(Duration::ZERO)
    }

    fn forget(&mut self, item: &T) {
        for limiter in &mut self.limiters {
            limiter.forget(item);
        }
    }
}

impl<T: ?Sized> fmt::Debug for MaxOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxOf")
            .field("limiters", &self.limiters.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limiter::{Exponential, FastSlow, default_controller};

    #[test]
    fn the_longest_wait_wins() {
        let fast = Duration::from_millis(5);
        let slow = Duration::from_secs(3);
        let mut limiter = MaxOf::new(vec![
            Box::new(FastSlow {
                fast,
                slow,
                fast_tries_max: 3,
            }),
            Box::new(Exponential {
                base: Duration::from_millis(1),
                max: Duration::from_secs(1000),
            }),
        ]);
        let waits: Vec<_> = (1..=5)
            .map(|n| limiter.delay("a", n, Duration::ZERO).as_millis())
            .collect();
        assert_eq!(waits, [5, 5, 5, 3000, 3000]);
    }

    #[test]
    fn the_default_takes_a_token_even_when_the_item_waits_longer() {
        let mut limiter = default_controller();
        for _ in 0..100 {
            assert_eq!(
                limiter.delay("a", 10, Duration::ZERO),
                Duration::from_millis(2560)
            );
        }
        let first = limiter.delay("b", 1, Duration::ZERO);
        assert_eq!(
            first,
            Duration::from_millis(100),
            "the burst is used up by the other item"
        );
    }

    #[test]
    fn no_limiter_is_no_wait() {
        assert_eq!(
            MaxOf::new(vec![]).delay("a", 9, Duration::ZERO),
            Duration::ZERO
        );
    }
}
