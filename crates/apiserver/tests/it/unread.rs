//! Responses that are not read: watches and lists end, memory is bounded, and other clients are not
//! affected.

use crate::client::{Client, server_with, silent_server};
use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use kubist_apiserver::{Config, RunningServer};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const PATH: &str = "/api/v1/namespaces/default/configmaps";
/// The flow control window of a client that does not read.
const WINDOW: u32 = 64 << 10;
/// Events of 20 kB each: far more than the windows and buffers of a watcher.
const EVENTS: usize = 300;
/// Slightly more than twice the write timeout.
const LONGEST: Duration = Duration::from_secs(121);

/// A client over HTTP/2 that answers pings but does not read responses.
struct Unreading {
    sender: SendRequest<Empty<Bytes>>,
    _tasks: JoinSet<()>,
}

impl Unreading {
    async fn new(server: &RunningServer) -> Self {
        let (near, far) = tokio::io::duplex(64 << 10);
        server.serve_stream(far).await.expect("it runs");
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(4 * WINDOW);
        let (sender, connection) = builder
            .handshake(TokioIo::new(near))
            .await
            .expect("it works");
        let mut tasks = JoinSet::new();
        tasks.spawn(async { drop(connection.await) });
        Self {
            sender,
            _tasks: tasks,
        }
    }

    async fn get(&mut self, path: &str) -> Incoming {
        let request = Request::get(format!("https://localhost{path}")).body(Empty::new());
        let response = self
            .sender
            .send_request(request.expect("it is valid"))
            .await;
        let response = response.expect("it answers");
        assert_eq!(response.status(), 200, "{path}");
        response.into_body()
    }
}

async fn write(server: &RunningServer) {
    let mut writer = Client::in_memory(server, Version::HTTP_2).await;
    let text = "x".repeat(20_000);
    for index in 0..EVENTS {
        let body = json!({"metadata": {"name": format!("c{index}")}, "data": {"a": text}});
        assert_eq!(writer.post(PATH, &body).await.code, 201);
    }
}

/// Reads a watch until every object has occurred.
async fn read_all(mut body: Incoming) {
    let mut seen = 0;
    while seen < EVENTS {
        let frame = body.frame().await.expect("it goes on").expect("unbroken");
        let data = frame.into_data().expect("there are no trailers");
        // Each event is a line.
        seen += data.split(|byte| *byte == b'\n').count() - 1;
    }
}

async fn watcher_that_never_reads(server: RunningServer) {
    let mut unreading = Unreading::new(&server).await;
    let watch = format!("{PATH}?watch=true");
    let ignored = unreading.get(&watch).await;
    let mut reading = Unreading::new(&server).await;
    let read = reading.get(&watch).await;
    let both = async { tokio::join!(read_all(read), write(&server)) };
    timeout(Duration::from_secs(60), both)
        .await
        .expect("the other watcher sees all of it at once");

    // Its stream is reset after at most twice the write timeout; the connection continues.
    sleep(LONGEST).await;
    assert!(server.load().requests <= 1, "{:?}", server.load());
    let (received, error) = read_to_end(ignored).await;
    assert!(error, "it did not end as if it were over");
    assert!(received < 1 << 20, "{received} bytes were held");
    let again = unreading.get(&format!("{PATH}/c1")).await;
    assert!(again.collect().await.is_ok(), "the connection is fine");
    server.shutdown().await;
}

/// Returns the number of bytes received, and whether an error ended them.
async fn read_to_end(mut body: Incoming) -> (usize, bool) {
    let mut received = 0;
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => received += frame.data_ref().map_or(0, Bytes::len),
            Err(_) => return (received, true),
        }
    }
    (received, false)
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_never_reads_is_ended_without_the_cache() {
    watcher_that_never_reads(silent_server().await).await;
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_never_reads_is_ended_with_the_cache() {
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let cached = |registry: &mut kubist_registry::RegistryConfig| {
        registry.watch_cache.enabled = true;
    };
    watcher_that_never_reads(server_with(config, cached).await).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_read_is_ended_whatever_its_form() {
    let server = silent_server().await;
    write(&server).await;
    for query in ["", "?pretty=true", "?limit=200"] {
        let mut unreading = Unreading::new(&server).await;
        let ignored = unreading.get(&format!("{PATH}{query}")).await;
        assert_eq!(server.load().requests, 1, "{query}");
        sleep(LONGEST).await;
        assert_eq!(server.load().requests, 0, "{query}");
        assert!(ignored.collect().await.is_err(), "{query}");
    }
    server.shutdown().await;
}
