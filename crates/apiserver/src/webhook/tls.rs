//! The TLS configuration of a webhook client.

use kubist_registry::WebhookError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::ring;
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;
use x509_parser::parse_x509_certificate;

/// Returns the configuration for a webhook with this CA bundle. If it is empty, the authorities of
/// the operating system are used.
///
/// # Errors
/// The bundle has no valid certificate.
pub(super) fn config(ca_bundle: &[u8]) -> Result<Arc<ClientConfig>, WebhookError> {
    let invalid = |why: &str| WebhookError::InvalidConfig {
        reason: format!("unable to load root certificates: {why}"),
    };
    let mut roots = RootCertStore::empty();
    let mut trusted = Vec::new();
    if ca_bundle.is_empty() {
        let system = rustls_native_certs::load_native_certs().certs;
        roots.add_parsable_certificates(system);
    } else {
        // As upstream, other content of the bundle is skipped.
        let found = CertificateDer::pem_slice_iter(ca_bundle);
        trusted.extend(found.filter_map(Result::ok));
        let (added, _) = roots.add_parsable_certificates(trusted.iter().cloned());
        if added == 0 {
            return Err(invalid("no valid certificate authority data seen"));
        }
    }
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid(&error.to_string()))?;
    let builder = if trusted.is_empty() {
        builder.with_root_certificates(roots)
    } else {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = verifier
            .build()
            .map_err(|error| invalid(&error.to_string()))?;
        let verifier = Arc::new(BundleVerifier { verifier, trusted });
        builder
            .dangerous()
            .with_custom_certificate_verifier(verifier)
    };
    let mut config = builder.with_no_client_auth();
    // As upstream: each connection leads to one server behind a service.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Verifies the certificate of a webhook against a CA bundle.
///
/// As in Go, a certificate that is in the bundle itself is valid, even if it is an authority's, or
/// if its authority is unknown: simple setups sign the certificate of the webhook with itself, and
/// envtest gives no other than the webhook's own.
#[derive(Debug)]
struct BundleVerifier {
    verifier: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.verifier.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // The use of an authority's certificate has no error of its own.
            Err(Error::InvalidCertificate(
                CertificateError::Other(_) | CertificateError::UnknownIssuer,
            )) if self.trusted.contains(end_entity) => {
                check_validity(end_entity, now)?;
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

fn check_validity(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let (_, parsed) =
        parse_x509_certificate(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let validity = parsed.validity();
    if now < validity.not_before.timestamp() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > validity.not_after.timestamp() {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}
