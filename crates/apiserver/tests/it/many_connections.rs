//! Ten thousand concurrent connections, and their limit.

use crate::client::{Client, TOKEN, server, silent_server};
use http::Version;
use kubist_apiserver::Config;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{sleep, timeout};

const CONNECTIONS: usize = 10_000;
/// Memory of an idle connection after one request, on both sides.
const BYTES_EACH_MAX: usize = 64 << 10;
const REQUEST: &[u8] = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Sends a request and reads the response.
async fn ask(client: &mut DuplexStream) {
    client.write_all(REQUEST).await.expect("it accepts");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\nok") {
        let read = client.read_buf(&mut answer).await.expect("it answers");
        assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
    }
}

/// Resident memory of this process in bytes; 0 if unknown.
fn memory() -> usize {
    let table = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = table.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|it| it.trim().strip_suffix(" kB"));
    kilobytes.and_then(|it| it.trim().parse().ok()).unwrap_or(0) << 10
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_idle_connections_cost_little_and_others_go_on() {
    let server = silent_server().await;
    let mut other = Client::in_memory(&server, Version::HTTP_2).await;
    let before = memory();
    let mut idle = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let (mut near, far) = tokio::io::duplex(4 << 10);
        server.serve_stream(far).await.expect("it runs");
        ask(&mut near).await;
        idle.push(near);
    }
    assert_eq!(server.load().connections, CONNECTIONS + 1);
    let each = memory().saturating_sub(before) / CONNECTIONS;
    println!("{CONNECTIONS} idle connections, {each} bytes each");
    assert!(each < BYTES_EACH_MAX, "{each}");
    let path = "/api/v1/namespaces";
    let answered = timeout(Duration::from_secs(10), other.get(path)).await;
    assert_eq!(answered.expect("at once").code, 200);
    // Connections that wake up are served as before.
    for client in idle.iter_mut().step_by(1_000) {
        ask(client).await;
    }
    drop(idle);
    for _ in 0..1_000 {
        if server.load().connections == 1 {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.load().connections, 1, "nothing is left of them");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn beyond_the_bound_connections_wait_until_one_ends() {
    let server = server(Config {
        listen: None,
        connections_max: 2,
        ..Config::default()
    })
    .await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let (near, far) = tokio::io::duplex(4 << 10);
        server.serve_stream(far).await.expect("it runs");
        clients.push(near);
    }
    let mut third = clients.pop().expect("there are three");
    for client in &mut clients {
        ask(client).await;
    }
    let waiting = timeout(Duration::from_secs(10), ask(&mut third)).await;
    assert!(waiting.is_err(), "it waits");
    assert_eq!(server.load().connections, 2);
    clients.pop();
    let mut answer = [0; 15];
    let answered = timeout(Duration::from_secs(1), third.read_exact(&mut answer)).await;
    answered
        .expect("its turn has come")
        .expect("it is answered");
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    server.shutdown().await;
}

#[tokio::test]
async fn who_does_not_say_who_they_are_makes_room_for_who_comes() {
    let server = server(Config {
        connections_max: 4,
        ..Config::default()
    })
    .await;
    let in_time = Duration::from_secs(10);
    let mut strangers = Vec::new();
    for _ in 0..4 {
        let mut stranger = Client::over_tls(&server, None, &["h2"]).await;
        assert_eq!(stranger.get("/livez").await.code, 200);
        strangers.push(stranger);
    }
    let token = format!("Bearer {TOKEN}");
    let mut known = Vec::new();
    for _ in 0..4 {
        let honest = timeout(in_time, Client::over_tls(&server, None, &["h2"])).await;
        let honest = honest.expect("there is room for it");
        let mut honest = honest.header("authorization", &token);
        assert_eq!(honest.get("/api").await.code, 200);
        known.push(honest);
        // The most recently used stays longest; failed attempts below take no room.
        let stays = known.len() < 4;
        let last = strangers.last_mut().expect("there are four");
        let asked = last.send("GET", "/livez", "", "").await;
        assert_eq!(asked.is_ok(), stays, "{}", known.len());
    }
    let more = timeout(
        Duration::from_millis(300),
        Client::over_tls(&server, None, &["h2"]),
    );
    assert!(more.await.is_err(), "who is known stays");
    for honest in &mut known {
        assert_eq!(honest.get("/api").await.code, 200);
    }
    assert_eq!(server.load().connections, 4);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_takes_no_places_of_its_servers_clients() {
    let server = server(Config {
        listen: None,
        connections_max: 1,
        ..Config::default()
    })
    .await;
    let own = server.in_process();
    let mut streams = Vec::new();
    for _ in 0..10 {
        let mut stream = own.open().await.expect("it runs");
        ask(&mut stream).await;
        streams.push(stream);
    }
    let (mut near, far) = tokio::io::duplex(4 << 10);
    server.serve_stream(far).await.expect("it runs");
    let answered = timeout(Duration::from_secs(1), ask(&mut near)).await;
    answered.expect("its place is free");
    for stream in &mut streams {
        ask(stream).await;
    }
    drop(streams);
    server.shutdown().await;
    assert!(own.open().await.is_err());
}
