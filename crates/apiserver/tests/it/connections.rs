//! Bodies, limits, compression, and shutdown.

use crate::client::{Client, server, silent_server};
use http::Version;
use kubist_apiserver::{Config, RunningServer};
use serde_json::json;
use std::io::Read;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn a_body_that_was_not_read_does_not_become_the_next_request() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_11).await;
    let body = "x".repeat(100_000);
    let answer = client.ask("POST", PATH, "text/plain", body).await;
    assert_eq!(answer.code, 415);
    assert_eq!(answer.header("connection"), "");
    assert_eq!(client.get(PATH).await.code, 200);
    server.shutdown().await;
}

/// Returns the server's response to these bytes.
async fn say(server: &RunningServer, bytes: &[u8]) -> String {
    let (mut near, far) = tokio::io::duplex(64 << 10);
    server.serve_stream(far).await.expect("it runs");
    near.write_all(bytes).await.expect("it accepts");
    let mut answer = Vec::new();
    drop(near.read_to_end(&mut answer).await);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_request_has_one_host_and_before_http_1_1_it_needs_none() {
    let server = silent_server().await;
    let host = "host: localhost\r\n";
    let two = host.repeat(2);
    for (version, hosts, expected) in [
        ("1.1", host, "ok"),
        ("1.1", "host:\r\n", "ok"),
        ("1.1", "host: [::1]:6443\r\n", "ok"),
        ("1.0", "", "ok"),
        ("1.1", "", "400 Bad Request: missing required Host header"),
        ("1.1", &two, "400 Bad Request"),
        ("1.0", &two, "400 Bad Request"),
        (
            "1.1",
            "host: a b{\r\n",
            "400 Bad Request: malformed Host header",
        ),
    ] {
        let request = format!("GET /livez HTTP/{version}\r\n{hosts}connection: close\r\n\r\n");
        let answer = say(&server, request.as_bytes()).await;
        let (head, body) = answer.split_once("\r\n\r\n").expect("it is whole");
        assert_eq!(body, expected, "{version} {hosts:?}: {head}");
        let code = if expected == "ok" { " 200 OK" } else { " 400 " };
        assert!(head.contains(code), "{head}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn chunks_that_cannot_be_read_are_reported_as_upstream_does() {
    let server = silent_server().await;
    for (chunks, expected) in [
        ("zz\r\n{}\r\n0\r\n\r\n", "invalid byte in chunk length"),
        ("-1\r\n{}\r\n0\r\n\r\n", "invalid byte in chunk length"),
        (
            "fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
            "http chunk length too large",
        ),
        ("2\r\n{}x\r\n0\r\n\r\n", "malformed chunked encoding"),
    ] {
        let head = format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n"
        );
        let answer = say(&server, format!("{head}{chunks}").as_bytes()).await;
        let (head, body) = answer.split_once("\r\n\r\n").expect("it is whole");
        assert!(head.starts_with("HTTP/1.1 500 "), "{chunks:?}: {head}");
        let status: serde_json::Value = serde_json::from_str(body).expect("it is a Status");
        assert_eq!(status["message"], expected, "{chunks:?}");
        assert_eq!(status["reason"], serde_json::Value::Null);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_on_both_protocols() {
    let server = silent_server().await;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        let mut client = Client::in_memory(&server, version).await;
        let body = json!({"metadata": {"name": "big"}, "data": {"a": "x".repeat(3_200_000)}});
        let answer = client.post(PATH, &body).await;
        assert_eq!(answer.code, 413, "{version:?}");
        let expected = "Request entity too large: limit is 3145728";
        assert_eq!(answer.json()["message"], expected);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn large_lists_come_whole_plain_compressed_and_in_protobuf() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let text = "abcdefgh".repeat(1_000);
    for index in 0..40 {
        let name = format!("c{index:02}");
        let body = json!({"metadata": {"name": name}, "data": {"a": text}});
        assert_eq!(client.post(PATH, &body).await.code, 201);
    }
    let plain = client.get(PATH).await;
    assert_eq!(plain.json()["items"].as_array().map(Vec::len), Some(40));

    let packed = Client::in_memory(&server, Version::HTTP_11).await;
    let mut packed = packed.header("accept-encoding", "gzip");
    let packed = packed.get(PATH).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("vary"), "Accept-Encoding");
    assert!(packed.bytes.len() < plain.bytes.len() / 10);
    let mut unpacked = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&packed.bytes[..]);
    decoder.read_to_end(&mut unpacked).expect("it is gzip");
    assert_eq!(unpacked, plain.bytes);

    let media_type = "application/vnd.kubernetes.protobuf";
    let protobuf = Client::in_memory(&server, Version::HTTP_2).await;
    let protobuf = protobuf.header("accept", media_type).get(PATH).await;
    assert_eq!(protobuf.header("content-type"), media_type);
    let mut list =
        kubist_codec::list_stream::ListStream::new(kubist_apimachinery::wire::Encoding::Protobuf);
    list.push(protobuf.bytes);
    let mut items = 0;
    while list.next_item().expect("it is a list").is_some() {
        items += 1;
    }
    assert_eq!(items, 40);
    assert!(list.finish().is_ok());
    server.shutdown().await;
}

#[tokio::test]
async fn responses_name_the_request_and_are_not_cached() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let answer = client.get("/api").await;
    assert_eq!(answer.header("cache-control"), "no-cache, private");
    assert_eq!(answer.header("audit-id").len(), 36);
    let mut client = client.header("audit-id", "mine");
    assert_eq!(client.get("/nope").await.header("audit-id"), "mine");
    let head = client.ask("HEAD", "/healthz", "", "").await;
    assert_eq!((head.code, head.bytes.len()), (200, 0));
    let head = client.ask("HEAD", PATH, "", "").await;
    assert_eq!((head.code, head.bytes.len()), (405, 0));
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_that_speaks_no_tls_costs_nothing_and_others_go_on() {
    let server = server(Config::default()).await;
    let address = server.address().expect("it listens");
    assert!(address.ip().is_loopback());
    let mut plain = TcpStream::connect(address).await.expect("it listens");
    plain
        .write_all(b"GET / HTTP/1.1\r\n\r\n")
        .await
        .expect("it accepts");
    let mut rest = Vec::new();
    drop(plain.read_to_end(&mut rest).await);
    assert!(!rest.starts_with(b"HTTP/1.1 200"));
    let mut client = Client::over_tls(&server, server.admin(), &["h2"]).await;
    assert_eq!(client.get("/livez").await.code, 200);
    server.shutdown().await;
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nothing listens any more"
    );
}

#[tokio::test]
async fn shutdown_ends_watches_and_leaves_nothing() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let path = format!("{PATH}?watch=true");
    let response = client.send("GET", &path, "", "").await.expect("it answers");
    let ended = tokio::time::timeout(Duration::from_secs(4), server.shutdown()).await;
    assert!(ended.is_ok(), "it did not wait for the watch");
    let body = http_body_util::BodyExt::collect(response.into_body()).await;
    drop(body);
    assert!(client.send("GET", PATH, "", "").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_stops_reading_loses_its_connection() {
    let server = silent_server().await;
    let (near, far) = tokio::io::duplex(16 << 10);
    server.serve_stream(far).await.expect("it runs");
    let mut reader = near;
    let request = format!("GET {PATH}?watch=true HTTP/1.1\r\nhost: localhost\r\n\r\n");
    reader
        .write_all(request.as_bytes())
        .await
        .expect("it accepts");
    let mut writer = Client::in_memory(&server, Version::HTTP_2).await;
    for index in 0..40 {
        let text = "x".repeat(20_000);
        let body = json!({"metadata": {"name": format!("c{index}")}, "data": {"a": text}});
        assert_eq!(writer.post(PATH, &body).await.code, 201);
    }
    // Reads nothing for longer than the write timeout.
    tokio::time::sleep(Duration::from_secs(120)).await;
    let mut received = Vec::new();
    let end = tokio::time::timeout(Duration::from_secs(1), reader.read_to_end(&mut received)).await;
    assert!(end.is_ok(), "the connection has ended");
    assert!(
        received.len() < 600_000,
        "{} bytes were held",
        received.len()
    );
    assert_eq!(writer.get(PATH).await.code, 200, "others are not affected");
    server.shutdown().await;
}
