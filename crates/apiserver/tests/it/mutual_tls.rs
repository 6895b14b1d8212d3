//! The TLS of servers in this process that want a client certificate.

use kubist_apiserver::{CertificateAuthority, Identity};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

/// Serves with a certificate, to whoever has one of these authorities.
pub(crate) fn acceptor(serving: &Identity, clients: &CertificateAuthority) -> TlsAcceptor {
    let mut roots = RootCertStore::empty();
    roots.add(clients.certificate()).expect("it is one");
    let provider = Arc::new(crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("they are supported")
        .with_client_cert_verifier(verifier.build().expect("it has roots"))
        .with_single_cert(vec![serving.certificate()], serving.key())
        .expect("they fit");
    TlsAcceptor::from(Arc::new(tls))
}
