//! A server on an in-memory store, and a small HTTP client.

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use kubist_admission::PluginSelection;
use kubist_apiserver::{ApiServer, Config, Identity, MASTERS_GROUP, RunningServer, StaticToken};
use kubist_registry::{Registry, RegistryConfig, RuntimeConfig, User};
use kubist_storage::memory::MemoryKv;
use rustls_pki_types::ServerName;
use serde_json::Value;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{
    ALL_VERSIONS, ClientConfig, RootCertStore, SupportedProtocolVersion, crypto,
};

/// The administrator's token.
pub(crate) const TOKEN: &str = "the-token";

/// A server with the initial namespaces, a configuration and a token.
pub(crate) async fn server(config: Config) -> RunningServer {
    server_with(config, |_| {}).await
}

/// The same with a registry that differs from the default.
pub(crate) async fn server_with(
    mut config: Config,
    set_up: impl FnOnce(&mut RegistryConfig),
) -> RunningServer {
    config.tokens.push(StaticToken {
        token: TOKEN.to_owned(),
        user: User {
            name: "token-admin".into(),
            groups: vec![MASTERS_GROUP.into()],
            ..User::default()
        },
    });
    let mut of_registry = RegistryConfig::new(
        Arc::new(MemoryKv::default()),
        kubist_kinds::BuiltIn::shared(),
    );
    of_registry.runtime_config = RuntimeConfig::everything();
    of_registry.admission = PluginSelection::default().chain(Vec::new());
    set_up(&mut of_registry);
    let registry = Registry::new(of_registry);
    registry.start().await.expect("the store is empty");
    ApiServer::bind(config, registry)
        .await
        .expect("a port is free")
}

/// A server that does not listen.
pub(crate) async fn silent_server() -> RunningServer {
    silent_server_with(|_| {}).await
}

/// The same with a registry that differs from the default.
pub(crate) async fn silent_server_with(set_up: impl FnOnce(&mut RegistryConfig)) -> RunningServer {
    let config = Config {
        listen: None,
        ..Config::default()
    };
    server_with(config, set_up).await
}

/// The protocol of a client.
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// One connection to a server.
pub(crate) struct Client {
    sender: Sender,
    headers: Vec<(&'static str, String)>,
    _connection: tokio::task::JoinSet<()>,
}

/// A response that was read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).expect("it is JSON")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|value| value.to_str());
        value.unwrap_or(Ok("")).expect("it is text")
    }
}

impl Client {
    /// In memory, as the administrator.
    pub(crate) async fn in_memory(server: &RunningServer, version: Version) -> Self {
        let (near, far) = tokio::io::duplex(64 << 10);
        server.serve_stream(far).await.expect("it runs");
        Self::on(near, version).await
    }

    /// Over TLS, with a client certificate and ALPN protocols.
    pub(crate) async fn over_tls(
        server: &RunningServer,
        identity: Option<&Identity>,
        protocols: &[&str],
    ) -> Self {
        Self::with_tls(server, tls(server, identity, protocols, ALL_VERSIONS)).await
    }

    /// Over an existing TLS configuration.
    pub(crate) async fn with_tls(server: &RunningServer, tls: ClientConfig) -> Self {
        let address = server.address().expect("it listens");
        let stream = TcpStream::connect(address).await.expect("it listens");
        let connector = TlsConnector::from(Arc::new(tls));
        let name = ServerName::try_from("localhost").expect("it is a name");
        let stream = connector.connect(name, stream).await.expect("TLS works");
        let version = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Version::HTTP_2,
            _ => Version::HTTP_11,
        };
        Self::on(stream, version).await
    }

    pub(crate) async fn on<S>(stream: S, version: Version) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let io = TokioIo::new(stream);
        let mut tasks = tokio::task::JoinSet::new();
        let sender = if version == Version::HTTP_2 {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.timer(TokioTimer::new());
            let (sender, connection) = builder.handshake(io).await.expect("HTTP/2 works");
            tasks.spawn(async { drop(connection.await) });
            Sender::Http2(sender)
        } else {
            let (sender, connection) = http1::handshake(io).await.expect("HTTP/1.1 works");
            tasks.spawn(async { drop(connection.await) });
            Sender::Http1(sender)
        };
        Self {
            sender,
            headers: Vec::new(),
            _connection: tasks,
        }
    }

    pub(crate) fn version(&self) -> Version {
        match self.sender {
            Sender::Http1(_) => Version::HTTP_11,
            Sender::Http2(_) => Version::HTTP_2,
        }
    }

    /// With an additional header on every request.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends a request; the response body is not read yet.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        let mut request = Request::builder().method(method);
        request = match self.sender {
            Sender::Http1(_) => request.uri(path).header("host", "localhost"),
            Sender::Http2(_) => request.uri(format!("https://localhost{path}")),
        };
        if !content_type.is_empty() {
            request = request.header("content-type", content_type);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        self.send_request(request.body(Full::new(body.into())).expect("it is valid"))
            .await
    }

    /// Sends a request unchanged.
    pub(crate) async fn send_request(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Http2(sender) => sender.send_request(request).await,
        }
    }

    /// Sends a request and reads the response.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> Answer {
        let response = self.send(method, path, content_type, body).await;
        let (parts, body) = response.expect("it answers").into_parts();
        let bytes = body.collect().await.expect("it answers to the end");
        Answer {
            code: parts.status.as_u16(),
            headers: parts.headers,
            bytes: bytes.to_bytes(),
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, "", "").await
    }

    pub(crate) async fn delete(&mut self, path: &str) -> Answer {
        self.ask("DELETE", path, "", "").await
    }

    /// POSTs JSON.
    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        self.ask("POST", path, "application/json", body).await
    }
}

/// The TLS configuration of the client.
pub(crate) fn tls(
    server: &RunningServer,
    identity: Option<&Identity>,
    protocols: &[&str],
    versions: &[&'static SupportedProtocolVersion],
) -> ClientConfig {
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject;
    let mut roots = RootCertStore::empty();
    let pem = server.ca_pem();
    let ca = CertificateDer::from_pem_slice(pem.as_bytes()).expect("it is PEM");
    roots.add(ca).expect("it is a certificate");
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("they are supported")
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(it) => builder
            .with_client_auth_cert(vec![it.certificate()], it.key())
            .expect("key and certificate fit"),
    };
    config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
    config
}
