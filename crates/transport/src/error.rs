//! Why a request did not get its answer, and what to do about it.
//!
//! An HTTP status is never an error here. Every message tells its own level; the cause is in
//! `source()`. Errors are cheap to clone, as one failed connection fails all who waited for it.

use crate::auth::AuthError;
use crate::connect::{Endpoint, ProxyError};
use crate::tls::TlsError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A third party's error, shared.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a [`Config`](crate::Config) cannot become a transport.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The server's address has no `http` or `https` scheme, or no host.
    #[error("server address {server:?} is not an http or https URL with a host")]
    Server {
        /// What was given.
        server: String,
    },
    /// A header value made from the configuration has characters that no header may have.
    #[error("{field} cannot be sent in a header")]
    Header {
        /// The field of the configuration.
        field: &'static str,
    },
    /// A rate that is not above 0.
    #[error("rate limit of {per_second} requests a second is not above 0")]
    RateLimit {
        /// What was given.
        per_second: f64,
    },
    /// Certificates or keys cannot be used.
    #[error("TLS configuration cannot be used")]
    Tls(#[source] TlsError),
}

/// What was going on when time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Reaching the server, or waiting for a free connection.
    Connect,
    /// TLS or HTTP/2 set-up.
    Handshake,
    /// Waiting for the head of the response.
    Response,
    /// Waiting for the answer to an HTTP/2 ping.
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

/// What the caller should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// The same request will fail again.
    Never,
    /// Try again after this time.
    After(Duration),
    /// Try again, with growing pauses.
    Backoff,
}

/// Why a request got no answer, or its answer ended early.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// No connection to the server (or to the proxy).
    #[error("cannot connect to {endpoint}")]
    Connect {
        /// Who was called.
        endpoint: Endpoint,
        /// Why it failed.
        source: Arc<io::Error>,
    },
    /// The proxy was reached but made no tunnel.
    #[error("no tunnel to {endpoint}")]
    Proxy {
        /// Where the tunnel should have gone.
        endpoint: Endpoint,
        /// What the proxy did.
        source: ProxyError,
    },
    /// The TLS handshake failed, or certificates could not be read again.
    #[error("TLS with {endpoint} failed")]
    Tls {
        /// Who was called.
        endpoint: Endpoint,
        /// Why it failed.
        source: TlsError,
    },
    /// Something took too long.
    #[error("{phase} took longer than {limit:?}")]
    Timeout {
        /// What was waited for.
        phase: Phase,
        /// The configured limit.
        limit: Duration,
    },
    /// There are no credentials to send.
    #[error("cannot get credentials")]
    Auth(#[source] AuthError),
    /// The peer broke the protocol, or reset this one stream.
    #[error("HTTP failed")]
    Http(#[source] Cause),
    /// The connection ended before the response did.
    #[error("the connection was closed before the end of the response")]
    Closed(#[source] Cause),
    /// The body says gzip and is not.
    #[error("the response body is not valid gzip")]
    Gzip(#[source] Arc<io::Error>),
    /// The body is longer than the reader allowed.
    #[error("the response body is longer than {limit} bytes")]
    BodyTooLarge {
        /// What was allowed.
        limit: usize,
    },
    /// The request cannot be sent as it is.
    #[error("the request is not valid")]
    Request(#[source] Cause),
}

impl TransportError {
    /// Whether to try again.
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

    /// Nobody listens at the server's address.
    pub fn is_connection_refused(&self) -> bool {
        matches!(self, Self::Connect { source, .. }
            if source.kind() == io::ErrorKind::ConnectionRefused)
    }

    /// The server could not be reached: nothing of the request was sent.
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

    /// The connection broke under the request.
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

    /// The server's or the client's certificate was refused.
    pub fn is_certificate(&self) -> bool {
        matches!(self, Self::Tls { source, .. } if source.is_certificate())
    }

    /// The server allows no streams at all.
    pub(crate) fn no_streams() -> Self {
        Self::Closed(Arc::new(io::Error::other("the server allows no streams")))
    }

    /// Sorts hyper's errors; `ping_timeout` is the limit to report for unanswered pings.
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

    /// The server refused the stream before doing anything with it.
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

/// The error itself and everything below it.
fn sources<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}
