//! The wall clock for timestamps on objects.

use std::fmt;
use std::time::{Duration, SystemTime};

/// A source of the current date and time.
pub trait WallClock: fmt::Debug + Send + Sync + 'static {
    /// Time since the Unix epoch.
    fn now(&self) -> Duration;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct SystemClock;

impl WallClock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everybody else is handed"
    )]
    fn now(&self) -> Duration {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
    }
}
