//! Verification of client certificates: of their keys during the TLS handshake, of their chains per
//! request.

use super::version_one::VersionOne;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer, UnixTime};
use std::sync::Arc;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Requests a client certificate from every client, and accepts each whose key the client owns.
/// Whether the chain is trusted is decided per request, so that an invalid certificate results in
/// 401 and not in a failed connection. That includes certificates that the TLS library does not
/// read, such as those of version 1.
#[derive(Debug)]
pub(crate) struct RequestClientCertificate {
    verifier: Arc<dyn ClientCertVerifier>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl RequestClientCertificate {
    /// The authorities to request certificates of are those of `verifier`, which verifies the
    /// chains later.
    pub(crate) fn new(verifier: Arc<dyn ClientCertVerifier>) -> Self {
        let provider = rustls::crypto::ring::default_provider();
        Self {
            verifier,
            algorithms: provider.signature_verification_algorithms,
        }
    }

    /// Reports whether the key of a certificate made a signature, whatever else is in the
    /// certificate.
    fn has_signed(&self, cert: &CertificateDer<'_>, message: &[u8], dss: &Signed) -> bool {
        let Ok((_, parsed)) = X509Certificate::from_der(cert) else {
            return false;
        };
        let key = &parsed.public_key().subject_public_key.data;
        let mapping = self.algorithms.mapping.iter();
        let mut algorithms = mapping
            .filter(|(scheme, _)| *scheme == dss.scheme)
            .flat_map(|(_, algorithms)| algorithms.iter());
        // A key of another algorithm cannot be read here.
        algorithms.any(|it| it.verify_signature(key, message, dss.signature()).is_ok())
    }
}

type Signed = DigitallySignedStruct;

/// Reports whether the error concerns the certificate itself and not its signature.
fn concerns_certificate(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(why) => *why != CertificateError::BadSignature,
        _ => false,
    }
}

impl ClientCertVerifier for RequestClientCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.verifier.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.verifier.verify_tls12_signature(message, cert, dss) {
            Err(error) if concerns_certificate(&error) && self.has_signed(cert, message, dss) => {
                Ok(HandshakeSignatureValid::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self.verifier.verify_tls13_signature(message, cert, dss);
        let Err(error) = verified else {
            return verified;
        };
        let Ok((_, parsed)) = X509Certificate::from_der(cert) else {
            return Err(error);
        };
        if !concerns_certificate(&error) {
            return Err(error);
        }
        let key = SubjectPublicKeyInfoDer::from(parsed.public_key().raw);
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Returns a verifier of chains that end at one of `authorities`.
pub(crate) fn chain_verifier(
    authorities: impl IntoIterator<Item = CertificateDer<'static>>,
) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    let authorities: Vec<_> = authorities.into_iter().collect();
    let mut roots = RootCertStore::empty();
    for authority in &authorities {
        roots.add(authority.clone())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| Error::General(error.to_string()))?;
    Ok(Arc::new(VersionOne::new(verifier, authorities)))
}
