//! `Error`: why a reconcile failed, and how it is retried.
//!
//! It wraps any cause. By default a failed key is retried through the rate limiter; a delay
//! requested by a server is honoured.

use kubist_apimachinery::Retry;
use kubist_apimachinery::wire::WireError;
use kubist_cache::{FetchError, WaitError};
use kubist_client::ApiError;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// Why a reconcile failed.
///
/// `?` converts an [`ApiError`], a [`FetchError`], a [`WireError`], a [`WaitError`], an error of
/// `serde_json` or of I/O and, with the feature `anyhow`, an `anyhow::Error`; [`Error::new`]
/// converts anything else. Errors that repeating the same request cannot fix (a conflict, an
/// invalid object) are retried too: the next reconcile reads anew and may send another request.
/// [`Error::terminal`] is for errors that only a change of the object can fix.
#[derive(Debug)]
pub struct Error {
    source: Box<dyn StdError + Send + Sync>,
    retry: Retry,
}

impl Error {
    /// Creates an error that is retried with growing delays, from a text or an error.
    pub fn new(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
            retry: Retry::Backoff,
        }
    }

    /// Creates an error that is not retried until the object changes.
    pub fn terminal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
            retry: Retry::Never,
        }
    }

    /// Creates an error that is retried after `wait` at the earliest.
    pub fn after(wait: Duration, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
            retry: Retry::After(wait),
        }
    }

    /// Returns what the controller does next.
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// Returns the cause as its concrete type.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        self.source.downcast_ref()
    }

    /// Returns what to do about it, if a server said no: in brackets, with a leading space.
    pub(crate) fn advice(&self) -> &'static str {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&*self.source);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<ApiError>() {
                return error.advice();
            }
            cause = error.source();
        }
        ""
    }

    fn with(source: impl StdError + Send + Sync + 'static, advice: Retry) -> Self {
        let retry = match advice {
            Retry::After(wait) => Retry::After(wait),
            _ => Retry::Backoff,
        };
        Self {
            source: Box::new(source),
            retry,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

/// The cause is displayed in place of this error, so the source is the cause's own.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.source()
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        let advice = error.retry();
        Self::with(error, advice)
    }
}

impl From<FetchError> for Error {
    fn from(error: FetchError) -> Self {
        let advice = error.retry();
        Self::with(error, advice)
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        Self::new(error)
    }
}

impl From<WaitError> for Error {
    fn from(error: WaitError) -> Self {
        Self::new(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(error)
    }
}

/// An error of ours inside an `anyhow::Error` is treated as it would be without anyhow.
#[cfg(feature = "anyhow")]
impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        let ours = error.chain().find_map(|it| it.downcast_ref::<Self>());
        let api = error.chain().find_map(|it| it.downcast_ref::<ApiError>());
        let retry = match (ours, api.map(ApiError::retry)) {
            (Some(ours), _) => ours.retry,
            (None, Some(Retry::After(wait))) => Retry::After(wait),
            _ => Retry::Backoff,
        };
        Self {
            source: error.into(),
            retry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract CTRL-3.
    #[test]
    fn what_the_server_asked_for_is_kept_and_refusals_are_tried_again() {
        let wait = Duration::from_secs(7);
        let throttled = FetchError::Throttled {
            retry_after: Some(wait),
        };
        assert_eq!(Error::from(throttled).retry(), Retry::After(wait));
        let expired = FetchError::Expired {
            message: "old".into(),
        };
        let error = Error::from(expired);
        assert_eq!(error.retry(), Retry::Backoff);
        assert!(error.downcast_ref::<FetchError>().is_some());
        assert_eq!(Error::terminal("no").retry(), Retry::Never);
        assert_eq!(Error::new("no").to_string(), "no");
    }

    /// Common errors are converted by `?`.
    #[test]
    fn common_errors_become_one_by_a_question_mark() {
        fn parse(text: &str) -> Result<u64, Error> {
            Ok(serde_json::from_str(text)?)
        }
        fn read() -> Result<Vec<u8>, Error> {
            Ok(std::fs::read("/no/such/file")?)
        }
        fn wait(error: WaitError) -> Result<(), Error> {
            Err(error)?
        }
        let closed = WaitError::Closed {
            written: kubist_cache::Written::deleted(kubist_apimachinery::ObjectName::default(), ""),
        };
        for error in [
            parse("{").expect_err("no number"),
            read().expect_err("no file"),
            wait(closed).expect_err("closed"),
        ] {
            assert_eq!(error.retry(), Retry::Backoff);
        }
    }

    #[cfg(feature = "anyhow")]
    #[test]
    fn anyhow_errors_keep_what_the_server_asked_for() {
        fn with(error: anyhow::Error) -> Result<(), Error> {
            Err(error)?
        }
        let after = Error::after(Duration::from_secs(3), "busy");
        let error = with(anyhow::Error::new(after).context("writing")).expect_err("an error");
        assert_eq!(error.retry(), Retry::After(Duration::from_secs(3)));
        assert!(with(anyhow::anyhow!("no")).is_err());
    }
}
