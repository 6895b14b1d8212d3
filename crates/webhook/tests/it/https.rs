//! The server: HTTPS, rotation, limits, and the stop.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

use crate::review::{of_pod, pod};
use kubist_api::core::v1::Pod;
use kubist_transport::{Body, Config, Pem, TlsConfig, Transport, Verify};
use kubist_webhook::{
    AdmissionRequest, Admitted, ServerConfig, ServingCertificate, WebhookServer, Webhooks,
};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

struct Running {
    address: SocketAddr,
    token: CancellationToken,
    task: JoinHandle<()>,
}

async fn start(webhooks: Webhooks, certificate: &ServingCertificate) -> Running {
    start_with(webhooks, certificate, ServerConfig::default()).await
}

async fn start_with(
    webhooks: Webhooks,
    certificate: &ServingCertificate,
    config: ServerConfig,
) -> Running {
    let config = ServerConfig {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        ..config
    };
    let server = WebhookServer::bind(webhooks, certificate.clone(), config).await;
    let server = server.expect("a port");
    let (address, token) = (server.address(), CancellationToken::new());
    let task = tokio::spawn(server.serve(token.clone()));
    Running {
        address,
        token,
        task,
    }
}

fn client(address: SocketAddr, bundle: &str) -> Transport {
    let mut config = Config::new(format!("https://{address}").parse().expect("a URI"));
    config.tls = TlsConfig {
        verify: Verify::Authorities(Pem::Data(bundle.into())),
        ..TlsConfig::default()
    };
    Transport::new(config).expect("it is valid")
}

async fn review(client: &Transport) -> Result<Value, String> {
    let body = of_pod("CREATE", pod(), Value::Null).to_string();
    let request = http::Request::post("/v?timeout=5s");
    let request = request.header("content-type", "application/json");
    let request = request.body(Body::from(body)).expect("a request");
    let response = client
        .send(request)
        .await
        .map_err(|error| error.to_string())?;
    let bytes = response.into_body().bytes(1 << 20).await;
    let bytes = bytes.map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

fn yes() -> Webhooks {
    Webhooks::new().validate("/v", |_: AdmissionRequest<Pod>| async {
        Ok(Admitted::new())
    })
}

#[tokio::test]
async fn reviews_are_served_over_https_and_a_replaced_certificate_is_shown() {
    let certificate = ServingCertificate::self_signed(&["127.0.0.1"]).expect("it is made");
    let server = start(yes(), &certificate).await;
    let first = certificate.pem();
    let old = client(server.address, &first);
    assert_eq!(
        review(&old).await.expect("an answer")["response"]["allowed"],
        true
    );
    let health = http::Request::get("/healthz")
        .body(Body::empty())
        .expect("a request");
    let health = old
        .send(health)
        .await
        .expect("an answer")
        .into_body()
        .bytes(10)
        .await;
    assert_eq!(health.expect("text"), "ok");

    let other = ServingCertificate::self_signed(&["127.0.0.1"]).expect("it is made");
    let new = client(server.address, &other.pem());
    assert!(
        review(&new).await.is_err(),
        "it shows the first certificate"
    );
    let (pem, key) = key_of(&["127.0.0.1"]);
    certificate.replace(&pem, &key).expect("it is valid");
    let new = client(server.address, &pem);
    assert!(review(&new).await.is_ok());
    assert!(review(&old).await.is_ok(), "its connection goes on");
    assert!(review(&client(server.address, &first)).await.is_err());
    server.token.cancel();
    server.task.await.expect("no panic");
}

/// A certificate with its key, as a file would have it.
fn key_of(names: &[&str]) -> (String, String) {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let key = rcgen::generate_simple_self_signed(names).expect("it is made");
    (key.cert.pem(), key.signing_key.serialize_pem())
}

#[tokio::test]
async fn reviews_in_work_end_before_the_server_does() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (has_begun, may_go) = (Arc::clone(&begun), Arc::clone(&go));
    let webhooks = Webhooks::new().validate("/v", move |_: AdmissionRequest<Pod>| {
        let (begun, go) = (Arc::clone(&has_begun), Arc::clone(&may_go));
        async move {
            begun.notify_one();
            go.notified().await;
            Ok(Admitted::new())
        }
    });
    let certificate = ServingCertificate::self_signed(&["127.0.0.1"]).expect("it is made");
    let server = start(webhooks, &certificate).await;
    let client = client(server.address, &certificate.pem());
    let asking = client.clone();
    let answer = tokio::spawn(async move { review(&asking).await });
    begun.notified().await;
    server.token.cancel();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!server.task.is_finished());
    go.notify_one();
    let answer = answer.await.expect("no panic").expect("an answer");
    assert_eq!(answer["response"]["allowed"], true);
    server.task.await.expect("no panic");
    assert!(review(&client).await.is_err(), "it is gone");
}

#[tokio::test]
async fn strangers_cost_the_others_nothing() {
    let certificate = ServingCertificate::self_signed(&["127.0.0.1"]).expect("it is made");
    let server = start(yes(), &certificate).await;
    let mut strangers = Vec::new();
    for _ in 0..50 {
        let mut stranger = TcpStream::connect(server.address).await.expect("open");
        let garbage = tokio::io::AsyncWriteExt::write_all(&mut stranger, b"GET / HTTP/1.1\r\n\r\n");
        drop(garbage.await);
        strangers.push(stranger);
    }
    let client = client(server.address, &certificate.pem());
    assert!(review(&client).await.is_ok());
    server.token.cancel();
    let ended = timeout(Duration::from_secs(11), server.task).await;
    ended.expect("it ends").expect("no panic");
}

/// Connects and makes the handshake, and nothing else.
async fn silent(address: SocketAddr, bundle: &str, protocol: Option<&str>) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    for it in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(it.expect("PEM")).expect("a certificate");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("they are supported");
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocol.iter().map(|it| it.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(address).await.expect("it listens");
    let name = "127.0.0.1".try_into().expect("an address");
    let connected = TlsConnector::from(Arc::new(config)).connect(name, stream);
    connected.await.expect("a handshake")
}

#[tokio::test]
async fn clients_that_say_nothing_after_the_handshake_do_not_keep_others_out() {
    let certificate = ServingCertificate::self_signed(&["127.0.0.1"]).expect("it is made");
    let few = ServerConfig {
        connections_max: 3,
        read_timeout: Duration::from_millis(200),
        ..ServerConfig::default()
    };
    let server = start_with(yes(), &certificate, few).await;
    let bundle = certificate.pem();
    let mut held = Vec::new();
    for protocol in [None, Some("http/1.1"), Some("h2")] {
        held.push(silent(server.address, &bundle, protocol).await);
    }
    let client = client(server.address, &bundle);
    let answer = timeout(Duration::from_secs(5), review(&client)).await;
    assert!(answer.expect("a place is free").is_ok());
    for mut connection in held {
        let mut sent = Vec::new();
        let closed = timeout(Duration::from_secs(5), connection.read_to_end(&mut sent)).await;
        drop(closed.expect("it was closed"));
    }
    server.token.cancel();
    server.task.await.expect("no panic");
}
