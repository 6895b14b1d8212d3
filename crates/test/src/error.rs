//! `TestError`: why a test cannot go on, in words that a failed test can print.

use kubist::ServerError;
use kubist::client::ApiError;
use std::error::Error;
use std::fmt;

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
    /// The server could not start.
    #[error("the test server cannot start")]
    Start(#[from] ServerError),
    /// A request failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Another failure of the test's own.
    #[error(transparent)]
    Other(#[from] Box<dyn Error + Send + Sync>),
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
