//! The log: one line per request, with its audit id and no secrets.

use crate::client::{Client, TOKEN, server};
use kubist_apiserver::Config;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::filter::LevelFilter;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kept {
    /// Lines about requests.
    fn requests(&self) -> Vec<Value> {
        let bytes = self.0.lock().clone();
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|it| !it.is_empty());
        let lines = lines.map(|line| serde_json::from_slice(line).expect("it is JSON"));
        lines
            .filter(|it: &Value| it["target"] == "kubist_apiserver::request")
            .collect()
    }
}

/// Captures what this thread logs while the guard lives.
fn record() -> (Kept, Recording) {
    let kept = Kept::default();
    let writer = kept.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_max_level(LevelFilter::INFO)
        .with_writer(move || writer.clone())
        .finish();
    let recording = Recording {
        _here: tracing::subscriber::set_default(subscriber),
        _second: Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish()),
    };
    (kept, recording)
}

/// With a single subscriber, callsites first reached by other threads are cached as disabled. So
/// there are two.
struct Recording {
    _here: DefaultGuard,
    _second: Dispatch,
}

#[tokio::test]
async fn each_request_is_one_line_with_its_id_and_nothing_secret() {
    let (kept, _guard) = record();
    let server = server(Config::default()).await;
    let client = Client::over_tls(&server, None, &["h2"]).await;
    let mut client = client
        .header("authorization", &format!("Bearer {TOKEN}"))
        .header("user-agent", "test/1.0")
        .header("audit-id", "id-of-the-client");
    let path = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"key": "hidden-treasure"}});
    let answer = client
        .post(&format!("{path}?fieldManager=hush-hush"), &secret)
        .await;
    assert_eq!(
        (answer.code, answer.header("audit-id")),
        (201, "id-of-the-client")
    );
    assert_eq!(client.get(&format!("{path}/nope")).await.code, 404);
    let mut stranger = Client::over_tls(&server, None, &["http/1.1"]).await;
    stranger = stranger.header("authorization", "Bearer guessed-wrong");
    let refused = stranger.get(path).await;
    assert_eq!((refused.code, refused.header("audit-id").len()), (401, 36));
    drop((client, stranger));
    server.shutdown().await;

    let lines = kept.requests();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    let first = &lines[0];
    assert_eq!(
        (&first["level"], &first["message"]),
        (&json!("INFO"), &json!("request"))
    );
    for (field, expected) in [
        ("audit_id", "id-of-the-client"),
        ("verb", "POST"),
        ("path", path),
        ("resource", "secrets"),
        ("user", "token-admin"),
        ("user_agent", "test/1.0"),
        ("protocol", "HTTP/2.0"),
    ] {
        assert_eq!(text(first, field), expected, "{first}");
    }
    assert_eq!(first["code"], 201);
    assert!(
        first["latency_ms"].is_u64() && first["bytes"].as_u64() > Some(50),
        "{first}"
    );
    assert_eq!(
        (text(&lines[1], "verb"), &lines[1]["code"]),
        ("GET".to_owned(), &json!(404))
    );
    assert_eq!(
        (text(&lines[2], "user"), &lines[2]["code"]),
        (String::new(), &json!(401))
    );
    assert_eq!(text(&lines[2], "audit_id"), refused.header("audit-id"));
    let all = String::from_utf8(kept.0.lock().clone()).expect("it is text");
    for secret in [
        TOKEN,
        "guessed-wrong",
        "hidden-treasure",
        "hush-hush",
        "Bearer",
    ] {
        assert!(!all.contains(secret), "{secret} is in the log:\n{all}");
    }
}

#[tokio::test]
async fn slow_requests_are_warned_of_and_watches_are_not_slow() {
    let (kept, _guard) = record();
    let config = Config {
        listen: None,
        slow_request: Duration::ZERO,
        ..Config::default()
    };
    let server = server(config).await;
    let mut client = Client::in_memory(&server, http::Version::HTTP_2).await;
    assert_eq!(client.get("/livez").await.code, 200);
    let watch = "/api/v1/namespaces?watch=true&timeoutSeconds=1";
    assert_eq!(client.get(watch).await.code, 200);
    drop(client);
    server.shutdown().await;
    let lines = kept.requests();
    let shown = |line: &Value| {
        (
            line["level"].clone(),
            line["message"].clone(),
            line["verb"].clone(),
        )
    };
    assert_eq!(
        shown(&lines[0]),
        (json!("WARN"), json!("slow request"), json!("GET"))
    );
    assert_eq!(
        shown(&lines[1]),
        (json!("INFO"), json!("request"), json!("WATCH"))
    );
    assert!(lines[1]["latency_ms"].as_u64() >= Some(900), "{lines:?}");
}
