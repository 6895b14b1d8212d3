//! `TestClock`: the date and the time of a server, both from tokio's clock.
//!
//! While tokio's clock is paused, the date is virtual: it begins at [`VIRTUAL_START`] and passes
//! when timers do. Otherwise it is the machine's.

use kubist::registry::{SystemClock, WallClock};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::Instant;

/// When virtual time begins, since the Unix epoch: 2027-01-15T08:00:00Z.
pub const VIRTUAL_START: Duration = Duration::from_secs(1_800_000_000);

/// How long tokio's clock is compared with the processor's.
const GLANCE: Duration = Duration::from_micros(20);

/// There is no tokio runtime, so there is no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRuntime;

/// The clock of a server. Clones show the same time.
#[derive(Clone, Debug)]
pub struct TestClock {
    /// The date at `started`, since the Unix epoch.
    begin: Duration,
    started: Instant,
    is_virtual: bool,
}

impl TestClock {
    /// Starts a clock: with virtual dates if tokio's clock is paused, otherwise with the machine's.
    /// Needs a tokio runtime.
    pub fn start() -> Self {
        let is_virtual = is_paused();
        let begin = if is_virtual {
            VIRTUAL_START
        } else {
            WallClock::now(&SystemClock)
        };
        Self {
            begin,
            started: Instant::now(),
            is_virtual,
        }
    }

    /// Begins at a date, in virtual time; in real time it is the machine's, if that is later.
    pub(crate) fn continuing(date: Duration) -> Result<Self, NoRuntime> {
        Handle::try_current().map_err(|_| NoRuntime)?;
        let clock = Self::start();
        let begin = if clock.is_virtual {
            date
        } else {
            clock.begin.max(date)
        };
        Ok(Self { begin, ..clock })
    }

    /// Returns the date, since the Unix epoch.
    pub fn date(&self) -> Duration {
        self.begin.saturating_add(self.started.elapsed())
    }

    /// Reports whether time is virtual.
    pub fn is_virtual(&self) -> bool {
        self.is_virtual
    }
}

impl WallClock for TestClock {
    fn now(&self) -> Duration {
        self.date()
    }
}

impl kubist::storage::Clock for TestClock {
    /// A store needs differences only, so the date serves; and goes on in a fork.
    fn now(&self) -> Duration {
        self.date()
    }
}

/// Reports whether tokio's clock is paused, which only a runtime of one thread can have. Tokio does
/// not tell: a clock that stands still for some microseconds is paused.
#[expect(
    clippy::disallowed_methods,
    reason = "tokio's clock is compared with one that cannot be paused"
)]
fn is_paused() -> bool {
    let one_thread =
        Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::CurrentThread);
    if !one_thread {
        return false;
    }
    let (real, tokios) = (std::time::Instant::now(), Instant::now());
    while real.elapsed() < GLANCE {
        std::hint::spin_loop();
    }
    tokios == Instant::now()
}
