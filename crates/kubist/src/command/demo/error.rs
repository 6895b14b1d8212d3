//! `DemoError`: the step that failed, and what was observed instead.

use super::super::units;
use kubist::ServerError;
use kubist_client::ApiError;
use std::time::Duration;

/// Why a demonstration failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// The server did not start.
    #[error("the server did not start")]
    Server(#[from] ServerError),
    /// A request failed.
    #[error("cannot {doing}")]
    Request {
        /// What was being done.
        doing: String,
        source: ApiError,
    },
    /// A condition was not met in time.
    #[error("waited {} until {what}; last seen: {seen}", units::duration(*.waited))]
    Deadline {
        /// The condition.
        what: String,
        waited: Duration,
        /// The last state.
        seen: String,
    },
    /// The state in the API is not the expected one.
    #[error("checked whether {what}: found {found}")]
    Check {
        /// The expected state.
        what: String,
        /// The actual state.
        found: String,
    },
    /// The controllers ended.
    #[error("the controllers ended: {reason}")]
    Controllers {
        /// The cause.
        reason: String,
    },
    /// The bundled manifests are invalid.
    #[error("the bundled application cannot be read: {reason}")]
    Manifest {
        /// The cause.
        reason: String,
    },
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

/// Adds what was being done when a request failed.
pub(super) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, DemoError>;
}

impl<T> Doing<T> for Result<T, ApiError> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, DemoError> {
        self.map_err(|source| DemoError::Request {
            doing: what(),
            source,
        })
    }
}

/// Checks that `found` is the expected value.
pub(super) fn check<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> Result<(), DemoError> {
    if found == expected {
        return Ok(());
    }
    let found = format!("{found:?} in place of {expected:?}");
    Err(DemoError::Check {
        what: what.to_owned(),
        found,
    })
}
