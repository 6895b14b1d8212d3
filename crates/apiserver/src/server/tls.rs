//! TLS configuration: the serving certificate, optional client certificates, HTTP/2 before
//! HTTP/1.1.

use super::serving_certificate::ServingCertificate;
use crate::authentication::client_certificates::RequestClientCertificate;
use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use rustls::{CipherSuite, ServerConfig, SupportedProtocolVersion};
use std::sync::Arc;

/// TLS 1.2 and 1.3, as upstream.
static VERSIONS: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

/// Returns the TLS configuration of the server.
pub(super) fn server_config(
    serving: Arc<ServingCertificate>,
    verifier: Arc<dyn ClientCertVerifier>,
) -> Result<ServerConfig, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
        .with_protocol_versions(VERSIONS)?
        .with_client_cert_verifier(Arc::new(RequestClientCertificate::new(verifier)))
        .with_cert_resolver(serving);
    config.ignore_client_order = true;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Prefers AES with 128 bits, as Go's servers do: encryption dominates the cost of large responses,
/// and longer keys need more rounds.
fn provider() -> CryptoProvider {
    let mut provider = rustls::crypto::ring::default_provider();
    provider.cipher_suites.sort_by_key(|suite| {
        !matches!(
            suite.suite(),
            CipherSuite::TLS13_AES_128_GCM_SHA256
                | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
                | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
        )
    });
    provider
}
