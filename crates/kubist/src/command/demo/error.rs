//! `DemoError`: which step did not come out, and what was seen instead.

use std::time::Duration;

use kubist::ServerError;
use kubist_client::ApiError;

use super::super::units;

/// Why a demonstration failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// The server did not start.
    #[error("the server does not start")]
    Server(#[from] ServerError),
    /// A request was refused or not answered.
    #[error("cannot {doing}")]
    Request {
        /// What was to be done.
        doing: String,
        source: ApiError,
    },
    /// It did not happen in time.
    #[error("waited {} until {what}; last seen: {seen}", units::duration(*.waited))]
    Deadline {
        /// What was waited for.
        what: String,
        waited: Duration,
        /// How far it had come.
        seen: String,
    },
    /// The API says something else than it should.
    #[error("checked whether {what}: found {found}")]
    Check {
        /// What should be so.
        what: String,
        /// What is so.
        found: String,
    },
    /// The controllers ended.
    #[error("the controllers ended: {reason}")]
    Controllers {
        /// Why, with all causes.
        reason: String,
    },
    /// The bundled manifests are broken.
    #[error("the bundled application cannot be read: {reason}")]
    Manifest {
        /// Why.
        reason: String,
    },
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

/// Says what was being done when a request failed.
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

/// Passes if `found` is what it should be.
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
