//! Keep-alive, chunked bodies, stale connections, gzip.

use crate::server::{Reply, Server, echo_header, fetch, get, post, status, text, watch};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;
use http::{HeaderValue, Request};
use kubist_transport::{Body, Endpoint, RateLimit, Transport};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};

fn server() -> Server {
    Server::http1(|request| match request.uri().path() {
        "/watch" => watch(),
        "/empty" => status(204, ""),
        "/host" => echo_header(request, "host"),
        "/agent" => echo_header(request, "user-agent"),
        _ => text("answer"),
    })
}

#[tokio::test(start_paused = true)]
async fn requests_one_after_the_other_share_a_connection() {
    let server = server();
    let transport = server.transport();
    for path in ["/", "/empty", "/", "/other"] {
        fetch(&transport, get(path)).await.unwrap();
    }
    let (_, host) = fetch(&transport, get("/host")).await.unwrap();
    assert_eq!(host, "in.process");
    let (_, agent) = fetch(&transport, get("/agent")).await.unwrap();
    assert!(agent.starts_with("kubist/"), "{agent}");
    assert_eq!(server.opened(), 1);
}

#[tokio::test(start_paused = true)]
async fn watches_have_a_connection_each_and_gets_go_beside_them() {
    let server = server();
    let transport = server.transport();
    let mut watches = join_all((0..20).map(|_| transport.send(get("/watch")))).await;
    for watch in &mut watches {
        let chunk = watch.as_mut().unwrap().body_mut().chunk().await.unwrap();
        assert_eq!(chunk.unwrap(), "first\n");
    }
    for _ in 0..5 {
        assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "answer");
    }
    assert_eq!(server.opened(), 21);
    drop(watches);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        transport.stats().connections_open,
        1,
        "an unread body closes its connection"
    );
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_of_connections_a_request_waits_for_one_that_comes_back() {
    let server = server();
    let mut config = server.config();
    config.pool.connections_max = 2;
    let transport = server.transport_with(config);
    let answers = join_all((0..20).map(|_| fetch(&transport, get("/")))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert!(server.opened() <= 2);

    let _watches = join_all((0..2).map(|_| transport.send(get("/watch")))).await;
    let error = transport.send(get("/")).await.unwrap_err();
    assert!(error.is_timeout() && error.is_connect(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_closed_while_idle_is_replaced_even_for_a_post() {
    let server = server();
    let transport = server.transport();
    fetch(&transport, get("/")).await.unwrap();
    server.close_all().await;
    assert_eq!(fetch(&transport, post("/")).await.unwrap().1, "answer");
    assert_eq!(server.opened(), 2);
}

/// Answers the first request on each connection, then closes it on the second without an answer.
fn closes_on_second_request(answered: Arc<AtomicUsize>) -> Transport {
    let connect = move |_: Endpoint| {
        let (client, mut server) = tokio::io::duplex(1 << 16);
        let answered = Arc::clone(&answered);
        let serve = async move {
            let mut buffer = [0; 4096];
            if server.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                answered.fetch_add(1, Ordering::SeqCst);
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                drop(server.write_all(answer).await);
                drop(server.read(&mut buffer).await);
            }
        };
        async move {
            // Detached on purpose: the task ends with its connection.
            let handle = tokio::runtime::Handle::current();
            drop(handle.spawn(serve));
            std::io::Result::Ok(client)
        }
    };
    Transport::with_connector(server().config(), connect).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_get_whose_connection_broke_is_sent_again_once_and_a_post_is_not() {
    let answered = Arc::new(AtomicUsize::new(0));
    let transport = closes_on_second_request(Arc::clone(&answered));
    for _ in 0..3 {
        assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "ok");
    }
    assert_eq!(answered.load(Ordering::SeqCst), 3);
    assert_eq!(transport.stats().retries, 2);

    let error = fetch(&transport, post("/")).await.unwrap_err();
    assert!(error.is_closed(), "{error:?}");
    assert_eq!(transport.stats().retries, 2);
}

#[tokio::test(start_paused = true)]
async fn idle_connections_are_closed_after_their_time() {
    let server = server();
    let transport = server.transport();
    fetch(&transport, get("/")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(91)).await;
    fetch(&transport, get("/")).await.unwrap();
    assert_eq!(server.opened(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_spaces_requests() {
    let server = server();
    let mut config = server.config();
    config.rate_limit = Some(RateLimit {
        per_second: 10.0,
        burst: 5,
    });
    let transport = server.transport_with(config);
    let start = Instant::now();
    for _ in 0..15 {
        fetch(&transport, get("/")).await.unwrap();
    }
    let elapsed = start.elapsed().as_millis();
    assert!((990..1100).contains(&elapsed), "{elapsed}");
}

fn gzip(parts: &[&str]) -> Reply {
    let body: Vec<u8> = parts
        .iter()
        .flat_map(|part| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.finish().unwrap()
        })
        .collect();
    let mut reply = text(body);
    reply
        .headers_mut()
        .insert("content-encoding", HeaderValue::from_static("gzip"));
    reply
}

#[tokio::test(start_paused = true)]
async fn gzip_is_asked_for_and_decoded_unless_the_request_speaks_for_itself() {
    let server = Server::http2(|request| match request.uri().path() {
        "/broken" => {
            let mut reply = text("not gzip");
            reply
                .headers_mut()
                .insert("content-encoding", HeaderValue::from_static("gzip"));
            reply
        }
        _ if request
            .headers()
            .get("accept-encoding")
            .is_some_and(|value| value == "gzip") =>
        {
            gzip(&["one ", "two ", "three"])
        }
        _ => text("plain"),
    });
    let transport = server.transport();
    let response = transport.send(get("/")).await.unwrap();
    assert!(!response.headers().contains_key("content-encoding"));
    assert_eq!(
        response.into_body().bytes(100).await.unwrap(),
        "one two three"
    );

    let own = Request::get("/")
        .header("accept-encoding", "identity")
        .body(Body::empty())
        .unwrap();
    assert_eq!(fetch(&transport, own).await.unwrap().1, "plain");

    let error = fetch(&transport, get("/broken")).await.unwrap_err();
    assert_eq!(error.to_string(), "the response body is not valid gzip");

    let mut config = server.config();
    config.accept_gzip = false;
    let transport = server.transport_with(config);
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "plain");
}

#[tokio::test]
async fn a_refused_connection_is_distinguished() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let config = kubist_transport::Config::new(format!("http://{free}").parse().unwrap());
    let error = Transport::new(config)
        .unwrap()
        .send(get("/"))
        .await
        .unwrap_err();
    assert!(error.is_connection_refused(), "{error:?}");
    assert_eq!(error.retry(), kubist_transport::Retry::Backoff);
    assert_eq!(error.to_string(), format!("cannot connect to {free}"));
}

#[tokio::test]
async fn tcp_carries_requests_and_counts_bytes() {
    let server = server();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepting = server.clone();
    server.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            accepting.accept(stream);
        }
    });
    let config = kubist_transport::Config::new(format!("http://{address}").parse().unwrap());
    let transport = Transport::new(config).unwrap();
    let answer = timeout(Duration::from_secs(10), fetch(&transport, get("/")))
        .await
        .unwrap();
    assert_eq!(answer.unwrap().1, "answer");
    let stats = transport.stats();
    assert!(
        stats.bytes_sent > 50 && stats.bytes_received > 50,
        "{stats:?}"
    );
    assert_eq!(stats.connections_opened, 1);
}
