//! Exec, attach, port-forward and other upgrades: bytes in both directions.

use super::fake::Fake;
use super::{PODS, cluster, quiet};
use kubist_apiserver::RunningServer;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, sleep};

/// Sends an upgrade request, and returns the head of the answer and the connection.
async fn upgrade(server: &RunningServer, method: &str, path: &str) -> (String, DuplexStream) {
    let (mut near, far) = tokio::io::duplex(64 << 10);
    server.serve_stream(far).await.expect("it runs");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
         Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\
         Content-Length: 0\r\n\r\n"
    );
    near.write_all(request.as_bytes()).await.expect("it reads");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(near.read_u8().await.expect("it answers"));
    }
    let head = String::from_utf8(head).expect("it is text");
    (head.to_ascii_lowercase(), near)
}

async fn echoed(stream: &mut DuplexStream, text: &str) {
    stream.write_all(text.as_bytes()).await.expect("it reads");
    let mut bytes = vec![0; text.len()];
    stream.read_exact(&mut bytes).await.expect("it answers");
    assert_eq!(bytes, text.as_bytes());
}

#[tokio::test]
async fn streams_lead_to_the_kubelet_of_the_pods_node() {
    let (server, fake, _client) = cluster(|_| {}).await;
    for (path, asked) in [
        (
            "exec?container=a&stdin=true&stdout=true&tty=true&command=sh&command=-c&command=a%20b",
            "/exec/default/p/a?command=sh&command=-c&command=a+b&input=1&output=1&tty=1",
        ),
        (
            "attach?stdout=true&stderr=true",
            "/attach/default/p/a?error=1&output=1",
        ),
        (
            "portforward?ports=80&ports=x&ports=81",
            "/portforward/default/p?port=80%2c81",
        ),
        ("proxy/chat?room=1", "/chat?room=1"),
    ] {
        let (head, mut stream) = upgrade(&server, "POST", &format!("{PODS}/p/{path}")).await;
        assert!(head.starts_with("http/1.1 101 "), "{path}: {head}");
        assert!(head.contains("\r\nupgrade: spdy/3.1\r\n"), "{head}");
        assert!(
            head.contains(&format!("\r\nx-asked: {asked}\r\n")),
            "{head}"
        );
        assert_eq!(server.load().backend_connections, 1);
        echoed(&mut stream, "hello").await;
        stream.shutdown().await.expect("it is open");
        let mut rest = String::new();
        stream.read_to_string(&mut rest).await.expect("it ends");
        assert_eq!(rest, "bye", "the other side still had something to say");
        quiet(&server, &fake).await;
    }
    assert_eq!(fake.dialed.lock()[..3], ["node-1:10250"; 3]);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_tunnel_has_no_deadline_and_ends_at_shutdown() {
    let (server, fake, _client) = cluster(|_| {}).await;
    let path = format!("{PODS}/p/exec?command=sh");
    let (head, mut stream) = upgrade(&server, "GET", &path).await;
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    echoed(&mut stream, "a").await;
    sleep(Duration::from_secs(24 * 3600)).await;
    echoed(&mut stream, &"b".repeat(100_000)).await;
    assert_eq!((server.load().requests, fake.open()), (1, 1));
    let began = Instant::now();
    server.shutdown().await;
    assert!(began.elapsed() < Duration::from_secs(1));
    let mut rest = Vec::new();
    drop(stream.read_to_end(&mut rest).await);
    ends(&fake).await;
}

async fn ends(fake: &Fake) {
    for _ in 0..1_000 {
        if fake.open() == 0 {
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("{} connections did not end", fake.open());
}

#[tokio::test]
async fn a_client_that_vanishes_takes_its_connections_with_it() {
    let (server, fake, _client) = cluster(|_| {}).await;
    let path = format!("{PODS}/p/exec?command=sh");
    for _ in 0..20 {
        let (head, stream) = upgrade(&server, "POST", &path).await;
        assert!(head.starts_with("http/1.1 101 "), "{head}");
        drop(stream);
    }
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_kubelet_that_refuses_an_upgrade_is_heard() {
    let (server, fake, _client) = cluster(|_| {}).await;
    let path = format!("{PODS}/p/proxy/refuse");
    let (head, refused) = upgrade(&server, "POST", &path).await;
    assert!(head.starts_with("http/1.1 403 "), "{head}");
    drop(refused);
    let path = format!("{PODS}/p:1/proxy/x");
    let (head, mut stream) = upgrade(&server, "POST", &path).await;
    assert!(head.starts_with("http/1.1 500 "), "{head}");
    let mut body = vec![0; 512];
    let count = stream.read(&mut body).await.expect("it answers");
    let body = String::from_utf8_lossy(&body[..count]).into_owned();
    let why = "error dialing backend: dial tcp 10.1.0.1:1: connect: connection refused";
    assert!(body.contains(why), "{body}");
    drop(stream);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn open_connections_are_limited() {
    let (server, fake, mut client) = cluster(|backends| backends.connections_max = 1).await;
    let path = format!("{PODS}/p/exec?command=sh");
    let (head, stream) = upgrade(&server, "POST", &path).await;
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    let refused = client.get(&format!("{PODS}/p/log")).await;
    assert_eq!((refused.code, refused.header("retry-after")), (429, "1"));
    drop(stream);
    quiet(&server, &fake).await;
    assert_eq!(client.get(&format!("{PODS}/p/log")).await.code, 200);
    server.shutdown().await;
}

/// Offers protocols of a WebSocket, and returns the code of the answer.
async fn offered(server: &RunningServer, protocols: &str) -> String {
    let (mut near, far) = tokio::io::duplex(64 << 10);
    server.serve_stream(far).await.expect("it runs");
    let request = format!(
        "GET {PODS}/p/exec?command=sh HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Protocol: {protocols}\r\n\r\n"
    );
    near.write_all(request.as_bytes()).await.expect("it reads");
    let mut line = vec![0; 12];
    near.read_exact(&mut line).await.expect("it answers");
    String::from_utf8(line).expect("it is text")
}

#[tokio::test]
async fn protocols_that_a_kubelet_does_not_know_are_refused_until_it_declares_them() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    assert_eq!(offered(&server, "v5.channel.k8s.io").await, "HTTP/1.1 400");
    assert!(fake.dialed.lock().is_empty(), "it was not asked");
    let both = "v5.channel.k8s.io, v4.channel.k8s.io";
    assert_eq!(offered(&server, both).await, "HTTP/1.1 101");
    let declared = r#"{"status": {"declaredFeatures": ["ExtendWebSocketsToKubelet"]}}"#;
    let kind = "application/merge-patch+json";
    let patched = client
        .ask("PATCH", "/api/v1/nodes/n/status", kind, declared)
        .await;
    assert_eq!(patched.code, 200, "{:?}", patched.bytes);
    assert_eq!(offered(&server, "v5.channel.k8s.io").await, "HTTP/1.1 101");
    quiet(&server, &fake).await;
    server.shutdown().await;
}
