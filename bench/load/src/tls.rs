//! Servers of a benchmark, on a free port of loopback with a certificate of their own.

use crate::Failure;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A listener, and what its connections are accepted with.
pub struct Listening {
    pub listener: TcpListener,
    pub acceptor: TlsAcceptor,
    /// Its certificate, which clients have to trust.
    pub pem: String,
}

/// Listens for connections that speak one of these protocols; with none, for any.
pub async fn listen(protocols: &[&str]) -> Result<Listening, Failure> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::try_from(signing_key.serialize_der())?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
    Ok(Listening {
        listener: TcpListener::bind(("127.0.0.1", 0)).await?,
        acceptor: TlsAcceptor::from(Arc::new(config)),
        pem: cert.pem(),
    })
}
