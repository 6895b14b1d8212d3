//! A token bucket: a steady rate with a burst, for the queue as a whole.
//!
//! Every call of the limiter takes one token, a future one if none is left, and none is returned
//! (as in client-go). It uses integer arithmetic on nanoseconds, without drift.

use super::RateLimiter;
use std::time::Duration;

/// One token per `interval`, and up to `burst` saved tokens.
///
/// The default is client-go's for controllers: 10 a second, burst 100.
#[derive(Debug, Clone)]
pub struct Bucket {
    interval: Duration,
    /// The time in which an empty bucket fills.
    depth: Duration,
    /// When the bucket will be full.
    full_at: Duration,
}

impl Bucket {
    /// Creates a full bucket. A `burst` of 0 counts as 1, because no token would ever be available
    /// otherwise.
    #[must_use]
    pub const fn new(interval: Duration, burst: u32) -> Self {
        let burst = if burst == 0 { 1 } else { burst };
        let depth = interval.saturating_mul(burst);
        Self {
            interval,
            depth,
            full_at: Duration::ZERO,
        }
    }

    /// Takes a token, a future one if necessary, and returns how long until it is available.
    pub fn reserve(&mut self, now: Duration) -> Duration {
        self.full_at = self.full_at.max(now).saturating_add(self.interval);
        self.full_at.saturating_sub(now.saturating_add(self.depth))
    }

    /// Takes a token if one is available.
    ///
    /// # Errors
    ///
    /// The time until the next token; none was taken.
    pub fn try_take(&mut self, now: Duration) -> Result<(), Duration> {
        let full_at = self.full_at.max(now).saturating_add(self.interval);
        let there_at = full_at.saturating_sub(self.depth);
        if there_at > now {
            return Err(there_at);
        }
        self.full_at = full_at;
        Ok(())
    }
}

impl Default for Bucket {
    fn default() -> Self {
        Self::new(Duration::from_millis(100), 100)
    }
}

impl<T: ?Sized> RateLimiter<T> for Bucket {
    fn delay(&mut self, _item: &T, _failures: u32, now: Duration) -> Duration {
        self.reserve(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Contract WORK-5.
    #[test]
    fn after_the_burst_waits_grow_by_the_interval() {
        let mut bucket = Bucket::default();
        for _ in 0..100 {
            assert_eq!(bucket.reserve(MS), Duration::ZERO);
        }
        assert_eq!(bucket.reserve(MS), 100 * MS);
        assert_eq!(bucket.reserve(MS), 200 * MS);
        assert_eq!(
            bucket.reserve(51 * MS),
            250 * MS,
            "time passed counts, debts remain"
        );
    }

    #[test]
    fn an_idle_bucket_saves_no_more_than_its_burst() {
        let mut bucket = Bucket::new(100 * MS, 2);
        let later = Duration::from_secs(3600);
        assert_eq!(bucket.reserve(later), Duration::ZERO);
        assert_eq!(bucket.reserve(later), Duration::ZERO);
        assert_eq!(bucket.reserve(later), 100 * MS);
    }

    #[test]
    fn try_take_takes_nothing_from_the_future() {
        let mut bucket = Bucket::new(100 * MS, 1);
        assert_eq!(bucket.try_take(5 * MS), Ok(()));
        assert_eq!(bucket.try_take(6 * MS), Err(105 * MS));
        assert_eq!(bucket.try_take(104 * MS), Err(105 * MS));
        assert_eq!(bucket.try_take(105 * MS), Ok(()));
    }

    #[test]
    fn an_interval_of_zero_never_waits() {
        let mut bucket = Bucket::new(Duration::ZERO, 0);
        assert_eq!(bucket.reserve(Duration::ZERO), Duration::ZERO);
        assert_eq!(bucket.try_take(Duration::ZERO), Ok(()));
    }

    #[test]
    fn extreme_numbers_saturate() {
        let mut bucket = Bucket::new(Duration::MAX, u32::MAX);
        assert_eq!(bucket.reserve(Duration::MAX), Duration::ZERO);
        let mut bucket = Bucket::new(Duration::MAX / 2, 1);
        assert_eq!(bucket.reserve(Duration::ZERO), Duration::ZERO);
        assert!(bucket.reserve(Duration::ZERO) > Duration::MAX / 3);
    }
}
