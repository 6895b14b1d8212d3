//! An upper bound for another limiter.

use super::RateLimiter;
use std::time::Duration;

/// The delay of `inner`, but at most `max`.
#[derive(Debug, Clone)]
pub struct MaxWait<L> {
    /// The inner limiter.
    pub inner: L,
    /// The maximum delay.
    pub max: Duration,
}

impl<T: ?Sized, L: RateLimiter<T>> RateLimiter<T> for MaxWait<L> {
    fn delay(&mut self, item: &T, failures: u32, now: Duration) -> Duration {
        self.inner.delay(item, failures, now).min(self.max)
    }

    fn forget(&mut self, item: &T) {
        self.inner.forget(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limiter::Exponential;

    #[test]
    fn a_longer_wait_is_cut_and_a_shorter_one_is_kept() {
        let inner = Exponential {
            base: Duration::from_secs(1),
            max: Duration::from_secs(1000),
        };
        let mut limiter = MaxWait {
            inner,
            max: Duration::from_secs(3),
        };
        assert_eq!(
            limiter.delay("a", 2, Duration::ZERO),
            Duration::from_secs(2)
        );
        assert_eq!(
            limiter.delay("a", 3, Duration::ZERO),
            Duration::from_secs(3)
        );
    }
}
