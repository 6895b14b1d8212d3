//! `Tls`: the certificate of a server, and whose certificates its clients must have.

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// How a server proves who it is, and what it asks of its clients.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
}

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A PEM text has no valid certificate.
    #[error("the {what} is not valid PEM: {reason}")]
    Pem {
        /// Which one.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The certificate, its key and the authorities do not fit together.
    #[error("the certificate cannot be used: {0}")]
    Unusable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Tls {
    /// Serves with a certificate chain and its key, in PEM. With authorities, clients must have a
    /// certificate of one of them.
    ///
    /// # Errors
    /// A text is not valid, or the key is not that of the certificate.
    pub fn new(
        chain: &[u8],
        key: &[u8],
        client_authorities: Option<&[u8]>,
    ) -> Result<Self, TlsError> {
        let chain = certificates("server certificate", chain)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Pem {
            what: "server key",
            reason: error.to_string(),
        })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder
            .with_safe_default_protocol_versions()
            .map_err(unusable)?;
        let builder = match client_authorities {
            None => builder.with_no_client_auth(),
            Some(authorities) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates("client authority", authorities)? {
                    roots.add(certificate).map_err(unusable)?;
                }
                let roots = Arc::new(roots);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                builder.with_client_cert_verifier(verifier.build().map_err(unusable)?)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }

    pub(crate) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }
}

fn certificates(what: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(TlsError::Pem {
            what,
            reason: "there is no certificate".to_owned(),
        }),
        Err(error) => Err(TlsError::Pem {
            what,
            reason: error.to_string(),
        }),
    }
}

fn unusable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TlsError {
    TlsError::Unusable(error.into())
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}
