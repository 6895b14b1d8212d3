//! `ConfigError`: why a configuration cannot become a transport.

use crate::tls::TlsError;

/// Why a [`Config`](crate::Config) is invalid.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The server's address has no `http` or `https` scheme, or no host.
    #[error("server address {server:?} is not an http or https URL with a host")]
    Server {
        /// The invalid value.
        server: String,
    },
    /// A configured header value has characters that are invalid in a header.
    #[error("{field} cannot be sent in a header")]
    Header {
        /// The configuration field.
        field: &'static str,
    },
    /// The rate limit is not above 0.
    #[error("rate limit of {per_second} requests a second is not above 0")]
    RateLimit {
        /// The invalid value.
        per_second: f64,
    },
    /// Certificates or keys are invalid.
    #[error("TLS configuration cannot be used")]
    Tls(#[source] TlsError),
}
