//! `FetchError`: why a list or a watch failed, as far as a reflector must tell causes apart.
//!
//! Whoever implements [`ListerWatcher`](crate::ListerWatcher) maps its own errors to this enum.
//! It does not keep statuses, bodies or HTTP codes; those are in the cause, for logs.

use kubist_apimachinery::wire::WireError;
use kubist_apimachinery::{Retry, Str, with_causes};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The cause of an error, of any type, shared by clones.
pub type Cause = Arc<dyn Error + Send + Sync + 'static>;

/// Why a list or a watch failed, before it began or in the middle.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The resource version or the continue token is no longer served (410).
    #[error("the requested version is too old: {message}")]
    Expired {
        /// The server's words.
        message: Str,
    },
    /// The server has not seen the resource version yet (504 with that cause, in old servers too).
    #[error("the requested version is newer than the server's")]
    TooLargeResourceVersion {
        /// The pause that the server asked for.
        retry_after: Option<Duration>,
    },
    /// The server asks for a pause (429).
    #[error("the server is throttling requests")]
    Throttled {
        /// How long, if it said so.
        retry_after: Option<Duration>,
    },
    /// Nobody listens at the server's address.
    #[error("the connection was refused")]
    ConnectionRefused {
        /// What the connector said.
        #[source]
        source: Cause,
    },
    /// The connection failed, before or in mid-stream; the body of a watch that ends inside a frame
    /// too.
    #[error("the connection failed")]
    Connection {
        /// What the transport said.
        #[source]
        source: Cause,
    },
    /// There are no credentials to send; the connection is not to blame.
    #[error("cannot get credentials")]
    NoCredentials {
        /// What the file or plugin that has them said.
        #[source]
        source: Cause,
    },
    /// The server does not serve the resource, or no longer (404).
    #[error("the server does not serve this resource: {message}")]
    NotServed {
        /// The server's words.
        message: Str,
    },
    /// The server does not know the caller (401).
    #[error("unauthorized: {message}")]
    Unauthorized {
        /// The server's words.
        message: Str,
    },
    /// The caller may not do this (403).
    #[error("forbidden: {message}")]
    Forbidden {
        /// The server's words.
        message: Str,
    },
    /// The server does not accept the request (400, 405, 422): an old server answers so to
    /// `sendInitialEvents`.
    #[error("the server refused the request: {message}")]
    Invalid {
        /// The server's words.
        message: Str,
    },
    /// The server failed (500).
    #[error("internal server error: {message}")]
    Internal {
        /// The server's words.
        message: Str,
        /// The pause that the server asked for.
        retry_after: Option<Duration>,
    },
    /// The server cannot answer now (503, 504).
    #[error("the server is unavailable: {message}")]
    Unavailable {
        /// The server's words.
        message: Str,
        /// The pause that the server asked for.
        retry_after: Option<Duration>,
    },
    /// The stream is not a list or a watch: garbage between items, a frame too long.
    /// (One bad object is not this: it becomes an [`InvalidItem`](crate::InvalidItem).)
    #[error("the stream is malformed")]
    Malformed {
        /// What was found.
        #[source]
        source: WireError,
    },
    /// A whole and readable answer of another kind than asked for, such as a `Table`.
    #[error("the server answered with a {kind}")]
    UnexpectedKind {
        /// The kind found.
        kind: Str,
    },
    /// Anything else.
    #[error("{message}")]
    Other {
        /// In short.
        message: Str,
        /// The cause, if there is one.
        #[source]
        source: Option<Cause>,
    },
}

impl FetchError {
    /// What the caller should do next.
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

    /// What somebody can do about it: a few words in brackets, with a space before them, or
    /// nothing.
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

    /// Whether a list without a resource version may succeed where this one failed.
    pub fn is_version_unavailable(&self) -> bool {
        matches!(
            self,
            Self::Expired { .. } | Self::TooLargeResourceVersion { .. }
        )
    }

    /// Whether the same request should simply be sent again after a pause.
    pub fn is_overload(&self) -> bool {
        matches!(
            self,
            Self::ConnectionRefused { .. } | Self::Throttled { .. }
        )
    }
}

/// Connections fail in the words of whoever made them.
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
