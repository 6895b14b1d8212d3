//! The clock of the memory engine.
//!
//! Leases and the age of history need a monotonic clock; the date is not used.

use parking_lot::Mutex;
use std::fmt;
use std::time::Duration;

/// A monotonic clock.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Returns the time since an arbitrary fixed moment.
    fn now(&self) -> Duration;
}

/// A clock that only moves when it is advanced.
#[derive(Debug, Default)]
pub struct ManualClock(Mutex<Duration>);

impl ManualClock {
    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock();
        *now = now.saturating_add(by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.0.lock()
    }
}
