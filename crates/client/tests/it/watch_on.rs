//! Resumable watches, waiting for one object, and retries after a conflict; virtual time.

use crate::server::{self, Reply, Server};
use crate::watches::{frame, pod, reply};
use futures_util::StreamExt as _;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Wire};
use kubist_apimachinery::{ListOptions, Status, StatusReason};
use kubist_cache::WatchItem;
use kubist_client::{Api, ApiError, RequestError, Retries, retry_on, retry_on_conflict};
use kubist_codec::watch_stream::{EventKind, FrameObject, encode_frame};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn at(name: &str, version: &str) -> Pod {
    let mut pod = pod(name);
    pod.metadata.resource_version = version.into();
    pod
}

fn events(events: &[(EventKind, Pod)]) -> Reply {
    let frames = events
        .iter()
        .map(|(kind, pod)| frame(Encoding::Json, *kind, pod));
    reply(Encoding::Json, frames.collect::<Vec<_>>().concat())
}

fn failure(code: i32, reason: StatusReason) -> Status {
    Status::failure(code, reason, "no")
}

/// A watch that the server ends with an error event.
fn error_event(status: &Status) -> Reply {
    let mut body = Vec::new();
    encode_frame(
        EventKind::Error,
        FrameObject::Json(&status.to_json()),
        &mut body,
    );
    reply(Encoding::Json, body)
}

fn from(version: &str) -> ListOptions {
    ListOptions {
        resource_version: version.into(),
        ..ListOptions::default()
    }
}

async fn follow(server: &Server) -> Vec<Result<WatchItem<Pod>, ApiError>> {
    let pods: Api<Pod> = Api::all(server.client());
    pods.watch_on(&from("5")).unwrap().collect().await
}

/// The versions from which watches began, and the whole seconds between them.
fn starts(server: &Server) -> Vec<(String, u64)> {
    let asked = server.asked();
    let version = |line: &str| {
        let (_, rest) = line.split_once("resourceVersion=").unwrap();
        rest.split('&').next().unwrap().to_owned()
    };
    let begin = asked[0].at;
    asked
        .iter()
        .map(|it| (version(&it.line), (it.at - begin).as_secs()))
        .collect()
}

/// Contract CLIENT-3.
#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_from_the_last_version_and_at_most_once_a_second() {
    use EventKind::{Added, Bookmark, Modified};
    let gone = failure(410, StatusReason::Expired);
    let server = Server::new([
        events(&[(Added, at("a", "6")), (Modified, at("a", "7"))]),
        events(&[(Bookmark, at("", "9"))]),
        events(&[]),
        events(&[(Modified, at("a", "12"))]).then_cut(),
        error_event(&gone),
    ]);
    let mut seen = follow(&server).await;
    let error = seen.pop().unwrap().unwrap_err();
    assert!(error.is_expired(), "{error}");
    let seen: Vec<_> = seen.into_iter().map(Result::unwrap).collect();
    let expected = [
        WatchItem::Added(at("a", "6")),
        WatchItem::Modified(at("a", "7")),
        WatchItem::Modified(at("a", "12")),
    ];
    assert_eq!(seen, expected, "bookmarks are used, not delivered");
    let starts = starts(&server);
    let starts: Vec<_> = starts.iter().map(|it| (it.0.as_str(), it.1)).collect();
    assert_eq!(starts, [("5", 0), ("7", 1), ("9", 2), ("9", 3), ("12", 4)]);
}

#[tokio::test(start_paused = true)]
async fn errors_that_pass_are_waited_out_and_others_end_the_watch() {
    let busy = failure(500, StatusReason::InternalError);
    let mut wait = failure(504, StatusReason::Timeout);
    wait.details = Some(Box::new(kubist_apimachinery::StatusDetails {
        retry_after_seconds: 20,
        ..Default::default()
    }));
    for (code, reason) in [
        (401, StatusReason::Unauthorized),
        (403, StatusReason::Forbidden),
        (410, StatusReason::Gone),
    ] {
        let last = failure(code, reason);
        let script = [
            error_event(&busy),
            error_event(&wait),
            Reply::status(&last),
            events(&[(EventKind::Added, at("never", "9"))]),
        ];
        let server = Server::new(script);
        let seen = follow(&server).await;
        assert_eq!(seen.len(), 1, "{code}: {seen:?}");
        let error = seen[0].as_ref().unwrap_err();
        assert_eq!(error.status().map(|it| it.code), Some(code));
        let waited: Vec<_> = starts(&server).into_iter().map(|it| it.1).collect();
        assert_eq!(waited, [0, 1, 21], "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_goes_on_needs_versions() {
    let server = Server::new([events(&[(EventKind::Added, at("a", ""))])]);
    let pods: Api<Pod> = Api::all(server.client());
    for version in ["", "0"] {
        let refused = pods.watch_on(&from(version)).err();
        assert!(
            matches!(refused, Some(ApiError::Request(RequestError::NoVersion))),
            "{version:?}: {refused:?}"
        );
        let text = refused.unwrap().to_string();
        assert!(text.contains("metadata.resource_version"), "{text}");
    }
    let seen = follow(&server).await;
    assert!(
        matches!(
            seen.as_slice(),
            [Err(ApiError::Request(RequestError::NoVersion))]
        ),
        "{seen:?}"
    );
}

fn list(pods: &[Pod]) -> Reply {
    let items: Vec<_> = pods.iter().map(Wire::to_json).collect();
    Reply::json(server::list::<Pod>(Encoding::Json, "", &items))
}

#[tokio::test(start_paused = true)]
async fn wait_until_sees_the_present_state_every_later_one_and_the_end() {
    use EventKind::{Deleted, Modified};
    let server = Server::new([
        list(&[at("a", "76")]),
        events(&[(Modified, at("a", "80"))]),
        error_event(&failure(410, StatusReason::Expired)),
        // It lists again, at once.
        list(&[at("a", "90")]),
        events(&[(Deleted, at("a", "91"))]),
    ]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let mut seen = Vec::new();
    let gone = pods.wait_until("a", |pod| {
        seen.push(pod.map(|it| it.metadata.resource_version.to_string()));
        pod.is_none()
    });
    assert_eq!(gone.await.unwrap(), None);
    let seen: Vec<_> = seen.iter().map(Option::as_deref).collect();
    assert_eq!(seen, [Some("76"), Some("80"), Some("90"), None]);
    for line in server.lines() {
        assert!(line.contains("fieldSelector=metadata.name%3Da"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn wait_until_returns_permanent_errors_at_once() {
    let server = Server::new([list(&[at("a", "76")])]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let found = pods.wait_until("a", |pod| pod.is_some()).await.unwrap();
    assert_eq!(found, Some(at("a", "76")));
    assert_eq!(server.asked().len(), 1);

    let forbidden = failure(403, StatusReason::Forbidden);
    let server = Server::new([
        Reply::status(&failure(500, StatusReason::InternalError)),
        Reply::status(&forbidden),
    ]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let error = pods.wait_until("a", |_| false).await.unwrap_err();
    assert!(error.is_forbidden(), "{error}");
    assert_eq!(server.asked().len(), 2);
}

/// Contract CLIENT-3.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_cut_inside_a_frame_is_gone_on_from() {
    let whole = frame(Encoding::Json, EventKind::Modified, &at("a", "6"));
    let half = frame(Encoding::Json, EventKind::Modified, &at("a", "7"));
    let cut = [whole, half[..half.len() / 2].to_vec()].concat();
    let server = Server::new([
        reply(Encoding::Json, cut.clone()),
        events(&[(EventKind::Modified, at("a", "7"))]),
        error_event(&failure(410, StatusReason::Expired)),
    ]);
    let seen = follow(&server).await;
    assert_eq!(seen.len(), 3, "{seen:?}");
    let after = seen[1].as_ref().unwrap();
    assert_eq!(after, &WatchItem::Modified(at("a", "7")));
    let starts: Vec<_> = starts(&server).into_iter().map(|it| it.0).collect();
    assert_eq!(starts, ["5", "6", "7"]);

    let half = Reply::json(server::list::<Pod>(
        Encoding::Json,
        "",
        &[at("a", "6").to_json()],
    ));
    let server = Server::new([
        half.halved(),
        list(&[at("a", "6")]),
        reply(Encoding::Json, cut),
        events(&[(EventKind::Deleted, at("a", "8"))]),
    ]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let gone = pods.wait_until("a", |pod| pod.is_none()).await;
    assert_eq!(gone.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn wait_until_answers_a_version_that_is_gone_with_pauses_that_grow() {
    let gone = failure(410, StatusReason::Expired);
    let script = (0..200).flat_map(|_| [list(&[at("a", "76")]), error_event(&gone)]);
    let server = Server::new(script);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let wait = pods.wait_until("a", |pod| pod.is_none());
    let minute = tokio::time::timeout(Duration::from_secs(60), wait).await;
    assert!(minute.is_err(), "{minute:?}");
    let asked = server.asked().len();
    assert!((8..=16).contains(&asked), "{asked} requests in a minute");
}

#[tokio::test(start_paused = true)]
async fn wait_until_observes_the_deletion_of_an_unreadable_object() {
    let deleted =
        br#"{"type":"DELETED","object":{"metadata":{"name":"a","namespace":"shop"},"spec":7}}"#;
    let lost = br#"{"type":"DELETED"}"#;
    for (event, requests) in [(&deleted[..], 2), (&lost[..], 3)] {
        let server = Server::new([
            list(&[at("a", "76")]),
            reply(Encoding::Json, event.to_vec()).then_open(),
            list(&[]),
        ]);
        let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
        let gone = pods.wait_until("a", |pod| pod.is_none());
        let gone = tokio::time::timeout(Duration::from_secs(60), gone).await;
        assert_eq!(gone.unwrap().unwrap(), None);
        assert_eq!(server.asked().len(), requests);
    }
}

fn conflict() -> ApiError {
    ApiError::Status(Box::new(failure(409, StatusReason::Conflict)))
}

#[tokio::test(start_paused = true)]
async fn conflicts_are_tried_again_five_times_ten_milliseconds_apart() {
    let begin = tokio::time::Instant::now();
    let attempts = AtomicU32::new(0);
    let result = retry_on_conflict(async || {
        attempts.fetch_add(1, Ordering::Relaxed);
        Err::<(), _>(conflict())
    });
    assert!(result.await.unwrap_err().is_conflict());
    assert_eq!(attempts.into_inner(), 5);
    let took = begin.elapsed();
    let range = Duration::from_millis(40)..Duration::from_millis(49);
    assert!(range.contains(&took), "{took:?}");

    let mut attempts = 0;
    let result = retry_on_conflict(async || {
        attempts += 1;
        if attempts < 3 {
            Err(conflict())
        } else {
            Ok(attempts)
        }
    });
    assert_eq!(result.await.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn other_errors_are_not_tried_again_and_pauses_grow() {
    let attempts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&attempts);
    let result = retry_on(Retries::BUSY, ApiError::is_conflict, async || {
        counted.fetch_add(1, Ordering::Relaxed);
        let not_found = failure(404, StatusReason::NotFound);
        Err::<(), _>(ApiError::Status(Box::new(not_found)))
    });
    assert!(result.await.unwrap_err().is_not_found());
    assert_eq!(attempts.load(Ordering::Relaxed), 1);

    let begin = tokio::time::Instant::now();
    let result = retry_on(Retries::BUSY, |_| true, async || Err::<(), _>(conflict()));
    result.await.unwrap_err();
    let took = begin.elapsed();
    let range = Duration::from_millis(310)..Duration::from_millis(345);
    assert!(range.contains(&took), "{took:?}");
}
