//! Several watches on one connection, further connections when needed, and no starvation.

use crate::server::{Server, fetch, flood, get, post, text, watch};
use futures_util::future::join_all;
use kubist_transport::{Endpoint, Phase, Transport, TransportError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout};

fn server() -> Server {
    Server::http2(|request| match request.uri().path() {
        "/watch" => watch(),
        "/flood" => flood(),
        "/long" => text(vec![b'x'; 1 << 20]),
        _ => text("answer"),
    })
}

#[tokio::test(start_paused = true)]
async fn a_hundred_and_fifty_watches_leave_room_for_a_get() {
    let server = server().streams_max(100);
    let transport = server.transport();
    let mut watches = join_all((0..150).map(|_| transport.send(get("/watch")))).await;
    for watch in &mut watches {
        let body = watch.as_mut().unwrap().body_mut();
        assert_eq!(body.chunk().await.unwrap().unwrap(), "first\n");
    }
    assert_eq!(server.opened(), 2);

    let start = Instant::now();
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "answer");
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(transport.stats().connections_open, 2);
    assert_eq!(transport.stats().requests, 151);
}

#[tokio::test(start_paused = true)]
async fn a_small_stream_limit_is_respected_from_the_first_request() {
    let server = server().streams_max(3);
    let transport = server.transport();
    let watches = join_all((0..10).map(|_| transport.send(get("/watch"))));
    let watches = timeout(Duration::from_secs(1), watches).await.unwrap();
    assert!(watches.iter().all(Result::is_ok));
    assert_eq!(server.opened(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_server_of_one_stream_serves_a_request_beside_a_watch() {
    let server = server().streams_max(1);
    let transport = server.transport();
    let _watch = transport.send(get("/watch")).await.unwrap();
    for _ in 0..3 {
        assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "answer");
    }
    assert_eq!(server.opened(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_first_requests_opens_one_connection() {
    let server = server();
    let transport = server.transport();
    let answers = join_all((0..50).map(|_| fetch(&transport, get("/")))).await;
    assert!(
        answers
            .iter()
            .all(|answer| answer.as_ref().unwrap().1 == "answer")
    );
    assert_eq!(server.opened(), 1);
}

#[tokio::test(start_paused = true)]
async fn unread_bodies_do_not_starve_others() {
    let server = server();
    let transport = server.transport();
    let floods = join_all((0..12).map(|_| transport.send(get("/flood")))).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // All twelve windows of 4 MiB are full by now, on one connection.
    assert!(transport.stats().bytes_received >= 12 * (4 << 20));
    let answer = timeout(Duration::from_secs(1), fetch(&transport, get("/long"))).await;
    assert_eq!(answer.unwrap().unwrap().1.len(), 1 << 20);
    assert_eq!(server.opened(), 1);
    drop(floods);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_watch_gives_its_place_back() {
    let server = server();
    let transport = server.transport();
    for _ in 0..300 {
        let mut watch = transport.send(get("/watch")).await.unwrap();
        assert!(watch.body_mut().chunk().await.unwrap().is_some());
    }
    assert_eq!(server.opened(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_cut_watches_end_with_an_error_and_requests_reconnect() {
    let server = server();
    let transport = server.transport();
    let mut watch = transport.send(get("/watch")).await.unwrap();
    watch.body_mut().chunk().await.unwrap();
    server.close_all().await;
    let error = watch.body_mut().chunk().await.unwrap_err();
    assert!(error.is_closed(), "{error:?}");
    assert!(watch.body_mut().chunk().await.unwrap().is_none());

    for _ in 0..2 {
        assert_eq!(fetch(&transport, post("/")).await.unwrap().1, "answer");
        server.close_all().await;
    }
    assert_eq!(server.opened(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_found_by_pings() {
    let server = server();
    let hung = Arc::new(tokio::sync::Notify::new());
    let connect = {
        let (server, hung) = (server.clone(), Arc::clone(&hung));
        move |_: Endpoint| {
            let (client, far) = tokio::io::duplex(1 << 16);
            let (server, hung) = (server.clone(), Arc::clone(&hung));
            async move {
                let mut near = server.connect();
                server.spawn(async move {
                    let mut far = far;
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut far, &mut near) => {}
                        () = hung.notified() => std::future::pending().await,
                    }
                });
                std::io::Result::Ok(client)
            }
        }
    };
    let transport = Transport::with_connector(server.config(), connect).unwrap();
    let mut watch = transport.send(get("/watch")).await.unwrap();
    watch.body_mut().chunk().await.unwrap();
    hung.notify_one();
    let start = Instant::now();
    let error = watch.body_mut().chunk().await.unwrap_err();
    assert!(error.is_closed(), "{error:?}");
    assert!(
        start.elapsed() <= Duration::from_secs(46),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "answer");
}

#[tokio::test(start_paused = true)]
async fn one_failed_connection_fails_all_requests_that_wait_for_it() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let connect = move |_: Endpoint| {
        counted.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            std::io::Result::<tokio::io::DuplexStream>::Err(
                std::io::ErrorKind::ConnectionRefused.into(),
            )
        }
    };
    let transport = Transport::with_connector(server().config(), connect).unwrap();
    let results = join_all((0..50).map(|_| transport.send(get("/")))).await;
    for result in results {
        let error = result.unwrap_err();
        assert!(
            error.is_connection_refused() && error.is_connect(),
            "{error:?}"
        );
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_the_handshake_is_given_up() {
    let held = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let connect = move |_: Endpoint| {
        let (client, silent) = tokio::io::duplex(1 << 16);
        held.lock().push(silent);
        async move { std::io::Result::Ok(client) }
    };
    let transport = Transport::with_connector(server().config(), connect).unwrap();
    let error = transport.send(get("/")).await.unwrap_err();
    assert!(
        matches!(
            error,
            TransportError::Timeout {
                phase: Phase::Handshake,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn connections_that_a_burst_left_are_closed_when_idle() {
    let server = server().streams_max(10);
    let transport = server.transport();
    drop(join_all((0..30).map(|_| transport.send(get("/watch")))).await);
    assert_eq!(transport.stats().connections_open, 4);
    tokio::time::sleep(Duration::from_secs(91)).await;
    fetch(&transport, get("/")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(transport.stats().connections_open, 1);
}

#[tokio::test(start_paused = true)]
async fn a_body_outlives_the_transport_and_then_the_connection_ends() {
    let server = server();
    let transport = server.transport();
    let response = transport.send(get("/long")).await.unwrap();
    drop(transport);
    assert_eq!(
        response.into_body().bytes(1 << 20).await.unwrap().len(),
        1 << 20
    );
    timeout(Duration::from_secs(1), server.all_closed())
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_response_timeout_does_not_cut_a_watch() {
    let server = server();
    let mut config = server.config();
    config.timeouts.response = Some(Duration::from_secs(5));
    let transport = server.transport_with(config);
    let mut watch = transport.send(get("/watch")).await.unwrap();
    watch.body_mut().chunk().await.unwrap();
    let next = timeout(Duration::from_secs(10 * 60), watch.body_mut().chunk()).await;
    assert!(next.is_err(), "the watch went on for ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_body_over_the_readers_limit_is_refused() {
    let server = server();
    let response = server.transport().send(get("/long")).await.unwrap();
    let error = response.into_body().bytes(1000).await.unwrap_err();
    assert!(matches!(
        error,
        TransportError::BodyTooLarge { limit: 1000 }
    ));
    let response = server.transport().send(get("/flood")).await.unwrap();
    let error = response.into_body().bytes(100_000).await.unwrap_err();
    assert!(matches!(
        error,
        TransportError::BodyTooLarge { limit: 100_000 }
    ));
}

#[tokio::test(start_paused = true)]
async fn a_draining_connection_keeps_its_watches_and_gets_no_new_requests() {
    let server = server();
    let transport = server.transport();
    let mut watch = transport.send(get("/watch")).await.unwrap();
    watch.body_mut().chunk().await.unwrap();
    server.drain();
    for _ in 0..3 {
        assert_eq!(fetch(&transport, post("/")).await.unwrap().1, "answer");
    }
    assert_eq!(server.opened(), 2);
    let next = timeout(Duration::from_secs(20), watch.body_mut().chunk()).await;
    assert!(next.is_err(), "the watch goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_on_several_threads_share_a_few_connections() {
    let server = server();
    let transport = server.transport();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let transport = transport.clone();
        tasks.spawn(async move {
            let mut watch = transport.send(get("/watch")).await.unwrap();
            watch.body_mut().chunk().await.unwrap().unwrap();
            for _ in 0..20 {
                assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "answer");
            }
        });
    }
    let all = timeout(Duration::from_secs(60), tasks.join_all()).await;
    assert_eq!(all.unwrap().len(), 200);
    assert!((3..=5).contains(&server.opened()), "{}", server.opened());
    assert_eq!(transport.stats().requests, 200 * 21);
    assert_eq!(transport.stats().retries, 0);
}
