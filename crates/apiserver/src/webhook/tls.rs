//! The TLS configuration of a webhook client.

use kubist_registry::WebhookError;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::sync::Arc;

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
    let added = if ca_bundle.is_empty() {
        let system = rustls_native_certs::load_native_certs().certs;
        roots.add_parsable_certificates(system).0
    } else {
        // As upstream, other content of the bundle is skipped.
        let found = CertificateDer::pem_slice_iter(ca_bundle).filter_map(Result::ok);
        roots.add_parsable_certificates(found).0
    };
    if added == 0 && !ca_bundle.is_empty() {
        return Err(invalid("no valid certificate authority data seen"));
    }
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid(&error.to_string()))?;
    let builder = builder.with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    // As upstream: each connection leads to one server behind a service.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
