//! `TestError`: why a test cannot go on, in words that a failed test can print.

use crate::assertion::error::AssertionError;
use crate::clock::{FOREVER, LAST_START, NoClock};
use crate::controllers::RunError;
use crate::faults::MissedRules;
use crate::fixtures::error::FixtureError;
use crate::snapshot::SnapshotFileError;
use kubist::ServerError;
use kubist::client::ApiError;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a step of a test failed. Its `Debug` form, which a test that returns it prints, is the
/// message with its causes.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// There is no tokio runtime.
    #[error(
        "a TestServer needs a tokio runtime: mark the test with #[tokio::test], or \
         #[tokio::test(start_paused = true)] for virtual time"
    )]
    NoRuntime,
    /// A port was asked for in virtual time.
    #[error(
        "a server on virtual time cannot listen: time would pass while bytes are on their way \
         through a socket. Leave out start_paused, or the port"
    )]
    PortInVirtualTime,
    /// A kubeconfig was asked for without a port.
    #[error("the server has no port, so there is no kubeconfig: start it with listen()")]
    NoPort,
    /// Time was to be advanced that is not virtual.
    #[error(
        "time is real here and cannot be advanced: mark the test with \
         #[tokio::test(start_paused = true)]"
    )]
    RealTime,
    /// Time was to be advanced by more than a clock can pass at once.
    #[error(
        "time cannot be advanced by {time:?} at once: at most by {} days",
        FOREVER.as_secs() / (24 * 3600)
    )]
    TooLong {
        /// The time.
        time: Duration,
    },
    /// Virtual time was to begin too late: dates of the API end with the year 9999.
    #[error(
        "time cannot begin {} s after 1970: at most {} s, which is the year 9000",
        date.as_secs(),
        LAST_START.as_secs()
    )]
    BeginsTooLate {
        /// The date, since the Unix epoch.
        date: Duration,
    },
    /// It was to be observed for no time that nothing is written.
    #[error("nothing is seen in no time: settled needs a time longer than zero to be quiet")]
    NoTime,
    /// The server, or a client of it, could not be created.
    #[error("the test server, or a client of it, cannot start")]
    Start(#[from] ServerError),
    /// A request failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// An assertion failed.
    #[error(transparent)]
    Assertion(#[from] AssertionError),
    /// A fixture cannot be used.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// Rules of faults never acted.
    #[error(transparent)]
    MissedRules(#[from] MissedRules),
    /// A snapshot file cannot be used.
    #[error(transparent)]
    SnapshotFile(#[from] SnapshotFileError),
    /// The state at a revision is no longer known.
    #[error("the state at revision {revision} is compacted: the oldest that is known is {oldest}")]
    Compacted {
        /// The revision.
        revision: u64,
        /// The oldest one that can be read.
        oldest: u64,
    },
    /// There is no state at a revision yet.
    #[error("there is no revision {revision} yet: the newest is {newest}")]
    Future {
        /// The revision.
        revision: u64,
        /// The newest one.
        newest: u64,
    },
    /// There never was a state with this revision.
    #[error("there is no revision {revision}: those from {oldest} to {newest} can be read")]
    NoRevision {
        /// The revision.
        revision: u64,
        /// The oldest one that can be read.
        oldest: u64,
        /// The newest one.
        newest: u64,
    },
    /// The server did not come to rest.
    #[error("something was still written after {within:?}, most recently: {last}")]
    Restless {
        /// The bound.
        within: Duration,
        /// The last entry of the journal that wrote something.
        last: String,
    },
    /// The world is stuck: a loop, or a wait for what never comes.
    #[error("{0}")]
    Stuck(String),
    /// Another failure, of the test's own or of what it runs.
    #[error(transparent)]
    Other(#[from] Box<dyn Error + Send + Sync>),
}

impl From<NoClock> for TestError {
    fn from(error: NoClock) -> Self {
        match error {
            NoClock::NoRuntime => Self::NoRuntime,
            NoClock::TooLate(date) => Self::BeginsTooLate { date },
        }
    }
}

impl From<RunError> for TestError {
    fn from(error: RunError) -> Self {
        Self::Other(Box::new(error))
    }
}

impl fmt::Debug for TestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, "\n  because: {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
