//! How many requests are answered at a time, and what the others are told.

use crate::client::{Client, server};
use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use kubist_apiserver::{Config, RunningServer, StaticToken};
use kubist_registry::User;
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;

const PATH: &str = "/api/v1/namespaces/default/configmaps";
const LIMIT: usize = 3;

/// A client over HTTP/2 with a token, which reads no answer.
struct Unreading {
    sender: SendRequest<Empty<Bytes>>,
    token: &'static str,
    _tasks: JoinSet<()>,
}

impl Unreading {
    async fn new(server: &RunningServer, token: &'static str) -> Self {
        let (near, far) = tokio::io::duplex(64 << 10);
        server.serve_stream(far).await.expect("it runs");
        let mut builder = Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new());
        // So much that heads come and answers do not.
        builder.initial_stream_window_size(0);
        let handshake = builder.handshake(TokioIo::new(near)).await;
        let (sender, connection) = handshake.expect("it works");
        let mut tasks = JoinSet::new();
        tasks.spawn(async { drop(connection.await) });
        Self {
            sender,
            token,
            _tasks: tasks,
        }
    }

    async fn get(&mut self, path: &str) -> Response<Incoming> {
        let request = Request::get(format!("https://localhost{path}"))
            .header("authorization", format!("Bearer {}", self.token))
            .body(Empty::new());
        let answer = self.sender.send_request(request.expect("it is valid"));
        answer.await.expect("it answers")
    }
}

async fn start() -> RunningServer {
    let token = |name: &str, group: &str| StaticToken {
        token: name.to_owned(),
        user: User {
            name: name.into(),
            groups: vec![group.into()],
            ..User::default()
        },
    };
    server(Config {
        listen: None,
        tokens: vec![token("alice", "people"), token("node", "system:nodes")],
        requests_max: LIMIT,
        mutating_requests_max: 1,
        ..Config::default()
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn more_requests_than_the_limit_are_told_to_come_again_and_the_systems_are_not() {
    let server = start().await;
    let mut alice = Unreading::new(&server, "alice").await;
    let mut kept = Vec::new();
    for _ in 0..LIMIT {
        let answer = alice.get(PATH).await;
        assert_eq!(answer.status(), 200);
        kept.push(answer);
    }
    let refused = alice.get(PATH).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "1");
    // Watches, probes and writes are not among them, and the system has places of its own.
    let watch = alice.get(&format!("{PATH}?watch=true")).await;
    assert_eq!(watch.status(), 200);
    assert_eq!(alice.get("/livez").await.status(), 200);
    let mut node = Unreading::new(&server, "node").await;
    for _ in 0..LIMIT {
        let answer = node.get(PATH).await;
        assert_eq!(answer.status(), 200);
        kept.push(answer);
    }
    assert_eq!(node.get(PATH).await.status(), 429);
    let mut admin = Client::in_memory(&server, Version::HTTP_11).await;
    let body = json!({"metadata": {"name": "m"}});
    assert_eq!(admin.post(PATH, &body).await.code, 201);

    // Who reads nothing is passed by once there is need.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(alice.get(PATH).await.status(), 200);
    server.shutdown().await;
}
