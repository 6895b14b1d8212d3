//! Shutdown as clients see it: watches end properly, one after the other, and connections get
//! GOAWAY.

use crate::client::{Client, server, silent_server};
use http::Version;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use kubist_apiserver::{Config, GOAWAY_CHANCE_MAX};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// Returns the events of a watch to its end; it must not be truncated.
async fn events(body: Incoming) -> Vec<Value> {
    let bytes = body
        .collect()
        .await
        .expect("it ends, and is not cut")
        .to_bytes();
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|it| !it.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).expect("it is JSON"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn watches_end_whole_with_a_bookmark_and_not_all_at_once() {
    const WATCHES: usize = 40;
    let config = Config {
        listen: None,
        watch_drain: Duration::from_secs(4),
        ..Config::default()
    };
    let server = server(config).await;
    let mut writer = Client::in_memory(&server, Version::HTTP_2).await;
    let mut clients = Vec::new();
    let mut watches = JoinSet::new();
    for number in 0..WATCHES {
        let version = [Version::HTTP_11, Version::HTTP_2][number % 2];
        let mut client = Client::in_memory(&server, version).await;
        let path = format!("{PATH}?watch=true&allowWatchBookmarks=true&resourceVersion=0");
        let answer = client.send("GET", &path, "", "").await.expect("it answers");
        watches.spawn(async move {
            let events = events(answer.into_body()).await;
            (events, Instant::now())
        });
        clients.push(client);
    }
    let created = writer
        .post(PATH, &json!({"metadata": {"name": "a"}}))
        .await
        .json();
    let version = created["metadata"]["resourceVersion"].clone();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    let mut ending = JoinSet::new();
    ending.spawn(server.shutdown());
    let mut ends = Vec::new();
    while let Some(watch) = watches.join_next().await {
        let (events, end) = watch.expect("it does not panic");
        let kinds: Vec<&Value> = events.iter().map(|it| &it["type"]).collect();
        // The first one ends the initial events.
        assert_eq!(kinds, ["BOOKMARK", "ADDED", "BOOKMARK"], "{events:?}");
        assert_eq!(events[2]["object"]["metadata"]["resourceVersion"], version);
        ends.push(end - begun);
    }
    ends.sort();
    assert!(ends[WATCHES - 1] <= Duration::from_secs(5), "{ends:?}");
    let first = ends
        .iter()
        .filter(|it| **it < Duration::from_secs(2))
        .count();
    assert!((5..=WATCHES - 5).contains(&first), "{ends:?}");
    ending.join_all().await;
    for mut client in clients {
        assert!(
            client.send("GET", PATH, "", "").await.is_err(),
            "it got GOAWAY"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_bookmarks_ends_whole_too() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let path = format!("{PATH}?watch=true");
    let answer = client.send("GET", &path, "", "").await.expect("it answers");
    let mut watch = JoinSet::new();
    watch.spawn(events(answer.into_body()));
    tokio::time::sleep(Duration::from_millis(10)).await;
    server.shutdown().await;
    assert_eq!(watch.join_all().await, [Vec::<Value>::new()]);
}

#[tokio::test]
async fn requests_under_way_are_answered_before_the_end() {
    let server = silent_server().await;
    let (mut near, far) = tokio::io::duplex(64 << 10);
    server.serve_stream(far).await.expect("it runs");
    let body = json!({"metadata": {"name": "last"}}).to_string();
    let (first, rest) = body.split_at(5);
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{first}",
        body.len()
    );
    near.write_all(head.as_bytes()).await.expect("it accepts");
    let mut other = Client::in_memory(&server, Version::HTTP_2).await;
    let under_way = "apiserver_current_inflight_requests{request_kind=\"mutating\"} 1\n";
    loop {
        let scrape = other.get("/metrics").await.bytes;
        if String::from_utf8_lossy(&scrape).contains(under_way) {
            break;
        }
    }
    let mut ending = JoinSet::new();
    ending.spawn(server.shutdown());
    while other.send("GET", "/livez", "", "").await.is_ok() {
        tokio::task::yield_now().await;
    }
    near.write_all(rest.as_bytes())
        .await
        .expect("it still accepts");
    let mut answer = Vec::new();
    near.read_to_end(&mut answer)
        .await
        .expect("it answers, and ends");
    let answer = String::from_utf8_lossy(&answer).to_lowercase();
    assert!(answer.starts_with("http/1.1 201"), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
    ending.join_all().await;
}

#[tokio::test]
async fn some_requests_have_their_connection_sent_goaway_and_lose_nothing() {
    let config = Config {
        listen: None,
        goaway_chance: GOAWAY_CHANCE_MAX,
        ..Config::default()
    };
    let server = server(config).await;
    let (mut connections, mut answered) = (0, 0);
    while answered < 1_000 {
        connections += 1;
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        while answered < 1_000 {
            let Ok(answer) = client.send("GET", "/livez", "", "").await else {
                break;
            };
            let body = answer
                .into_body()
                .collect()
                .await
                .expect("it is answered to its end");
            assert_eq!(body.to_bytes(), "ok");
            answered += 1;
        }
    }
    // 20 are expected; fewer than 5 or more than 60 happen once in a million runs.
    assert!((5..60).contains(&connections), "{connections}");
    let mut old = Client::in_memory(&server, Version::HTTP_11).await;
    for _ in 0..500 {
        assert_eq!(old.get("/livez").await.bytes, "ok");
    }
    server.shutdown().await;
}

/// Reads frames until the server ends its half, and answers its settings and its ping.
async fn leave(near: &mut DuplexStream) {
    const ACKNOWLEDGED: u8 = 1;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    let mut head = [0; 9];
    while near.read_exact(&mut head).await.is_ok() {
        let [_, high, low, kind, flags, ..] = head;
        let mut payload = vec![0; usize::from(u16::from_be_bytes([high, low]))];
        near.read_exact(&mut payload)
            .await
            .expect("frames are whole");
        if matches!(kind, SETTINGS | PING) && flags & ACKNOWLEDGED == 0 {
            let echo = if kind == PING { payload } else { Vec::new() };
            let length = u8::try_from(echo.len()).expect("it is small");
            let answer = [&[0, 0, length, kind, ACKNOWLEDGED, 0, 0, 0, 0], &echo[..]].concat();
            near.write_all(&answer).await.expect("the server reads");
        }
    }
}

/// A client that still reads the last answers tells so, and must not have its connection reset.
#[tokio::test(start_paused = true)]
async fn what_a_client_sends_after_the_last_answer_is_read_for_a_second() {
    const WINDOW_UPDATE: [u8; 13] = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let server = silent_server().await;
    let (mut near, far) = tokio::io::duplex(64 << 10);
    server.serve_stream(far).await.expect("it runs");
    let opening = [
        &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..],
        &[0, 0, 0, 4, 0, 0, 0, 0, 0],
    ];
    near.write_all(&opening.concat()).await.expect("it reads");
    let mut ending = JoinSet::new();
    ending.spawn(server.shutdown());
    leave(&mut near).await;
    let end = Instant::now();
    for _ in 0..9 {
        near.write_all(&WINDOW_UPDATE)
            .await
            .expect("it still reads");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // It does not wait for ever.
    ending.join_all().await;
    assert!(
        end.elapsed() < Duration::from_secs(2),
        "{:?}",
        end.elapsed()
    );
    near.write_all(&WINDOW_UPDATE)
        .await
        .expect_err("it is gone");
}
