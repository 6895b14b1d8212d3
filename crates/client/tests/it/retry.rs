//! Retries and their pauses; virtual time.

use crate::server::{Reply, Server};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Status, StatusReason};
use kubist_client::{Api, ApiError, Config};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

fn busy(code: u16, seconds: &str) -> Reply {
    let status = Status::failure(code.into(), StatusReason::default(), "busy");
    Reply::status(&status).header("retry-after", seconds)
}

fn pods(server: &Server) -> Api<Pod> {
    Api::namespaced(server.client(), "shop")
}

fn web() -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    pod
}

/// The pauses between the requests that the server saw, in whole seconds.
fn pauses(server: &Server) -> Vec<u64> {
    let asked = server.asked();
    asked
        .windows(2)
        .map(|it| (it[1].at - it[0].at).as_secs())
        .collect()
}

/// Contract CLIENT-2.
#[tokio::test(start_paused = true)]
async fn the_server_is_given_the_time_that_it_asks_for() {
    let script = [
        busy(429, "2"),
        busy(503, "7"),
        busy(500, "0"),
        Reply::object(&web()),
    ];
    let server = Server::new(script);
    assert_eq!(pods(&server).get("web").await.unwrap(), web());
    assert_eq!(pauses(&server), [2, 7, 0]);
}

#[tokio::test(start_paused = true)]
async fn writes_wait_as_well_and_send_the_same_body() {
    let server = Server::new([busy(429, "1"), Reply::object(&web()).code(201)]);
    pods(&server).create(&web()).await.unwrap();
    let asked = server.asked();
    assert_eq!(pauses(&server), [1]);
    assert_eq!(
        (&asked[0].line, &asked[0].body),
        (&asked[1].line, &asked[1].body)
    );
    assert_eq!(
        asked[0].header("content-type"),
        asked[1].header("content-type")
    );
}

#[tokio::test(start_paused = true)]
async fn ten_retries_are_enough() {
    let server = Server::new((0..20).map(|_| busy(429, "1")));
    let error = pods(&server).get("web").await.unwrap_err();
    assert!(error.is_too_many_requests());
    assert_eq!(server.asked().len(), 11);
    assert_eq!(pauses(&server), [1; 10]);
}

/// Contract CLIENT-2.
#[tokio::test(start_paused = true)]
async fn only_what_the_server_asks_to_repeat_is_repeated() {
    let date = "Wed, 21 Oct 2026 07:28:00 GMT";
    for reply in [
        busy(409, "1"),
        busy(404, "1"),
        busy(429, date),
        busy(429, "-1"),
        busy(429, "61"),
        Reply::status(&Status::failure(
            503,
            StatusReason::ServiceUnavailable,
            "busy",
        )),
    ] {
        let server = Server::new([reply]);
        assert!(
            pods(&server)
                .get("web")
                .await
                .unwrap_err()
                .status()
                .is_some()
        );
        assert_eq!(server.asked().len(), 1);
    }
    let config = Config {
        retries_max: 0,
        ..Config::default()
    };
    let server = Server::new([busy(429, "1")]);
    let pods: Api<Pod> = Api::namespaced(server.client_with(config), "shop");
    assert_eq!(
        pods.get("web").await.unwrap_err().retry_after(),
        Some(Duration::from_secs(1))
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_tried_again_for_reads_only() {
    let client = |opened: Arc<Mutex<u32>>| {
        let connect = move |_: kubist_transport::Endpoint| {
            *opened.lock() += 1;
            let (client, server) = tokio::io::duplex(1024);
            drop(server);
            async move { std::io::Result::Ok(client) }
        };
        let config = kubist_transport::Config::new("http://in.process".parse().unwrap());
        let transport = kubist_transport::Transport::with_connector(config, connect).unwrap();
        kubist_client::Client::new(
            transport,
            Config {
                retries_max: 3,
                ..Config::default()
            },
        )
    };
    let (reads, writes) = (Arc::default(), Arc::default());
    let start = tokio::time::Instant::now();
    let pods: Api<Pod> = Api::namespaced(client(Arc::clone(&reads)), "shop");
    let error = pods.get("web").await.unwrap_err();
    assert!(matches!(error, ApiError::Transport { .. }), "{error:?}");
    assert_eq!(start.elapsed().as_secs(), 3);
    let pods: Api<Pod> = Api::namespaced(client(Arc::clone(&writes)), "shop");
    assert!(pods.create(&web()).await.is_err());
    assert_eq!(start.elapsed().as_secs(), 3);
    assert!(*reads.lock() > *writes.lock());
}

#[tokio::test]
async fn warnings_reach_their_handler() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let handler = Arc::clone(&heard);
    let config = Config {
        warnings: Arc::new(move |text: &str| handler.lock().push(text.to_owned())),
        ..Config::default()
    };
    let reply = Reply::object(&web())
        .header("warning", r#"299 - "unknown field \"spec.x\"""#)
        .header("warning", r#"199 - "nobody cares", 299 - "and old""#);
    let server = Server::new([reply]);
    let pods: Api<Pod> = Api::namespaced(server.client_with(config), "shop");
    pods.get("web").await.unwrap();
    assert_eq!(*heard.lock(), [r#"unknown field "spec.x""#, "and old"]);
}
