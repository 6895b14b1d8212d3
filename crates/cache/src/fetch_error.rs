//! `FetchError`: why a list or a watch failed, as far as a reflector distinguishes causes.
//!
//! Implementations of [`ListerWatcher`](crate::ListerWatcher) map their errors to this enum. It
//! holds no statuses, bodies or HTTP codes; those are in the source error, for logs.

use kubist_apimachinery::wire::WireError;
use kubist_apimachinery::{Retry, Str, with_causes};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The cause of an error, of any type, shared by clones.
pub type Cause = Arc<dyn Error + Send + Sync + 'static>;

/// Why a list or a watch failed, at its start or later.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The resource version or the continue token is no longer served (410).
    #[error("the requested version is too old: {message}")]
    Expired {
        /// The server's message.
        message: Str,
    },
    /// The server has not reached the resource version yet (504 with that cause, from old servers
    /// too).
    #[error("the requested version is newer than the server's")]
    TooLargeResourceVersion {
        /// The delay that the server requested.
        retry_after: Option<Duration>,
    },
    /// The server is throttling requests (429).
    #[error("the server is throttling requests")]
    Throttled {
        /// The delay that the server requested, if any.
        retry_after: Option<Duration>,
    },
    /// Nothing listens at the server's address.
    #[error("the connection was refused")]
    ConnectionRefused {
        /// The connector's error.
        #[source]
        source: Cause,
    },
    /// The connection failed, before or during the response. A watch body that ends inside a frame
    /// counts too.
    #[error("the connection failed")]
    Connection {
        /// The transport's error.
        #[source]
        source: Cause,
    },
    /// There are no credentials to send. The connection itself is not at fault.
    #[error("cannot get credentials")]
    NoCredentials {
        /// The error of the file or plugin that provides them.
        #[source]
        source: Cause,
    },
    /// The server does not serve the resource, or does so no longer (404).
    #[error("the server does not serve this resource: {message}")]
    NotServed {
        /// The server's message.
        message: Str,
    },
    /// The server does not accept the caller's credentials (401).
    #[error("unauthorized: {message}")]
    Unauthorized {
        /// The server's message.
        message: Str,
    },
    /// The caller is not allowed to do this (403).
    #[error("forbidden: {message}")]
    Forbidden {
        /// The server's message.
        message: Str,
    },
    /// The server rejects the request as invalid (400, 405, 422), as old servers do for
    /// `sendInitialEvents`.
    #[error("the server refused the request: {message}")]
    Invalid {
        /// The server's message.
        message: Str,
    },
    /// An internal server error (500).
    #[error("internal server error: {message}")]
    Internal {
        /// The server's message.
        message: Str,
        /// The delay that the server requested.
        retry_after: Option<Duration>,
    },
    /// The server is unavailable (503, 504).
    #[error("the server is unavailable: {message}")]
    Unavailable {
        /// The server's message.
        message: Str,
        /// The delay that the server requested.
        retry_after: Option<Duration>,
    },
    /// The stream is not a list or a watch: invalid data between items, or an oversized frame. A
    /// single invalid object is no such error: it becomes an [`InvalidItem`](crate::InvalidItem).
    #[error("the stream is malformed")]
    Malformed {
        /// The decoding error.
        #[source]
        source: WireError,
    },
    /// A complete and readable answer of another kind than requested, such as a `Table`.
    #[error("the server answered with a {kind}")]
    UnexpectedKind {
        /// The kind that was received.
        kind: Str,
    },
    /// Anything else.
    #[error("{message}")]
    Other {
        /// A short description.
        message: Str,
        /// The cause, if there is one.
        #[source]
        source: Option<Cause>,
    },
}

impl FetchError {
    /// Returns what the caller should do next.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Expired { .. } => Retry::Relist,
            Self::TooLargeResourceVersion { retry_after }
            | Self::Throttled { retry_after }
            | Self::Internal { retry_after, .. }
            | Self::Unavailable { retry_after, .. } => {
                retry_after.map_or(Retry::Backoff, Retry::After)
            }
            _ => Retry::Backoff,
        }
    }

    /// Returns advice for the user in brackets, with a leading space, or an empty string.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Unauthorized { .. } => " (check the credentials)",
            Self::NoCredentials { .. } => {
                " (check the user in the kubeconfig: its plugin or its token file)"
            }
            Self::Forbidden { .. } => " (allow the caller to list and watch this resource)",
            Self::NotServed { .. } => " (check group and version, or install the definition)",
            Self::ConnectionRefused { .. } => " (check the server's address, and that it runs)",
            Self::Connection { source } => of_connection(&with_causes(source)),
            Self::Malformed { .. } | Self::UnexpectedKind { .. } => {
                " (check that the address is an API server's, and the kind)"
            }
            _ => "",
        }
    }

    /// Reports whether a list without a resource version may succeed where this one failed.
    pub fn is_version_unavailable(&self) -> bool {
        matches!(
            self,
            Self::Expired { .. } | Self::TooLargeResourceVersion { .. }
        )
    }

    /// Reports whether the same request should be repeated after a delay.
    pub fn is_overload(&self) -> bool {
        matches!(
            self,
            Self::ConnectionRefused { .. } | Self::Throttled { .. }
        )
    }
}

/// Returns advice for a connection error, by its message.
fn of_connection(cause: &str) -> &'static str {
    if cause.contains("certificate") {
        " (check the certificate authority that is configured, and the server's name)"
    } else if cause.contains("invalid HTTP version") {
        // A TLS server answers plain HTTP with an alert.
        " (the server does not speak plain HTTP: check whether its address is https)"
    } else {
        " (check the network and the server's address)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Said(&'static str);

    #[test]
    fn advice_is_about_what_is_wrong() {
        let source: fn(&'static str) -> Cause = |said| Arc::new(Said(said));
        let connection = |said| FetchError::Connection {
            source: source(said),
        };
        let plugin = FetchError::NoCredentials {
            source: source("\"aws\" failed with exit status: 3: please log in first"),
        };
        for (error, word) in [
            (connection("no route to host"), "network"),
            (connection("invalid peer certificate"), "authority"),
            (connection("invalid HTTP version parsed"), "https"),
            (plugin, "plugin"),
        ] {
            let advice = error.advice();
            assert!(advice.contains(word), "{error:?}: {advice}");
            assert_eq!(advice.contains("network"), word == "network", "{advice}");
        }
    }
}
