//! A token bucket: a rate of requests a second, with a burst.
//!
//! Its state is one instant, the time at which the bucket is full again; taking a token moves it
//! forward. Waiters are served in order. A waiter that is dropped has still used its token.

use crate::config::RateLimit;
use crate::config_error::ConfigError;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct RateLimiter {
    interval: Duration,
    tolerance: Duration,
    full_at: Mutex<Option<Instant>>,
}

impl RateLimiter {
    pub(crate) fn new(limit: RateLimit) -> Result<Self, ConfigError> {
        let RateLimit { per_second, burst } = limit;
        let interval = Some(1.0 / per_second)
            .filter(|seconds| *seconds > 0.0)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .ok_or(ConfigError::RateLimit { per_second })?;
        let tolerance = interval.saturating_mul(burst.saturating_sub(1));
        Ok(Self {
            interval,
            tolerance,
            full_at: Mutex::new(None),
        })
    }

    /// Takes a token, and waits until it is available.
    pub(crate) async fn acquire(&self) {
        let wait = self.reserve(Instant::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    fn reserve(&self, now: Instant) -> Duration {
        let mut full_at = self.full_at.lock();
        let start = full_at.map_or(now, |at| at.max(now));
        *full_at = start.checked_add(self.interval).or(Some(start));
        start.duration_since(now).saturating_sub(self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        let limiter = RateLimiter::new(RateLimit {
            per_second: 5.0,
            burst: 10,
        })
        .unwrap();
        let start = Instant::now();
        for _ in 0..10 {
            limiter.acquire().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..10 {
            limiter.acquire().await;
        }
        let elapsed = start.elapsed();
        assert!((1990..=2020).contains(&elapsed.as_millis()), "{elapsed:?}");
    }

    #[test]
    fn rates_that_are_not_above_zero_are_refused() {
        for per_second in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(
                RateLimiter::new(RateLimit {
                    per_second,
                    burst: 1
                })
                .is_err()
            );
        }
    }
}
