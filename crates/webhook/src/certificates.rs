//! Certificates of a webhook server: what is served, and how it is made, rotated and told to API
//! servers.

mod authority;
mod inject;
mod manager;
mod serving;

pub use inject::InjectInto;
pub use manager::{CertificateConfig, CertificateManager};
pub use serving::ServingCertificate;

use kubist_client::ApiError;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A certificate could not be made.
    #[error("a certificate could not be made")]
    Make(#[source] rcgen::Error),
    /// A certificate or key cannot be used.
    #[error("the certificate or the key cannot be used: {reason}")]
    Unusable {
        /// The reason.
        reason: String,
    },
    /// The Secret or a configuration could not be read or written.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The Secret kept changing while a certificate was to be put into it.
    #[error("the Secret {name} kept changing")]
    Contended {
        /// Its name.
        name: String,
    },
}

impl CertificateError {
    pub(crate) fn unusable(reason: impl std::fmt::Display) -> Self {
        let reason = reason.to_string();
        Self::Unusable { reason }
    }
}
