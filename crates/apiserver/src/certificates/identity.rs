//! `Identity`: a certificate with its key, issued here or read from PEM.

use rcgen::{Certificate, KeyPair};
use rustls::crypto::ring;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt;
use std::ops::RangeInclusive;

/// A certificate with its key.
#[non_exhaustive]
pub struct Identity {
    /// The certificate as PEM, followed by the intermediate certificates if it was read with them.
    pub certificate_pem: String,
    /// The private key as PEM.
    pub key_pem: String,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// The text is not a usable certificate or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PemError {
    /// The certificate is not that of an authority.
    #[error("the certificate is not that of an authority")]
    NotAuthority,
    /// There is no certificate, or it is malformed.
    #[error("it contains no valid certificate")]
    NoCertificate,
    /// There is no private key, or it is unusable.
    #[error("it contains no usable private key")]
    NoKey,
    /// The certificate and the key do not match.
    #[error("the certificate and the key do not match")]
    KeyMismatch,
}

impl Identity {
    pub(super) fn new(certificate: &Certificate, key: &KeyPair) -> Self {
        Self {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            chain: vec![certificate.der().clone()],
            key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        }
    }

    /// Reads certificates, the own one first, and a key (PKCS #8, PKCS #1 or SEC 1) from PEM.
    ///
    /// # Errors
    /// The certificate or the key is missing or unusable, or they do not match.
    pub fn from_pem(certificate: &str, key: &str) -> Result<Self, PemError> {
        let chain = read_certificates(certificate)?;
        let parsed = PrivateKeyDer::from_pem_slice(key.as_bytes());
        let identity = Self {
            certificate_pem: certificate.to_owned(),
            key_pem: key.to_owned(),
            chain,
            key: parsed.map_err(|_| PemError::NoKey)?,
        };
        identity.certified(None)?;
        Ok(identity)
    }

    /// Returns the certificate.
    pub fn certificate(&self) -> CertificateDer<'static> {
        // Both constructors put a certificate first.
        self.chain[0].clone()
    }

    /// Returns the key.
    pub fn key(&self) -> PrivateKeyDer<'static> {
        self.key.clone_key()
    }

    /// Returns its validity, in seconds since the Unix epoch.
    pub fn valid(&self) -> RangeInclusive<u64> {
        super::valid_within(&[self.certificate()]).unwrap_or(0..=0)
    }

    /// Returns the key pair for TLS, with another certificate appended to the chain.
    pub(crate) fn certified(
        &self,
        authority: Option<CertificateDer<'static>>,
    ) -> Result<CertifiedKey, PemError> {
        let mut chain = self.chain.clone();
        chain.extend(authority);
        let provider = ring::default_provider();
        CertifiedKey::from_der(chain, self.key(), &provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => PemError::KeyMismatch,
            rustls::Error::InvalidCertificate(_) => PemError::NoCertificate,
            _ => PemError::NoKey,
        })
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self {
            certificate_pem: self.certificate_pem.clone(),
            key_pem: self.key_pem.clone(),
            chain: self.chain.clone(),
            key: self.key(),
        }
    }
}

/// Omits the key.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("certificate_pem", &self.certificate_pem)
            .finish_non_exhaustive()
    }
}

/// Reads all certificates of a PEM text, at least one.
///
/// # Errors
/// There is none, or one is malformed.
pub fn read_certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let found = found.map_err(|_| PemError::NoCertificate)?;
    let read = |it: &CertificateDer<'_>| super::valid_within(std::slice::from_ref(it)).is_some();
    (!found.is_empty() && found.iter().all(read))
        .then_some(found)
        .ok_or(PemError::NoCertificate)
}

/// Returns the certificate sections of a PEM text.
pub(super) fn certificate_texts(text: &str) -> String {
    sections(text, |kind| kind == "CERTIFICATE").concat()
}

/// Returns the first private key section of a PEM text.
pub(super) fn key_text(text: &str) -> Option<String> {
    let keys = sections(text, |kind| kind.ends_with("PRIVATE KEY"));
    keys.into_iter().next()
}

fn sections(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines().map(str::trim_end) {
        let kind = line.strip_prefix("-----BEGIN ");
        if let Some(kind) = kind.and_then(|it| it.strip_suffix("-----")) {
            open = wanted(kind).then(String::new);
        }
        if let Some(section) = &mut open {
            section.push_str(line);
            section.push('\n');
        }
        if line.starts_with("-----END ") {
            found.extend(open.take());
        }
    }
    found
}
