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

/// The latest date that a clock shows: the API writes dates with four digits of a year.
const LAST_DATE: Duration = Duration::from_secs(253_402_300_799);
/// The latest date that virtual time begins at, 9000-01-01, since time has to be left.
pub(crate) const LAST_START: Duration = Duration::from_secs(221_845_392_000);
/// The longest wait. Tokio waits no longer for what is never to end.
pub(crate) const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// Why there is no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoClock {
    /// There is no tokio runtime.
    NoRuntime,
    /// It would begin at this date, after [`LAST_START`].
    TooLate(Duration),
}

/// Returns the end of a wait that begins now, on tokio's clock. One that is longer than thirty
/// years ends then, so that no duration overflows.
pub(crate) fn after(wait: Duration) -> Instant {
    later(Instant::now(), wait)
}

/// Same as [`after`], for a wait that begins at a time.
pub(crate) fn later(begin: Instant, wait: Duration) -> Instant {
    begin + wait.min(FOREVER)
}

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
    pub(crate) fn continuing(date: Duration) -> Result<Self, NoClock> {
        Handle::try_current().map_err(|_| NoClock::NoRuntime)?;
        if date > LAST_START {
            return Err(NoClock::TooLate(date));
        }
        let clock = Self::start();
        let begin = if clock.is_virtual {
            date
        } else {
            clock.begin.max(date)
        };
        Ok(Self { begin, ..clock })
    }

    /// Returns the date, since the Unix epoch; the end of the year 9999 for all that is later.
    pub fn date(&self) -> Duration {
        let date = self.begin.saturating_add(self.started.elapsed());
        date.min(LAST_DATE)
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
