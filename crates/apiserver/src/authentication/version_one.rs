//! `VersionOne`: also verifies client certificates of X.509 version 1, which the TLS library does
//! not read, and which `openssl x509 -req` makes unless it is told otherwise.
//!
//! Only those that a trusted authority has issued directly. They have no extensions, so nothing
//! limits what they are for, and as in Go they are good for clients. They are never authorities.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, UnixTime};
use std::sync::Arc;
use x509_parser::certificate::Validity;
use x509_parser::prelude::{FromDer, X509Certificate, X509Version};

/// Verifies chains as another verifier, and certificates of version 1.
#[derive(Debug)]
pub(super) struct VersionOne {
    verifier: Arc<dyn ClientCertVerifier>,
    authorities: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl VersionOne {
    /// The authorities are those of `verifier`.
    pub(super) fn new(
        verifier: Arc<dyn ClientCertVerifier>,
        authorities: Vec<CertificateDer<'static>>,
    ) -> Self {
        let provider = rustls::crypto::ring::default_provider();
        Self {
            verifier,
            authorities,
            algorithms: provider.signature_verification_algorithms,
        }
    }

    fn verify(&self, certificate: &X509Certificate<'_>, now: i64) -> Result<(), CertificateError> {
        let mut authorities = self.authorities.iter();
        let is_trusted = authorities.any(|it| {
            let Ok((_, authority)) = X509Certificate::from_der(it) else {
                return false;
            };
            authority.subject().as_raw() == certificate.issuer().as_raw()
                && may_issue(&authority, now)
                && self.has_signed(&authority, certificate)
        });
        if !is_trusted {
            return Err(CertificateError::UnknownIssuer);
        }
        if now < certificate.validity().not_before.timestamp() {
            return Err(CertificateError::NotValidYet);
        }
        if !is_within(certificate.validity(), now) {
            return Err(CertificateError::Expired);
        }
        Ok(())
    }

    fn has_signed(&self, authority: &X509Certificate<'_>, of: &X509Certificate<'_>) -> bool {
        let key = &authority.public_key().subject_public_key.data;
        let (message, signature) = (of.tbs_certificate.as_ref(), &of.signature_value.data);
        // A key or a signature of another algorithm is not valid in this one.
        let mut algorithms = self.algorithms.all.iter();
        algorithms.any(|it| it.verify_signature(key, message, signature).is_ok())
    }
}

/// Reports whether an authority may issue certificates of clients. One with name constraints may
/// not here: they are not evaluated.
fn may_issue(authority: &X509Certificate<'_>, now: i64) -> bool {
    let is_authority = authority.version() == X509Version::V1 || authority.is_ca();
    let signs = match authority.key_usage() {
        Ok(usage) => usage.is_none_or(|it| it.value.key_cert_sign()),
        Err(_) => false,
    };
    let for_clients = match authority.extended_key_usage() {
        Ok(usage) => usage.is_none_or(|it| it.value.any || it.value.client_auth),
        Err(_) => false,
    };
    let is_constrained = !matches!(authority.name_constraints(), Ok(None));
    let is_valid = is_within(authority.validity(), now);
    is_authority && signs && for_clients && !is_constrained && is_valid
}

fn is_within(validity: &Validity, now: i64) -> bool {
    (validity.not_before.timestamp()..=validity.not_after.timestamp()).contains(&now)
}

impl ClientCertVerifier for VersionOne {
    fn client_auth_mandatory(&self) -> bool {
        self.verifier.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.verifier.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match X509Certificate::from_der(end_entity) {
            Ok(([], parsed))
                if parsed.version() == X509Version::V1 && parsed.extensions().is_empty() =>
            {
                let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
                self.verify(&parsed, now)?;
                Ok(ClientCertVerified::assertion())
            }
            _ => self
                .verifier
                .verify_client_cert(end_entity, intermediates, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use crate::authentication::client_certificates::chain_verifier;
    use crate::certificates::CertificateAuthority;
    use rustls::{CertificateError, Error};
    use rustls_pki_types::pem::PemObject as _;
    use rustls_pki_types::{CertificateDer, UnixTime};
    use std::time::Duration;

    const AUTHORITY: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBejCCAR+gAwIBAgIUOiFORGMzSnLFxuICj9ajjs5KVrEwCgYIKoZIzj0EAwIw\n\
ETEPMA0GA1UEAwwGcGVvcGxlMCAXDTI2MTEyODEyMjQyM1oYDzIxMjYxMTA0MTIy\n\
NDIzWjARMQ8wDQYDVQQDDAZwZW9wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\n\
AATrPZWHTMedukE7ka+6FwZnoKT3Ry5/1rjnWfHHGm5uF6+M0VIRyPikGUBtRDrs\n\
49rxiRBe8hKxNQNzEqlEeG/Lo1MwUTAdBgNVHQ4EFgQUItwqUq7BcqEhdr0RHPjp\n\
VWnzGT0wHwYDVR0jBBgwFoAUItwqUq7BcqEhdr0RHPjpVWnzGT0wDwYDVR0TAQH/\n\
BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA/I8OaI88cZm0yGbWB6bMKSC8hwTH\n\
ye9UHv0GmlFXT48CIQDZLAZajpjptthY7nj76YFxlynTd4Ii6KSSgqF2G+ZqKw==\n\
-----END CERTIFICATE-----\n\
";
    /// Of version 1, by that authority.
    const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBKzCB0wIUeaCXJKGWs1fc7OgmH9IF0rV8hNowCgYIKoZIzj0EAwIwETEPMA0G\n\
A1UEAwwGcGVvcGxlMCAXDTI2MTEyODEyMjQyNFoYDzIxMjYxMTA0MTIyNDI0WjAf\n\
MQ0wCwYDVQQKDARkZXZzMQ4wDAYDVQQDDAVjYXJvbDBZMBMGByqGSM49AgEGCCqG\n\
SM49AwEHA0IABC/UqrqeLutBtgB9SXMzP2OeHjM33raUuU9xfY48L7QdeGu3rCQB\n\
J5khONKsFJX8LrS+UhZgVyjwppoOnCNVN/swCgYIKoZIzj0EAwIDRwAwRAIgKeO0\n\
Xd9vbyNBkONZklXYw0+i/dQ+S91Uq088RyiTtjICIHpK+mbyzv7f39ygPz72E32v\n\
WD2fXBpkJw8CF9VG2Lpp\n\
-----END CERTIFICATE-----\n\
";
    const NOW: u64 = 1_800_000_000;

    fn der(pem: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem.as_bytes()).expect("it is a certificate")
    }

    fn verify(
        authority: CertificateDer<'static>,
        certificate: &CertificateDer<'_>,
        seconds: u64,
    ) -> Result<(), Error> {
        let verifier = chain_verifier([authority]).expect("it is one");
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let verified = verifier.verify_client_cert(certificate, &[], now);
        verified.map(drop)
    }

    #[test]
    fn a_certificate_of_version_1_is_verified_as_others_are() {
        let (authority, own) = (der(AUTHORITY), der(CERTIFICATE));
        assert_eq!(verify(authority.clone(), &own, NOW), Ok(()));
        let refused = |why: CertificateError| Err(Error::InvalidCertificate(why));
        let early = refused(CertificateError::UnknownIssuer);
        assert_eq!(
            verify(authority.clone(), &own, 1),
            early,
            "nor is its authority"
        );
        let other = CertificateAuthority::new("people").expect("it is made");
        assert_eq!(
            verify(other.certificate(), &own, NOW),
            refused(CertificateError::UnknownIssuer)
        );
        for at in [100, own.len() - 1] {
            let mut changed = own.to_vec();
            changed[at] ^= 1;
            let changed = CertificateDer::from(changed);
            assert!(verify(authority.clone(), &changed, NOW).is_err(), "{at}");
        }
        // It is an authority for none.
        assert!(verify(own.clone(), &own, NOW).is_err());
    }
}
