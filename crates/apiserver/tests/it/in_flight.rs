//! Limits of requests in flight, and the responses beyond them.

use crate::client::{Client, server};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use http::{Request, Response, Version};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use kubist_apiserver::{Config, RunningServer, StaticToken};
use kubist_registry::User;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const PATH: &str = "/api/v1/namespaces/default/configmaps";
const LIMIT: usize = 3;

type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// A client over HTTP/2 with a token that reads no response.
struct Unreading {
    sender: SendRequest<Body>,
    token: &'static str,
    _tasks: JoinSet<()>,
}

impl Unreading {
    async fn new(server: &RunningServer, token: &'static str) -> Self {
        let (near, far) = tokio::io::duplex(64 << 10);
        server.serve_stream(far).await.expect("it runs");
        let mut builder = Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new());
        // Windows that admit heads but no response bodies.
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
        self.ask("GET", path).await
    }

    async fn ask(&mut self, method: &str, path: &str) -> Response<Incoming> {
        let request = self.request(method, path, stream::empty().boxed());
        let answer = self.sender.send_request(request);
        answer.await.expect("it answers")
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        body: BoxStream<'static, Result<Frame<Bytes>, Infallible>>,
    ) -> Request<Body> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://localhost{path}"))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(StreamBody::new(body));
        request.expect("it is valid")
    }

    /// Posts what is sent to the first of these two; the second has the response.
    fn post(&mut self) -> (mpsc::Sender<Bytes>, JoinSet<Response<Incoming>>) {
        let (bytes, coming) = mpsc::channel(1);
        let body = stream::unfold(coming, |mut coming| async {
            let bytes: Bytes = coming.recv().await?;
            Some((Ok(Frame::data(bytes)), coming))
        });
        let request = self.request("POST", PATH, body.boxed());
        let answer = self.sender.send_request(request);
        let mut tasks = JoinSet::new();
        tasks.spawn(async { answer.await.expect("it answers") });
        (bytes, tasks)
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
async fn requests_beyond_the_limit_get_429_except_the_systems() {
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
    // Watches, probes and writes do not count, and system users have their own seats.
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

    // A client that does not read loses its seat when another needs it.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(alice.get(PATH).await.status(), 200);
    server.shutdown().await;
}

fn named(name: &str) -> Bytes {
    let body = json!({"metadata": {"name": name}});
    Bytes::from(body.to_string())
}

async fn code(mut answer: JoinSet<Response<Incoming>>) -> u16 {
    let answer = answer.join_next().await.expect("there is one");
    answer.expect("it does not panic").status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn heads_without_their_bodies_do_not_block_writes() {
    let server = start().await;
    let mut slow = Unreading::new(&server, "alice").await;
    let mut posts: Vec<_> = (0..50).map(|_| slow.post()).collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.load().requests, posts.len(), "all of them wait");
    for (at, token) in ["alice", "alice", "node"].into_iter().enumerate() {
        let mut honest = Unreading::new(&server, token).await;
        let (body, answer) = honest.post();
        body.send(named(&format!("honest-{at}")))
            .await
            .expect("it is read");
        drop(body);
        assert_eq!(code(answer).await, 201);
        // So that its response is not waited for.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let (body, answer) = posts.pop().expect("there are many");
    body.send(named("late")).await.expect("it is read");
    drop(body);
    assert_eq!(code(answer).await, 201, "those who wait are answered, too");
    let (_body, answer) = posts.pop().expect("there are many");
    assert_eq!(code(answer).await, 504, "within the time of any request");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_when_there_is_no_room_is_refused_as_one_that_came_before() {
    let server = start().await;
    let mut slow = Unreading::new(&server, "alice").await;
    let (body, answer) = slow.post();
    tokio::time::sleep(Duration::from_millis(10)).await;
    // Its response is not read, so it keeps the only seat for a second.
    let other = slow.ask("DELETE", &format!("{PATH}/nobody")).await;
    assert_eq!(other.status(), 404);
    let refused = slow.ask("DELETE", &format!("{PATH}/nobody")).await;
    assert_eq!(refused.status(), 429);
    body.send(named("m")).await.expect("it is read");
    drop(body);
    let mut answer = answer;
    let answer = answer.join_next().await.expect("there is one");
    let answer = answer.expect("it does not panic");
    assert_eq!(answer.status(), 429);
    for name in ["retry-after", "content-type"] {
        assert_eq!(answer.headers()[name], refused.headers()[name]);
    }
    drop(other.into_body().collect());
    server.shutdown().await;
}
