//! The log of waits: without a server, and for an object that cannot be read.

use crate::log::Log;
use crate::server::{self, Reply, Server};
use crate::watches::{frame, pod, reply};
use futures_util::StreamExt as _;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Wire as _};
use kubist_apimachinery::{ListOptions, Status, StatusReason};
use kubist_client::{Api, Client, Config, WaitUntilError};
use kubist_codec::watch_stream::{EventKind, FrameObject, encode_frame};
use kubist_transport::{Endpoint, Transport};
use std::io;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// The one called `a`, readable.
fn readable() -> Pod {
    let mut pod = pod("a");
    pod.metadata.resource_version = "76".into();
    pod
}

/// A server that nobody listens at.
fn nobody() -> Api<Pod> {
    let connect = |_: Endpoint| async {
        io::Result::<tokio::io::DuplexStream>::Err(io::ErrorKind::ConnectionRefused.into())
    };
    let transport = kubist_transport::Config::new("http://in.process".parse().unwrap());
    let transport = Transport::with_connector(transport, connect).unwrap();
    Api::namespaced(Client::new(transport, Config::default()), "shop")
}

/// Contract CLIENT-4.
#[tokio::test(start_paused = true)]
async fn a_wait_for_a_missing_server_is_logged_and_names_the_problem_at_its_end() {
    let log = Log::begin();
    let found = nobody().wait_until_within("web", MINUTE, |_| true).await;
    let error = found.unwrap_err();
    let WaitUntilError::Timeout { problem, limit, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(*limit, MINUTE);
    let problem = problem.as_deref().unwrap();
    let text = error.to_string();
    assert!(
        text.contains("Pod shop/web") && text.contains(problem),
        "{text}"
    );
    let warnings = log.warnings();
    for said in [
        "GET /api/v1/namespaces/shop/pods got no answer",
        "connection refused",
        "(check the server's address, and that it runs)",
    ] {
        assert!(problem.contains(said), "{problem}");
        assert!(warnings[0].contains(said), "{warnings:?}");
    }
    assert!(
        warnings[0].contains("the wait for Pod shop/web continues"),
        "{warnings:?}"
    );
    assert!((2..=7).contains(&warnings.len()), "{warnings:?}");
    assert!(warnings[1].contains("left_out"), "{warnings:?}");
}

/// Contract CLIENT-4.
#[tokio::test(start_paused = true)]
async fn a_watch_that_goes_on_without_a_server_is_logged_and_can_be_asked() {
    let log = Log::begin();
    let options = ListOptions {
        resource_version: "5".into(),
        ..ListOptions::default()
    };
    let mut events = nobody().watch_on(&options).unwrap();
    assert_eq!(events.last_problem(), None);
    let nothing = tokio::time::timeout(MINUTE, events.next()).await;
    assert!(nothing.is_err());
    let problem = events.last_problem().unwrap();
    assert!(problem.contains("connection refused"), "{problem}");
    let warnings = log.warnings();
    assert!(
        warnings[0].contains("the watch of Pod in shop continues"),
        "{warnings:?}"
    );
    assert!((2..=7).contains(&warnings.len()), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_server_answers_has_no_problem_at_its_end() {
    let busy = Status::failure(500, StatusReason::InternalError, "no");
    let server = Server::new([
        Reply::status(&busy),
        list(&[readable().to_json()]),
        reply(Encoding::Json, Vec::new()).then_open(),
    ]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let error = pods.wait_until_within("a", MINUTE, |pod| pod.is_none());
    let error = error.await.unwrap_err();
    assert!(
        matches!(error, WaitUntilError::Timeout { problem: None, .. }),
        "{error:?}"
    );
}

fn list(items: &[Vec<u8>]) -> Reply {
    Reply::json(server::list::<Pod>(Encoding::Json, "", items))
}

fn unreadable() -> Vec<u8> {
    br#"{"metadata":{"name":"a","namespace":"shop","resourceVersion":"76"},"spec":7}"#.to_vec()
}

fn deleted_unreadably() -> Reply {
    let event = [
        br#"{"type":"DELETED","object":"#.as_slice(),
        &unreadable(),
        b"}",
    ];
    reply(Encoding::Json, event.concat()).then_open()
}

fn expired() -> Reply {
    let gone = Status::failure(410, StatusReason::Expired, "too old");
    let mut body = Vec::new();
    encode_frame(
        EventKind::Error,
        FrameObject::Json(&gone.to_json()),
        &mut body,
    );
    reply(Encoding::Json, body)
}

/// Contract CLIENT-1.
#[tokio::test(start_paused = true)]
async fn an_unreadable_listed_object_is_waited_for_and_its_deletion_is_observed() {
    let scripts = [
        // When the wait begins, and when it lists again.
        (vec![list(&[unreadable()]), deleted_unreadably()], 0),
        (
            vec![
                list(&[readable().to_json()]),
                expired(),
                list(&[unreadable()]),
                deleted_unreadably(),
            ],
            1,
        ),
    ];
    for (script, seen_first) in scripts {
        let log = Log::begin();
        let server = Server::new(script);
        let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
        let mut seen = 0;
        let gone = pods.wait_until_within("a", MINUTE, |pod| {
            seen += usize::from(pod.is_some());
            pod.is_none()
        });
        assert_eq!(gone.await.unwrap(), None);
        assert_eq!(seen, seen_first, "what cannot be read is not asked about");
        let warnings = log.warnings();
        let named = |it: &String| it.contains("shop/a cannot be read and counts as unchanged");
        assert!(warnings.iter().any(named), "{warnings:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_an_unreadable_object_names_the_problem_at_its_end() {
    let server = Server::new([
        list(&[unreadable()]),
        reply(Encoding::Json, Vec::new()).then_open(),
    ]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let error = pods.wait_until_within("a", MINUTE, |pod| pod.is_some());
    let text = error.await.unwrap_err().to_string();
    assert!(text.contains("shop/a cannot be read"), "{text}");
    // Once it can be read that is over.
    let server = Server::new([
        list(&[unreadable()]),
        reply(
            Encoding::Json,
            frame(Encoding::Json, EventKind::Modified, &readable()),
        )
        .then_open(),
    ]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let found = pods.wait_until_within("a", MINUTE, |pod| pod.is_some());
    assert!(found.await.unwrap().is_some());
}
