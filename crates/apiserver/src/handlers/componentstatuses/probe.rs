//! Health probe of a component on this machine over TLS, with any server certificate, like a
//! kubelet probe.

use bytes::Bytes;
use http::header::{CONNECTION, HOST, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Maximum bytes of a response that are reported, as upstream.
const ANSWER_BYTES_MAX: usize = 10 << 10;
/// The user agent.
const AGENT: &str = "kube-probe/1.36";

/// The health of a component: its response, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Health {
    pub(super) is_fine: bool,
    pub(super) message: String,
}

/// Probes a port of this machine.
pub(super) async fn ask(port: u16, within: Duration) -> Health {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let asked = timeout(within, get(address)).await;
    let (is_fine, message) = match asked {
        Ok(Ok((code, text))) if code.is_success() || code.is_redirection() => (true, text),
        Ok(Ok((code, _))) => {
            let code = code.as_u16();
            (false, format!("HTTP probe failed with statuscode: {code}"))
        }
        Ok(Err(why)) => (false, format!("Get \"https://{address}/healthz\": {why}")),
        Err(_) => {
            let why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
            (false, format!("Get \"https://{address}/healthz\": {why}"))
        }
    };
    Health { is_fine, message }
}

/// Returns the response, or why there is none.
async fn get(address: SocketAddr) -> Result<(StatusCode, String), String> {
    let stream = TcpStream::connect(address).await.map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
            _ => error.to_string(),
        };
        format!("dial tcp {address}: {why}")
    })?;
    let connector = TlsConnector::from(Arc::new(client()?));
    let stream = connector
        .connect(ServerName::from(address.ip()), stream)
        .await
        .map_err(|error| error.to_string())?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let request = Request::get("/healthz")
        .header(HOST, address.to_string())
        .header(USER_AGENT, AGENT)
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    // Dropping the sender with the response ends the connection.
    let answer = async move {
        let response = sender.send_request(request).await;
        let response = response.map_err(|error| error.to_string())?;
        let code = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
        let body = body.await.map_err(|error| error.to_string())?.to_bytes();
        Ok((code, String::from_utf8_lossy(&body).into_owned()))
    };
    let (answer, _) = tokio::join!(answer, connection);
    answer
}

fn client() -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Anybody {
        provider: Arc::clone(&provider),
    });
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

/// Accepts any certificate. Nothing secret is sent, and the response is only displayed.
#[derive(Debug)]
struct Anybody {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApiServer, Config};
    use kubist_registry::{Registry, RegistryConfig};
    use kubist_storage::memory::MemoryKv;

    const WITHIN: Duration = Duration::from_secs(30);

    fn health(is_fine: bool, message: &str) -> Health {
        Health {
            is_fine,
            message: message.to_owned(),
        }
    }

    #[tokio::test]
    async fn a_component_has_the_health_it_reports_or_an_error() {
        let kv = MemoryKv::default();
        let registry = Registry::new(RegistryConfig::new(
            Arc::new(kv.clone()),
            kubist_kinds::BuiltIn::shared(),
        ));
        registry.start().await.expect("the store is empty");
        let server = ApiServer::bind(Config::default(), registry)
            .await
            .expect("a port is free");
        let port = server.address().expect("it listens").port();
        assert_eq!(ask(port, WITHIN).await, health(true, "ok"));
        kv.close();
        let failed = health(false, "HTTP probe failed with statuscode: 500");
        assert_eq!(ask(port, WITHIN).await, failed);
        server.shutdown().await;
        let refused = format!(
            "Get \"https://127.0.0.1:{port}/healthz\": dial tcp 127.0.0.1:{port}: connect: \
             connection refused"
        );
        assert_eq!(ask(port, WITHIN).await, health(false, &refused));
    }
}
