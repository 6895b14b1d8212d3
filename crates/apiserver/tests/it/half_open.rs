//! Clients that stop half-way, and clients that vanish: their cost is bounded in time.
//!
//! Each costs one connection, at most one request, and the bytes that it sent, for no longer than
//! the limit that each test states.

use crate::client::{Client, TOKEN, server, silent_server};
use http::Version;
use kubist_apiserver::{Config, RunningServer};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, sleep, timeout};

const PATH: &str = "/api/v1/namespaces/default/configmaps";
const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

async fn connect(server: &RunningServer) -> DuplexStream {
    let (near, far) = tokio::io::duplex(64 << 10);
    server.serve_stream(far).await.expect("it runs");
    near
}

/// Returns what the server sends until it closes the connection, and how long that takes.
async fn until_end(client: &mut DuplexStream) -> (String, Duration) {
    let start = Instant::now();
    let mut answer = Vec::new();
    let end = timeout(Duration::from_secs(3600), client.read_to_end(&mut answer));
    drop(end.await.expect("the server ends it"));
    let answer = String::from_utf8_lossy(&answer).into_owned();
    (answer, start.elapsed())
}

/// Waits until the server has only this many connections.
async fn quiet(server: &RunningServer, connections: usize) {
    for _ in 0..1_000 {
        let load = server.load();
        if (load.connections, load.requests) == (connections, 0) {
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("after a second there is still {:?}", server.load());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_before_its_request_is_whole_is_given_up_in_time() {
    let server = silent_server().await;
    let config = Config::default();
    let idle = config.header_timeout + config.idle_timeout;
    for said in [
        "",
        "P",
        "PRI * HTTP/2.0\r\n",
        "GET",
        "GET /api/v1 HTTP/1.1",
        "GET /api/v1 HTTP/1.1\r\nhost: loc",
        "GET /api/v1 HTTP/1.1\r\nhost: localhost\r\n",
        PREFACE,
    ] {
        let mut client = connect(&server).await;
        client.write_all(said.as_bytes()).await.expect("it accepts");
        let (answer, after) = until_end(&mut client).await;
        assert!(after <= idle, "{said:?}: {after:?}");
        assert!(!answer.contains("200"), "{said:?}: {answer}");
        quiet(&server, 0).await;
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_byte_by_byte_has_no_more_time_than_any_other() {
    let server = silent_server().await;
    let mut client = connect(&server).await;
    let start = Instant::now();
    let head = format!("GET {PATH} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    for byte in head.into_bytes() {
        if client.write_all(&[byte]).await.is_err() {
            break;
        }
        sleep(Duration::from_secs(5)).await;
    }
    let (_, after) = until_end(&mut client).await;
    assert_eq!(after, Duration::ZERO, "it had ended already");
    let limit = Config::default().header_timeout;
    assert!(start.elapsed() <= limit + Duration::from_secs(5));
    quiet(&server, 0).await;
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_or_drips_is_answered_with_a_timeout_and_the_connection_ends() {
    let server = silent_server().await;
    for drip in [false, true] {
        let mut client = connect(&server).await;
        let head = format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: 1000\r\n\r\n{{"
        );
        client.write_all(head.as_bytes()).await.expect("it accepts");
        let start = Instant::now();
        if drip {
            for _ in 0..12 {
                sleep(Duration::from_secs(5)).await;
                drop(client.write_all(b" ").await);
            }
        }
        let (answer, _) = until_end(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
        assert!(answer.contains("did not complete within the allotted timeout"));
        // A request has a minute; discarding its rest another second.
        let waited = start.elapsed();
        assert!(waited <= Duration::from_secs(62), "{waited:?}");
        quiet(&server, 0).await;
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_ends_on_both_protocols_and_a_watch_is_not_idle() {
    let server = silent_server().await;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        let mut watcher = Client::in_memory(&server, version).await;
        let path = format!("{PATH}?watch=true&timeoutSeconds=1000");
        let watch = watcher
            .send("GET", &path, "", "")
            .await
            .expect("it answers");
        let mut idle = Client::in_memory(&server, version).await;
        assert_eq!(idle.get(PATH).await.code, 200);
        assert_eq!(server.load().connections, 2, "{version:?}");
        sleep(Duration::from_secs(200)).await;
        assert_eq!(server.load().connections, 1, "{version:?}");
        assert_eq!(server.load().requests, 1, "{version:?}");
        drop((watch, watcher, idle));
        quiet(&server, 0).await;
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_hangs_up_is_noticed_although_nothing_happens() {
    let server = silent_server().await;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        let mut watcher = Client::in_memory(&server, version).await;
        let path = format!("{PATH}?watch=true");
        let watch = watcher
            .send("GET", &path, "", "")
            .await
            .expect("it answers");
        assert_eq!(server.load().requests, 1);
        drop((watch, watcher));
        quiet(&server, 0).await;
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_answers_no_ping_is_gone_after_a_minute_and_a_half() {
    let server = silent_server().await;
    let mut client = connect(&server).await;
    // The preface, empty settings, and GET of a watch: indexed method and scheme, literal path.
    let path = format!("{PATH}?watch=true");
    let mut head = vec![0x82, 0x87, 0x41, 9];
    head.extend_from_slice(b"localhost");
    head.extend_from_slice(&[0x44, u8::try_from(path.len()).expect("it is short")]);
    head.extend_from_slice(path.as_bytes());
    let mut bytes = PREFACE.as_bytes().to_vec();
    bytes.extend_from_slice(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    let length = u8::try_from(head.len()).expect("it is short");
    bytes.extend_from_slice(&[0, 0, length, 1, 5, 0, 0, 0, 1]);
    bytes.extend_from_slice(&head);
    client.write_all(&bytes).await.expect("it accepts");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.load().requests, 1, "the watch has begun");
    let (_, after) = until_end(&mut client).await;
    let config = Config::default();
    assert!(
        after <= config.ping_interval + config.write_timeout,
        "{after:?}"
    );
    quiet(&server, 0).await;
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_is_cut_creates_nothing_and_leaves_nothing() {
    let server = silent_server().await;
    let body = json!({"metadata": {"name": "cut"}, "data": {"a": "x".repeat(50_000)}}).to_string();
    let mut client = connect(&server).await;
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{}",
        body.len(),
        &body[..body.len() / 2]
    );
    client.write_all(head.as_bytes()).await.expect("it accepts");
    sleep(Duration::from_millis(10)).await;
    assert_eq!(server.load().requests, 1);
    drop(client);
    quiet(&server, 0).await;
    let mut other = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(other.get(&format!("{PATH}/cut")).await.code, 404);
    server.shutdown().await;
}

/// TCP keep-alive: the timer runs on the server's end of a connection.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_silent_client_over_tcp_is_asked_for_by_the_operating_system() {
    let server = server(Config::default()).await;
    let port = server.address().expect("it listens").port();
    let mut watcher = Client::over_tls(&server, server.admin(), &["http/1.1"]).await;
    let path = format!("{PATH}?watch=true");
    let watch = watcher
        .send("GET", &path, "", "")
        .await
        .expect("it answers");
    let local = format!(":{port:04X}");
    let asks = || {
        let table = std::fs::read_to_string("/proc/self/net/tcp").expect("Linux has it");
        table.lines().any(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            // Local address, state (1 is established), timer (2 is keep-alive).
            columns[1].ends_with(&local) && columns[3] == "01" && columns[5].starts_with("02:")
        })
    };
    // Until sent data is acknowledged, another timer runs.
    for _ in 0..500 {
        if asks() {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    assert!(asks());
    drop(watch);
    server.shutdown().await;
}

/// Sends a request without a body, and reads until the answer ends with a text.
async fn ask(client: &mut DuplexStream, path: &str, until: &str) {
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\r\n");
    client.write_all(head.as_bytes()).await.expect("it is open");
    let mut answer = Vec::new();
    while !answer.ends_with(until.as_bytes()) {
        let read = client.read_buf(&mut answer).await.expect("it is open");
        assert_ne!(
            read,
            0,
            "closed after {:?}",
            String::from_utf8_lossy(&answer)
        );
    }
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_delivered_a_stream_serves_further_requests_for_as_long_as_they_come() {
    let server = silent_server().await;
    let mut client = connect(&server).await;
    let watch = format!("{PATH}?watch=true&timeoutSeconds=1");
    ask(&mut client, &watch, "\r\n0\r\n\r\n").await;
    for _ in 0..20 {
        sleep(Duration::from_secs(15)).await;
        ask(&mut client, "/version", "}").await;
    }
    server.shutdown().await;
}
