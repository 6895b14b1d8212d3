//! `ServingCertificate`: the certificate that a server shows, which can be replaced while it
//! serves.

use super::CertificateError;
use super::authority::serving_params;
use arc_swap::ArcSwap;
use rcgen::KeyPair;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long a self-signed certificate is valid: ten years.
const SELF_SIGNED_LIFETIME: Duration = Duration::from_secs(3_650 * 24 * 3_600);

/// The certificate that a server shows. Clones share it: new connections see a replaced one.
#[derive(Clone)]
pub struct ServingCertificate {
    current: Arc<Current>,
}

struct Current {
    key: ArcSwap<CertifiedKey>,
    pem: ArcSwap<String>,
}

impl ServingCertificate {
    /// Reads a certificate with its chain, and its key, both as PEM.
    ///
    /// # Errors
    /// One of them cannot be read, or they do not belong together.
    pub fn new(certificate: &str, key: &str) -> Result<Self, CertificateError> {
        Ok(Self {
            current: Arc::new(Current {
                key: ArcSwap::new(Arc::new(read(certificate, key)?)),
                pem: ArcSwap::new(Arc::new(certificate.to_owned())),
            }),
        })
    }

    /// Makes a certificate for these names, signed by itself: for tests, and for a server whose
    /// `caBundle` is set by hand to [`Self::pem`].
    ///
    /// # Errors
    /// A name is not valid.
    pub fn self_signed(names: &[&str]) -> Result<Self, CertificateError> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let params = serving_params(&names, SELF_SIGNED_LIFETIME, now)?;
        let key = KeyPair::generate().map_err(CertificateError::Make)?;
        let certificate = params.self_signed(&key).map_err(CertificateError::Make)?;
        Self::new(&certificate.pem(), &key.serialize_pem())
    }

    /// Replaces the certificate for new connections.
    ///
    /// # Errors
    /// As of [`Self::new`]; the old one stays then.
    pub fn replace(&self, certificate: &str, key: &str) -> Result<(), CertificateError> {
        let key = read(certificate, key)?;
        self.current.key.store(Arc::new(key));
        self.current.pem.store(Arc::new(certificate.to_owned()));
        Ok(())
    }

    /// Returns the certificate as PEM.
    pub fn pem(&self) -> Arc<String> {
        self.current.pem.load_full()
    }

    /// Returns the configuration of a TLS server that shows it.
    pub(crate) fn tls_config(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring supports the default versions");
        let resolver = Arc::new(Resolver(Arc::clone(&self.current)));
        let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

fn read(certificate: &str, key: &str) -> Result<CertifiedKey, CertificateError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.as_bytes()).collect();
    let chain = chain.map_err(CertificateError::unusable)?;
    if chain.is_empty() {
        return Err(CertificateError::unusable("there is no certificate"));
    }
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(CertificateError::unusable)?;
    let provider = rustls::crypto::ring::default_provider();
    // It checks that they belong together.
    CertifiedKey::from_der(chain, key, &provider).map_err(CertificateError::unusable)
}

struct Resolver(Arc<Current>);

impl ResolvesServerCert for Resolver {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.key.load_full())
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

impl fmt::Debug for ServingCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingCertificate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_another_certificate_is_refused_and_the_old_one_stays() {
        let one = KeyPair::generate().expect("a key");
        let served = ServingCertificate::self_signed(&["localhost"]).expect("it is made");
        let before = served.pem();
        assert!(served.replace(&before, &one.serialize_pem()).is_err());
        assert!(served.replace("", &one.serialize_pem()).is_err());
        assert_eq!(served.pem(), before);
    }
}
