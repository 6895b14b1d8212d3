//! No silent failures: logs and errors when a real client cannot connect to a real server over TLS.

use kubist::api::core::v1::Pod;
use kubist::apimachinery::{ObjectMeta, ObjectName};
use kubist::apiserver::CertificateAuthority;
use kubist::cache::Written;
use kubist::client::Client;
use kubist::controller::{Action, Config as ControllerConfig, Controller, Error, RunError};
use kubist::informers::SharedInformerFactory;
use kubist::transport::{Auth, Config, Pem, Secret, Transport, Verify};
use kubist::{Server, ServerConfig};
use parking_lot::Mutex;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;

const PATIENCE: Duration = Duration::from_secs(30);
const CHECK_AUTHORITY: &str =
    "(check the certificate authority that is configured, and the server's name)";

/// What this thread logs.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// With a single subscriber, callsites first reached by other threads are cached as disabled. So
/// there are two.
pub(crate) struct Recording {
    log: Log,
    _here: DefaultGuard,
    _second: Dispatch,
}

impl Recording {
    pub(crate) fn begin() -> Self {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
        let second = tracing_subscriber::fmt().with_writer(io::sink);
        Self {
            log,
            _here: tracing::subscriber::set_default(subscriber.finish()),
            _second: Dispatch::new(second.finish()),
        }
    }

    /// The warnings of informers.
    fn warnings(&self) -> Vec<String> {
        self.warnings_of("Pod")
    }

    /// The warnings that contain a word.
    pub(crate) fn warnings_of(&self, word: &str) -> Vec<String> {
        let bytes = self.log.0.lock().clone();
        let text = String::from_utf8(bytes).unwrap();
        let of_it = |line: &&str| line.contains("WARN") && line.contains(word);
        text.lines().filter(of_it).map(str::to_owned).collect()
    }
}

async fn server() -> Server {
    let config = ServerConfig {
        controllers: [].into(),
        ..ServerConfig::default()
    };
    Server::start(config).await.unwrap()
}

/// A client of an address that trusts an authority.
fn client(address: SocketAddr, authority: String, auth: Auth) -> Client {
    let mut config = Config::new(format!("https://{address}").parse().unwrap());
    config.tls.verify = Verify::Authorities(Pem::Data(authority.into()));
    config.auth = auth;
    Client::new(Transport::new(config).unwrap(), Default::default())
}

/// Runs an informer and a controller with a client that cannot connect. The log and the errors all
/// contain `said` in one line; returns those lines.
async fn all_are_told(client: Client, said: &[&str]) -> Vec<String> {
    let recording = Recording::begin();
    let factory = SharedInformerFactory::new(client);
    let pods = factory.informer::<Pod>();
    factory.start();
    let failed = async {
        while pods.last_problem().is_none() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, failed).await.expect("it does not work");

    let controller = Controller::new("web", &pods).config(ControllerConfig {
        sync_timeout: Some(Duration::from_millis(100)),
        ..ControllerConfig::default()
    });
    let reconciler = |_: ObjectName| async { Ok::<_, Error>(Action::done()) };
    let error = controller.run(reconciler, CancellationToken::new()).await;
    let error = error.expect_err("there is no list");
    assert!(matches!(error, RunError::SyncTimeout { .. }), "{error:?}");

    let written = Written::saved(&ObjectMeta {
        name: "web".into(),
        resource_version: "7".into(),
        ..ObjectMeta::default()
    });
    let store = pods.lister_unsynced();
    let late = store.wait_for(&written, sleep(Duration::from_millis(10)));
    let late = late.await.expect_err("there is no list");

    let (synced, ()) = tokio::join!(pods.synced(), factory.shutdown());
    let synced = synced.map(|it| it.len()).expect_err("there is no list");
    let of_all = factory.wait_for_sync().await.expect_err("all stopped");
    let results = factory.sync_results().await;
    let result = results[0].problem.clone().expect("it did not work");

    let mut lines = recording.warnings();
    assert!(!lines.is_empty(), "nothing was logged");
    lines.extend([
        error.to_string(),
        late.to_string(),
        synced.to_string(),
        of_all.to_string(),
        result.to_string(),
    ]);
    for line in &lines {
        let complete = said.iter().all(|it| line.contains(it));
        assert!(complete && !line.contains('\n'), "{line}");
    }
    lines
}

/// Contract INF-21.
#[tokio::test]
async fn a_wrong_authority_is_named_with_what_to_do() {
    let server = server().await;
    let address = server.address();
    let place = address.port().to_string();
    let another = CertificateAuthority::new("another").unwrap();
    // A restarted server has an authority of the same name with another key.
    let former = CertificateAuthority::new("kubist-ca").unwrap();
    for (authority, reason) in [(another, "UnknownIssuer"), (former, "BadSignature")] {
        let client = client(address, authority.certificate_pem(), Auth::None);
        let reason = format!("invalid peer certificate: {reason}");
        all_are_told(client, &[&place, &reason, CHECK_AUTHORITY]).await;
    }
    server.shutdown().await;
}

/// Contract INF-21.
#[tokio::test]
async fn a_server_that_does_not_know_the_caller_is_named_with_what_to_do() {
    let server = server().await;
    let secret = "nobody-has-this-token";
    let token = Auth::Bearer(Secret::from(secret.to_owned()));
    let client = client(server.address(), server.api().ca_pem(), token);
    let lines = all_are_told(client, &["unauthorized", "(check the credentials)"]).await;
    assert!(
        lines.iter().all(|it| !it.contains(secret)),
        "a token is not for logs: {lines:?}"
    );
    server.shutdown().await;
}

/// Contract INF-21.
#[tokio::test]
async fn a_dead_server_is_named_with_what_to_do() {
    let server = server().await;
    let (address, authority) = (server.address(), server.api().ca_pem());
    server.shutdown().await;
    let client = client(address, authority, Auth::None);
    let said = [
        "the connection was refused",
        "(check the server's address, and that it runs)",
    ];
    all_are_told(client, &said).await;
}

/// Contract INF-21.
#[tokio::test]
async fn plain_http_to_a_tls_server_is_reported() {
    let server = server().await;
    let config = Config::new(format!("http://{}", server.address()).parse().unwrap());
    let client = Client::new(Transport::new(config).unwrap(), Default::default());
    all_are_told(client, &["check whether its address is https"]).await;
    server.shutdown().await;
}

/// Contract INF-21.
#[tokio::test]
async fn credentials_that_cannot_be_had_are_not_taken_for_a_bad_network() {
    let server = server().await;
    let file = Auth::TokenFile(PathBuf::from("/nowhere/token"));
    let client = client(server.address(), server.api().ca_pem(), file);
    let said = [
        "cannot get credentials",
        "/nowhere/token",
        "(check the user in the kubeconfig: its plugin or its token file)",
    ];
    let lines = all_are_told(client, &said).await;
    assert!(lines.iter().all(|it| !it.contains("network")), "{lines:?}");
    server.shutdown().await;
}
