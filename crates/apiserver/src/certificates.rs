//! The server's own certificate authority, and the certificates that it signs.
//!
//! Made at start, in memory, ECDSA P-256: it takes about a millisecond. Nothing is written to
//! disk; whoever starts the server puts the PEM texts where its clients look. Certificates do not
//! expire before the year 4096, because an in-process server lives as long as its process.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt;

/// A certificate could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the certificate of {subject}")]
#[non_exhaustive]
pub struct CertificateError {
    /// Whose certificate.
    pub subject: String,
    /// Why.
    pub source: rcgen::Error,
}

/// A certificate authority in memory.
pub struct CertificateAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key.
#[derive(Clone)]
#[non_exhaustive]
pub struct Identity {
    /// The certificate, as PEM.
    pub certificate_pem: String,
    /// The private key, as PEM (PKCS #8).
    pub key_pem: String,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

/// The names that a serving certificate of an API server has, whatever it listens on.
pub const SERVING_NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

impl CertificateAuthority {
    /// A new authority of this name.
    pub fn new(common_name: &str) -> Result<Self, CertificateError> {
        let fail = failure(common_name);
        let mut params = CertificateParams::default();
        params.distinguished_name = subject(common_name, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
        ];
        let key = KeyPair::generate().map_err(&fail)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(&fail)?;
        Ok(Self { issuer })
    }

    /// Its certificate, as PEM: what clients trust.
    pub fn certificate_pem(&self) -> String {
        self.issuer.pem()
    }

    /// Its certificate.
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }

    /// A serving certificate for these DNS names and IP addresses.
    pub fn serving_identity(&self, names: Vec<String>) -> Result<Identity, CertificateError> {
        let common_name = "kubist-apiserver";
        let params = CertificateParams::new(names).map_err(failure(common_name))?;
        self.issue(
            params,
            subject(common_name, None),
            ExtendedKeyUsagePurpose::ServerAuth,
        )
    }

    /// A client certificate: the common name is the user, the organisation a group of theirs.
    pub fn client_identity(
        &self,
        user: &str,
        group: Option<&str>,
    ) -> Result<Identity, CertificateError> {
        self.issue(
            CertificateParams::default(),
            subject(user, group),
            ExtendedKeyUsagePurpose::ClientAuth,
        )
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        name: DistinguishedName,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Identity, CertificateError> {
        let fail = failure(&format!("{name:?}"));
        params.distinguished_name = name;
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().map_err(&fail)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(&fail)?;
        Ok(Identity {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        })
    }
}

impl Identity {
    /// The certificate.
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    /// The key.
    pub fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()))
    }
}

impl fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateAuthority")
    }
}

/// Without the key.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("certificate_pem", &self.certificate_pem)
            .finish_non_exhaustive()
    }
}

fn subject(common_name: &str, organization: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    name.push(DnType::CommonName, common_name);
    name
}

fn failure(subject: &str) -> impl Fn(rcgen::Error) -> CertificateError + use<> {
    let subject = subject.to_owned();
    move |source| CertificateError {
        subject: subject.clone(),
        source,
    }
}
