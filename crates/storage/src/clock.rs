//! Where the memory engine's time comes from.
//!
//! Leases and the age of history need a clock that only goes forward; nothing here knows the
//! date.

use parking_lot::Mutex;
use std::fmt;
use std::time::Duration;

/// A clock that never goes back.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Time passed since a moment that the clock chose when it was made.
    fn now(&self) -> Duration;
}

/// A clock that moves only when told to.
#[derive(Debug, Default)]
pub struct ManualClock(Mutex<Duration>);

impl ManualClock {
    /// Moves the clock forward.
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
