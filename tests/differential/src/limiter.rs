//! Rate limiters, as traces describe them.

use crate::replayer::LineError;
use kubist_workqueue::RateLimiter;
use kubist_workqueue::rate_limiter::{
    Bucket, Exponential, FastSlow, MaxOf, MaxWait, default_controller,
};
use serde::Deserialize;
use std::time::Duration;

/// The limiter; durations are in nanoseconds.
#[derive(Deserialize)]
pub(crate) struct LimiterConfig {
    kind: String,
    base: u64,
    max: u64,
    fast: u64,
    slow: u64,
    tries: u32,
    rate: u32,
    burst: u32,
}

impl LimiterConfig {
    pub(crate) fn limiter(&self) -> Result<Box<dyn RateLimiter<String>>, LineError> {
        let exponential = Exponential {
            base: Duration::from_nanos(self.base),
            max: Duration::from_nanos(self.max),
        };
        let bucket = Bucket::new(Duration::from_secs(1) / self.rate.max(1), self.burst);
        let slow = Duration::from_nanos(self.slow);
        let fast_slow = FastSlow {
            fast: Duration::from_nanos(self.fast),
            slow,
            fast_tries_max: self.tries,
        };
        Ok(match self.kind.as_str() {
            "exponential" => Box::new(exponential),
            "bucket" => Box::new(bucket),
            "fast-slow" => Box::new(fast_slow),
            "max-of" => Box::new(MaxOf::new(vec![
                Box::new(exponential),
                Box::new(bucket),
                Box::new(fast_slow),
            ])),
            "at-most" => Box::new(MaxWait {
                inner: exponential,
                max: slow,
            }),
            "default" => Box::new(default_controller()),
            other => return Err(LineError::UnknownConfig(other.to_owned())),
        })
    }

    /// Reports whether a token bucket takes part.
    pub(crate) fn has_bucket(&self) -> bool {
        ["bucket", "max-of", "default"].contains(&self.kind.as_str())
    }
}
