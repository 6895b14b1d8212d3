//! `Server`: sends requests over one keep-alive connection.
//!
//! Certificates are not verified: both servers run on loopback for this test.

use crate::answer::{INITIAL_END, Raw};
use crate::memory::Request;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// The time limit for a response.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// How long a watch is read after its last event.
const QUIET: Duration = Duration::from_millis(350);
/// The time limit for the first event of a watch.
const FIRST: Duration = Duration::from_millis(1_200);
/// The most bytes of a response that are read.
const BODY_MAX: usize = 32 << 20;

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    /// The address is not `https://HOST:PORT`.
    #[error("{0:?} is no address as in https://127.0.0.1:6443")]
    Address(String),
    #[error("no connection: {0}")]
    Connect(#[from] std::io::Error),
    #[error("no TLS: {0}")]
    Tls(#[from] rustls::Error),
    #[error("the request cannot be written: {0}")]
    Request(#[from] http::Error),
    #[error("the connection failed: {0}")]
    Http(#[from] hyper::Error),
    #[error("no answer in time")]
    Late,
    #[error("the answer is too long")]
    Long,
}

type Sender = SendRequest<Full<Bytes>>;

/// A server, and a connection to it.
pub(crate) struct Server {
    host: String,
    port: u16,
    token: String,
    tls: TlsConnector,
    sender: Option<Sender>,
    connections: JoinSet<()>,
}

impl Server {
    /// Creates a client for an address and a token. It does not connect yet.
    pub(crate) fn new(address: &str, token: &str) -> Result<Self, ServerError> {
        let parsed = address.strip_prefix("https://").and_then(|rest| {
            let (host, port) = rest.trim_end_matches('/').rsplit_once(':')?;
            Some((host.to_owned(), port.parse().ok()?))
        });
        let (host, port) = parsed.ok_or_else(|| ServerError::Address(address.to_owned()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = AcceptAny(Arc::clone(&provider));
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Self {
            host,
            port,
            token: token.to_owned(),
            tls: TlsConnector::from(Arc::new(config)),
            sender: None,
            connections: JoinSet::new(),
        })
    }

    /// Sends a request and reads the whole response.
    pub(crate) async fn send(&mut self, request: &Request) -> Result<Raw, ServerError> {
        let answer = timeout(ANSWER_LIMIT, self.send_kept(request)).await;
        match answer {
            Ok(Ok(raw)) => Ok(raw),
            Ok(Err(error)) => {
                self.sender = None;
                Err(error)
            }
            Err(_) => {
                self.sender = None;
                Err(ServerError::Late)
            }
        }
    }

    async fn send_kept(&mut self, request: &Request) -> Result<Raw, ServerError> {
        // If the server has closed the connection, a new one is opened.
        let mut kept = self.sender.take();
        if let Some(sender) = &mut kept
            && sender.ready().await.is_err()
        {
            kept = None;
        }
        let mut sender = match kept {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        let response = sender.send_request(self.message(request)?).await?;
        let (mut raw, mut body) = head(response);
        while let Some(frame) = body.frame().await {
            if let Some(data) = frame?.data_ref() {
                raw.body.extend_from_slice(data);
            }
            if raw.body.len() > BODY_MAX {
                return Err(ServerError::Long);
            }
        }
        // The connection may not have noticed yet that it is about to be closed.
        if !raw.closes() {
            self.sender = Some(sender);
        }
        Ok(raw)
    }

    /// Sends a watch on a connection of its own, and reads until it ends or no more events arrive.
    pub(crate) async fn watch(&mut self, request: &Request) -> Result<Raw, ServerError> {
        let message = self.message(request)?;
        let opened = async {
            let mut sender = self.connect().await?;
            let response = sender.send_request(message).await?;
            Ok::<_, ServerError>((sender, response))
        };
        let opened = timeout(ANSWER_LIMIT, opened).await;
        // The connection lasts as long as the sender.
        let (_sender, response) = opened.map_err(|_| ServerError::Late)??;
        let (mut raw, mut body) = head(response);
        let mut patience = FIRST;
        while let Ok(Some(frame)) = timeout(patience, body.frame()).await {
            if let Some(data) = frame?.data_ref() {
                raw.body.extend_from_slice(data);
                patience = QUIET;
            }
            // The rest of an event may follow later.
            let has_ended = raw.body.ends_with(b"\n")
                && raw
                    .body
                    .windows(INITIAL_END.len())
                    .any(|it| it == INITIAL_END.as_bytes());
            if raw.body.len() > BODY_MAX || has_ended {
                break;
            }
        }
        Ok(raw)
    }

    async fn connect(&mut self) -> Result<Sender, ServerError> {
        while self.connections.try_join_next().is_some() {}
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from(self.host.clone())
            .map_err(|_| ServerError::Address(self.host.clone()))?;
        let stream = self.tls.connect(name, stream).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        self.connections.spawn(async move {
            // Its error is that of its request.
            connection.await.ok();
        });
        Ok(sender)
    }

    fn message(&self, request: &Request) -> Result<http::Request<Full<Bytes>>, ServerError> {
        let mut message = http::Request::builder()
            .method(request.method)
            .uri(&request.target)
            .header("host", format!("{}:{}", self.host, self.port))
            .header("user-agent", "fidelity/1.0");
        let has = |name: &str| request.headers.iter().any(|(it, _)| *it == name);
        if !has("accept") {
            message = message.header("accept", "application/json");
        }
        if !has("authorization") {
            message = message.header("authorization", format!("Bearer {}", self.token));
        }
        for (name, value) in &request.headers {
            message = message.header(*name, value);
        }
        Ok(message.body(Full::new(Bytes::from(request.body.clone())))?)
    }
}

fn head(response: http::Response<Incoming>) -> (Raw, Incoming) {
    let (parts, body) = response.into_parts();
    let headers = parts.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let raw = Raw {
        status: parts.status.as_u16(),
        headers: headers.collect(),
        body: Vec::new(),
    };
    (raw, body)
}

/// Accepts any certificate whose key the peer has.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
