//! Transport errors: why a request got no response, and whether to retry.
//!
//! An HTTP status is never an error here. Each message describes its own level; the cause is in
//! `source()`. Errors are cheap to clone, because a failed connection fails all requests that wait
//! for it.

use crate::auth::AuthError;
use crate::connect::{Endpoint, ProxyError};
use crate::retry::Retry;
use crate::tls::TlsError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// An error of another library, shared.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The phase in which a time limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Connecting to the server, or waiting for a free connection.
    Connect,
    /// Setting up TLS or HTTP/2.
    Handshake,
    /// Waiting for the response head.
    Response,
    /// Waiting for the response to an HTTP/2 ping.
    KeepAlive,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Handshake => "the handshake",
            Self::Response => "the response",
            Self::KeepAlive => "the answer to a ping",
        })
    }
}

/// Why a request got no response, or an incomplete one.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The server (or the proxy) could not be reached.
    #[error("cannot connect to {endpoint}")]
    Connect {
        /// The endpoint.
        endpoint: Endpoint,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The proxy was reached and opened no tunnel.
    #[error("no tunnel to {endpoint}")]
    Proxy {
        /// The endpoint behind the proxy.
        endpoint: Endpoint,
        /// The proxy's error.
        source: ProxyError,
    },
    /// The TLS handshake failed, or certificates could not be reloaded.
    #[error("TLS with {endpoint} failed")]
    Tls {
        /// The endpoint.
        endpoint: Endpoint,
        /// The cause.
        source: TlsError,
    },
    /// A time limit was reached.
    #[error("{phase} took longer than {limit:?}")]
    Timeout {
        /// The phase.
        phase: Phase,
        /// The configured limit.
        limit: Duration,
    },
    /// No credentials are available.
    #[error("cannot get credentials")]
    Auth(#[source] AuthError),
    /// The peer violated the protocol, or reset the stream.
    #[error("HTTP failed")]
    Http(#[source] Cause),
    /// The connection ended before the response did.
    #[error("the connection was closed before the end of the response")]
    Closed(#[source] Cause),
    /// The body is not valid gzip.
    #[error("the response body is not valid gzip")]
    Gzip(#[source] Arc<io::Error>),
    /// The body exceeds the reader's limit.
    #[error("the response body is longer than {limit} bytes")]
    BodyTooLarge {
        /// The limit.
        limit: usize,
    },
    /// The request is invalid.
    #[error("the request is not valid")]
    Request(#[source] Cause),
}

impl TransportError {
    /// Returns whether and when to retry.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Tls { source, .. } if source.is_certificate() => Retry::Never,
            Self::Connect { .. }
            | Self::Proxy { .. }
            | Self::Tls { .. }
            | Self::Timeout { .. }
            | Self::Http(_)
            | Self::Closed(_)
            | Self::Gzip(_) => Retry::Backoff,
            Self::Auth(error) => error.retry(),
            Self::BodyTooLarge { .. } | Self::Request(_) => Retry::Never,
        }
    }

    /// Reports whether the server refused the connection: nothing listens at its address.
    pub fn is_connection_refused(&self) -> bool {
        matches!(self, Self::Connect { source, .. }
            if source.kind() == io::ErrorKind::ConnectionRefused)
    }

    /// Reports whether the server could not be reached, so that nothing of the request was sent.
    pub fn is_connect(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Proxy { .. } | Self::Tls { .. } => true,
            Self::Timeout { phase, .. } => matches!(phase, Phase::Connect | Phase::Handshake),
            _ => false,
        }
    }

    /// A time limit was reached.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    /// Reports whether the connection broke during the request.
    pub fn is_closed(&self) -> bool {
        matches!(
            self,
            Self::Closed(_)
                | Self::Timeout {
                    phase: Phase::KeepAlive,
                    ..
                }
        )
    }

    /// Reports whether the server's or the client's certificate was refused.
    pub fn is_certificate(&self) -> bool {
        matches!(self, Self::Tls { source, .. } if source.is_certificate())
    }

    /// Returns the error for a server that allows no streams at all.
    pub(crate) fn no_streams() -> Self {
        Self::Closed(Arc::new(io::Error::other("the server allows no streams")))
    }

    /// Classifies a hyper error; `ping_timeout` is the limit to report for unanswered pings.
    pub(crate) fn from_hyper(error: hyper::Error, ping_timeout: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout {
                phase: Phase::KeepAlive,
                limit: ping_timeout,
            };
        }
        let broken = error.is_closed()
            || error.is_canceled()
            || error.is_incomplete_message()
            || sources(&error).any(|cause| {
                cause.is::<io::Error>()
                    || cause
                        .downcast_ref::<h2::Error>()
                        .is_some_and(|h2| h2.is_go_away() || h2.is_io())
            });
        if broken {
            Self::Closed(Arc::new(error))
        } else {
            Self::Http(Arc::new(error))
        }
    }

    /// Reports whether the server refused the stream before processing it.
    pub(crate) fn is_refused_stream(&self) -> bool {
        let (Self::Http(cause) | Self::Closed(cause)) = self else {
            return false;
        };
        sources(&**cause).any(|cause| {
            cause
                .downcast_ref::<h2::Error>()
                .is_some_and(|h2| h2.reason() == Some(h2::Reason::REFUSED_STREAM))
        })
    }
}

/// Iterates over the error and its sources.
fn sources<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}
