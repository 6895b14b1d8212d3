//! The TLS configurations of clients: of webhooks, and of services outside of the cluster.

use super::remote_service::RemoteService;
use crate::certificates::Identity;
use kubist_registry::WebhookError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WantsClientCert, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::sign::SingleCertAndKey;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, WantsVerifier,
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
pub(crate) fn config(ca_bundle: &[u8]) -> Result<Arc<ClientConfig>, WebhookError> {
    let builder = verifying(ca_bundle)?;
    Ok(finished(builder.with_no_client_auth()))
}

/// Returns the configuration for a service outside of the cluster.
///
/// # Errors
/// Its authorities or the client certificate cannot be used.
pub(super) fn remote(service: &RemoteService) -> Result<Arc<ClientConfig>, WebhookError> {
    let trust = if service.insecure {
        Trust::Anything
    } else {
        Trust::Bundle(service.ca_pem.as_bytes())
    };
    client(trust, service.identity.as_ref())
}

/// Which certificates of servers are accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trust<'a> {
    /// Those that these authorities have signed, in PEM; if it is empty, the authorities of the
    /// operating system.
    Bundle(&'a [u8]),
    /// Any.
    Anything,
}

/// Returns the configuration of a client with or without a certificate.
///
/// # Errors
/// The authorities or the certificate cannot be used.
pub(crate) fn client(
    trust: Trust<'_>,
    identity: Option<&Identity>,
) -> Result<Arc<ClientConfig>, WebhookError> {
    let builder = match trust {
        Trust::Anything => {
            let verifier = Arc::new(Unverified(ring::default_provider()));
            builder()?
                .dangerous()
                .with_custom_certificate_verifier(verifier)
        }
        Trust::Bundle(pem) => verifying(pem)?,
    };
    let Some(identity) = identity else {
        return Ok(finished(builder.with_no_client_auth()));
    };
    let key = identity
        .certified(None)
        .map_err(|error| invalid(&error.to_string()))?;
    let resolver = Arc::new(SingleCertAndKey::from(key));
    Ok(finished(builder.with_client_cert_resolver(resolver)))
}

fn invalid(why: &str) -> WebhookError {
    WebhookError::InvalidConfig {
        reason: format!("unable to load root certificates: {why}"),
    }
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, WebhookError> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid(&error.to_string()))
}

fn verifying(
    ca_bundle: &[u8],
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, WebhookError> {
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
    if trusted.is_empty() {
        return Ok(builder()?.with_root_certificates(roots));
    }
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| invalid(&error.to_string()))?;
    let verifier = Arc::new(BundleVerifier { verifier, trusted });
    Ok(builder()?
        .dangerous()
        .with_custom_certificate_verifier(verifier))
}

fn finished(mut config: ClientConfig) -> Arc<ClientConfig> {
    // As upstream: each connection leads to one server behind a service.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// Accepts any certificate, for services whose configuration says so.
#[derive(Debug)]
struct Unverified(CryptoProvider);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
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
