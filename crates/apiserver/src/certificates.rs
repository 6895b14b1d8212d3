//! `CertificateAuthority`: the certificate authority of a server.
//!
//! A new one is created in memory, ECDSA P-256, in about a millisecond, and is valid until the year
//! 4096, because it lives as long as its process. One that is stored for later is created with an
//! end ([`CertificateAuthority::until`]). Nothing is written to disk here; the caller stores the
//! PEM text.

mod identity;

pub use identity::{Identity, PemError, read_certificates};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData,
};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;
use time::OffsetDateTime;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Certificates with a validity period begin this long before, for clients whose clocks are behind.
const CLOCK_SKEW: Duration = Duration::from_secs(3600);

/// A certificate could not be created.
#[derive(Debug, thiserror::Error)]
#[error("cannot create the certificate of {subject}")]
#[non_exhaustive]
pub struct CertificateError {
    /// The subject of the certificate.
    pub subject: String,
    /// The cause.
    pub source: rcgen::Error,
}

/// A certificate authority in memory.
pub struct CertificateAuthority {
    issuer: Issuer<'static, KeyPair>,
    certificate_pem: String,
    certificate: CertificateDer<'static>,
}

/// The names in every serving certificate of an API server, whatever it listens on.
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
    /// Creates an authority with this name.
    pub fn new(common_name: &str) -> Result<Self, CertificateError> {
        Self::with(common_name, CertificateParams::default())
    }

    /// Creates an authority with this name that is valid from `now` to `end`, both since the Unix
    /// epoch.
    ///
    /// # Errors
    /// One of the times is not a valid date.
    pub fn until(
        common_name: &str,
        now: Duration,
        end: Duration,
    ) -> Result<Self, CertificateError> {
        let mut params = CertificateParams::default();
        set_validity(&mut params, now, end).map_err(failure(common_name))?;
        Self::with(common_name, params)
    }

    fn with(common_name: &str, mut params: CertificateParams) -> Result<Self, CertificateError> {
        let fail = failure(common_name);
        params.distinguished_name = subject(common_name, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
        ];
        let key = KeyPair::generate().map_err(&fail)?;
        let certificate = params.self_signed(&key).map_err(&fail)?;
        Ok(Self {
            certificate_pem: certificate.pem(),
            certificate: certificate.der().clone(),
            issuer: Issuer::new(params, key),
        })
    }

    /// Reads an authority from PEM: its certificate and its key, as [`Self::to_pem`] returns them.
    ///
    /// # Errors
    /// The certificate or the key is missing or unusable, they do not match, or the certificate is
    /// not that of an authority.
    pub fn from_pem(text: &str) -> Result<Self, PemError> {
        let certificate = CertificateDer::from_pem_slice(text.as_bytes())
            .map_err(|_| PemError::NoCertificate)?
            .into_owned();
        let key = identity::key_text(text).ok_or(PemError::NoKey)?;
        let key = KeyPair::from_pem(&key).map_err(|_| PemError::NoKey)?;
        let (_, parsed) =
            X509Certificate::from_der(&certificate).map_err(|_| PemError::NoCertificate)?;
        if &*parsed.public_key().subject_public_key.data != key.der_bytes() {
            return Err(PemError::KeyMismatch);
        }
        if !parsed.is_ca() {
            return Err(PemError::NotAuthority);
        }
        let certificate_pem = identity::certificate_texts(text);
        let issuer = Issuer::from_ca_cert_der(&certificate, key);
        Ok(Self {
            issuer: issuer.map_err(|_| PemError::NoCertificate)?,
            certificate_pem,
            certificate,
        })
    }

    /// Returns its certificate and its key as PEM. This is a secret.
    pub fn to_pem(&self) -> String {
        let key = self.issuer.key().serialize_pem();
        format!("{}{key}", self.certificate_pem)
    }

    /// Returns its certificate as PEM, for clients to trust.
    pub fn certificate_pem(&self) -> String {
        self.certificate_pem.clone()
    }

    /// Returns its certificate.
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    /// Returns its validity, in seconds since the Unix epoch.
    pub fn valid(&self) -> RangeInclusive<u64> {
        valid_within(&[self.certificate()]).unwrap_or(0..=0)
    }

    /// Issues a serving certificate for these DNS names and IP addresses.
    pub fn serving_identity(&self, names: Vec<String>) -> Result<Identity, CertificateError> {
        self.serving(CertificateParams::new(names))
    }

    /// Issues a serving certificate for these DNS names and IP addresses that is valid from `now`
    /// to `end`, both since the Unix epoch.
    pub(crate) fn serving_until(
        &self,
        names: Vec<String>,
        now: Duration,
        end: Duration,
    ) -> Result<Identity, CertificateError> {
        self.serving(CertificateParams::new(names).and_then(|mut params| {
            set_validity(&mut params, now, end)?;
            Ok(params)
        }))
    }

    fn serving(
        &self,
        params: Result<CertificateParams, rcgen::Error>,
    ) -> Result<Identity, CertificateError> {
        let common_name = "kubist-apiserver";
        self.issue(
            params.map_err(failure(common_name))?,
            subject(common_name, None),
            ExtendedKeyUsagePurpose::ServerAuth,
        )
    }

    /// Issues a client certificate: the common name is the user, the organization is a group. It is
    /// valid as long as the authority is.
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
        Ok(Identity::new(&certificate, &key))
    }
}

impl fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateAuthority")
    }
}

fn set_validity(
    params: &mut CertificateParams,
    now: Duration,
    end: Duration,
) -> Result<(), rcgen::Error> {
    let date = |at: Duration| {
        let seconds = i64::try_from(at.as_secs()).map_err(|_| rcgen::Error::Time)?;
        OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| rcgen::Error::Time)
    };
    params.not_before = date(now.saturating_sub(CLOCK_SKEW))?;
    params.not_after = date(end)?;
    Ok(())
}

/// Returns the period in which all certificates are valid, in seconds since the Unix epoch.
pub(crate) fn valid_within(certificates: &[CertificateDer<'_>]) -> Option<RangeInclusive<u64>> {
    let mut valid = 0..=u64::MAX;
    for certificate in certificates {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let validity = parsed.validity();
        let from = u64::try_from(validity.not_before.timestamp()).ok()?;
        let until = u64::try_from(validity.not_after.timestamp()).ok()?;
        valid = *valid.start().max(&from)..=*valid.end().min(&until);
    }
    Some(valid)
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

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_800_000_000);
    const END: Duration = Duration::from_secs(1_900_000_000);

    #[test]
    fn a_restored_authority_signs_for_clients_of_the_original() {
        let made = CertificateAuthority::until("kept", NOW, END).expect("keys can be made");
        let read = CertificateAuthority::from_pem(&made.to_pem()).expect("it was written");
        assert_eq!(read.certificate_pem(), made.certificate_pem());
        assert_eq!(read.to_pem(), made.to_pem());
        assert_eq!(read.valid(), 1_799_996_400..=1_900_000_000);
        let verifier =
            crate::authentication::client_certificates::chain_verifier([made.certificate()])
                .expect("it is one");
        let client = read.client_identity("a", None).expect("keys can be made");
        let at = |seconds| {
            let now = rustls_pki_types::UnixTime::since_unix_epoch(Duration::from_secs(seconds));
            verifier.verify_client_cert(&client.certificate(), &[], now)
        };
        at(1_800_000_000).expect("it is signed by the same authority");
    }

    #[test]
    fn invalid_authorities_are_refused_with_a_reason() {
        let (one, other) = (
            CertificateAuthority::new("one").expect("keys can be made"),
            CertificateAuthority::new("other").expect("keys can be made"),
        );
        let client = one.client_identity("a", None).expect("keys can be made");
        let key_of = |text: &str| identity::key_text(text).expect("it has one");
        for (text, why) in [
            (String::new(), PemError::NoCertificate),
            ("something else".to_owned(), PemError::NoCertificate),
            (one.certificate_pem(), PemError::NoKey),
            (key_of(&one.to_pem()), PemError::NoCertificate),
            (
                one.certificate_pem() + &key_of(&other.to_pem()),
                PemError::KeyMismatch,
            ),
            (
                client.certificate_pem.clone() + &client.key_pem,
                PemError::NotAuthority,
            ),
        ] {
            let refused = CertificateAuthority::from_pem(&text).expect_err("it is none");
            assert_eq!(refused, why, "{text:.60}");
        }
    }
}
