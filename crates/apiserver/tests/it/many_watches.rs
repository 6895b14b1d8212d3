//! Ten thousand watches over five hundred connections, a fifth of which never read.

use crate::client::{Client, silent_server};
use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::rt::Executor;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use kubist_apiserver::RunningServer;
use serde_json::json;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::task::JoinSet;

const CONNECTIONS: usize = 500;
const WATCHES_EACH: usize = 20;
const WATCHES: i64 = 10_000;
/// One connection in this many is never read.
const SILENT_ONE_IN: usize = 5;
const WRITES: usize = 4;
/// Approximate bytes of an event.
const VALUE_BYTES: usize = 2_000;
/// Memory limit per watch with its share of a connection, on both sides, while a fifth of the
/// clients do not read.
const BYTES_MAX: i64 = 24_000;

const PATH: &str = "https://localhost/api/v1/namespaces/default/configmaps";

/// A connection with its watches.
struct Watcher {
    /// While it is locked, the connection makes no progress.
    frozen: Arc<AtomicBool>,
    bodies: Vec<Incoming>,
    connection: JoinSet<()>,
    _sender: http2::SendRequest<Empty<Bytes>>,
}

/// Runs the tasks of a connection until it is frozen.
#[derive(Clone)]
struct Freezing(Arc<AtomicBool>, TokioExecutor);

struct Freezable<F>(Arc<AtomicBool>, Pin<Box<F>>);

impl<F: Future> Future for Freezable<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.0.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        self.1.as_mut().poll(cx)
    }
}

impl<F: Future + Send + 'static> Executor<F> for Freezing
where
    F::Output: Send,
{
    fn execute(&self, task: F) {
        self.1
            .execute(Freezable(Arc::clone(&self.0), Box::pin(task)));
    }
}

impl Watcher {
    async fn new(server: &RunningServer) -> Self {
        let (near, far): (DuplexStream, DuplexStream) = tokio::io::duplex(16 << 10);
        server.serve_stream(far).await.expect("it runs");
        let frozen = Arc::<AtomicBool>::default();
        let executor = Freezing(Arc::clone(&frozen), TokioExecutor::new());
        let mut builder = http2::Builder::new(executor);
        builder.timer(TokioTimer::new());
        let made = builder.handshake(TokioIo::new(near)).await;
        let (mut sender, running) = made.expect("HTTP/2 works");
        let mut connection = JoinSet::new();
        let running = Freezable(Arc::clone(&frozen), Box::pin(running));
        connection.spawn(async { drop(running.await) });
        let mut bodies = Vec::new();
        for _ in 0..WATCHES_EACH {
            let request = Request::get(format!("{PATH}?watch=true"));
            let request = request.body(Empty::new()).expect("it is valid");
            let answer = sender.send_request(request).await.expect("it answers");
            assert_eq!(answer.status(), 200);
            bodies.push(answer.into_body());
        }
        Self {
            frozen,
            bodies,
            connection,
            _sender: sender,
        }
    }

    /// Reads everything, to the end.
    async fn read(self) -> usize {
        let mut reading = JoinSet::new();
        for mut body in self.bodies {
            reading.spawn(async move {
                let mut read = 0;
                while let Some(Ok(frame)) = body.frame().await {
                    read += frame.into_data().map_or(0, |data| data.len());
                }
                read
            });
        }
        let mut read = 0;
        while let Some(done) = reading.join_next().await {
            read += done.expect("it does not panic");
        }
        drop(self.connection);
        read
    }
}

async fn long_running(client: &mut Client) -> i64 {
    let scrape = client.get("/metrics").await.bytes;
    let text = String::from_utf8_lossy(&scrape).into_owned();
    let line = text
        .lines()
        .find(|line| line.starts_with("apiserver_longrunning_requests{"));
    let value = line.and_then(|line| line.rsplit(' ').next());
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or_default()
}

/// The memory of the test includes the clients.
#[test]
fn ten_thousand_watches_stay_within_a_bound_and_silent_connections_are_ended() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("it builds");
    let mut kept = None;
    let held = allocation_counter::measure(|| kept = Some(runtime.block_on(crowd())));
    let (server, mut client, readers, silent) = kept.expect("it was made");
    let each = held.bytes_current / WATCHES;
    println!("{each} bytes a watch, at most {}", held.bytes_max / 10_000);
    assert!(each <= BYTES_MAX, "{each} bytes a watch");
    runtime.block_on(async move {
        assert_eq!(long_running(&mut client).await, WATCHES);
        // Longer than a write may be pending, or a ping unanswered.
        tokio::time::sleep(Duration::from_secs(180)).await;
        // The old connection was idle, so it was evicted.
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        let silent_watches = i64::try_from(silent.len() * WATCHES_EACH).expect("it is small");
        assert_eq!(long_running(&mut client).await, WATCHES - silent_watches);
        drop((silent, client));
        server.shutdown().await;
        let read = readers.join_all().await;
        let least = WATCHES_EACH * WRITES * VALUE_BYTES;
        assert!(read.iter().all(|read| *read >= least), "{read:?}");
    });
}

async fn crowd() -> (RunningServer, Client, JoinSet<usize>, Vec<Watcher>) {
    let server = silent_server().await;
    let mut writer = Client::in_memory(&server, Version::HTTP_2).await;
    let (mut readers, mut silent) = (JoinSet::new(), Vec::new());
    for number in 0..CONNECTIONS {
        let watcher = Watcher::new(&server).await;
        if number % SILENT_ONE_IN == 0 {
            watcher.frozen.store(true, Ordering::Relaxed);
            silent.push(watcher);
        } else {
            readers.spawn(watcher.read());
        }
    }
    let path = "/api/v1/namespaces/default/configmaps";
    for number in 0..WRITES {
        let text = "x".repeat(VALUE_BYTES);
        let body = json!({"metadata": {"name": format!("c{number}")}, "data": {"a": text}});
        assert_eq!(writer.post(path, &body).await.code, 201);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    (server, writer, readers, silent)
}
