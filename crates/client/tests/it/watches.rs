//! Watches: events cut anywhere, bookmarks, errors, garbage.

use crate::server::{Reply, Server};
use futures_util::StreamExt as _;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Wire};
use kubist_apimachinery::{ListOptions, Status, StatusReason};
use kubist_cache::{EventType, InvalidEvent, WatchItem};
use kubist_client::{AnswerError, Api, ApiError};
use kubist_codec::watch_stream::{EventKind, FrameObject, encode_frame};

pub(crate) fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.resource_version = "5".into();
    pod
}

/// One frame, in either encoding.
pub(crate) fn frame(encoding: Encoding, kind: EventKind, pod: &Pod) -> Vec<u8> {
    let mut out = Vec::new();
    match encoding {
        Encoding::Protobuf => raw_frame(kind, "Pod", &pod.to_protobuf(), &mut out),
        _ => encode_frame(kind, FrameObject::Json(&pod.to_json()), &mut out),
    }
    out
}

fn raw_frame(kind: EventKind, name: &str, raw: &[u8], out: &mut Vec<u8>) {
    let object = FrameObject::Protobuf {
        api_version: "v1",
        kind: name,
        raw,
    };
    encode_frame(kind, object, out);
}

pub(crate) fn reply(encoding: Encoding, body: Vec<u8>) -> Reply {
    match encoding {
        Encoding::Protobuf => Reply::new(
            200,
            "application/vnd.kubernetes.protobuf;stream=watch",
            body,
        ),
        _ => Reply::json(body),
    }
}

async fn watch(reply: Reply) -> Vec<Result<WatchItem<Pod>, ApiError>> {
    let server = Server::new([reply]);
    let pods: Api<Pod> = Api::all(server.client());
    let options = ListOptions {
        resource_version: "5".into(),
        ..ListOptions::default()
    };
    let events = pods.watch(&options).await.unwrap().collect().await;
    assert_eq!(
        server.lines(),
        ["GET /api/v1/pods?watch=true&resourceVersion=5"]
    );
    let both = "application/vnd.kubernetes.protobuf,application/json";
    assert_eq!(server.asked()[0].header("accept"), both);
    events
}

fn bookmark() -> Pod {
    let mut bookmark = pod("");
    let annotations = &mut bookmark.metadata.annotations;
    annotations.insert("k8s.io/initial-events-end".into(), "true".into());
    bookmark
}

#[tokio::test]
async fn events_are_read_however_they_are_cut() {
    use EventKind::{Added, Bookmark, Deleted, Modified};
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let frames = [
            (Added, pod("a")),
            (Modified, pod("a")),
            (Bookmark, bookmark()),
        ];
        let frames = frames.iter().map(|(kind, pod)| frame(encoding, *kind, pod));
        let mut body = frames.collect::<Vec<_>>().concat();
        body.extend(frame(encoding, Bookmark, &pod("")));
        body.extend(frame(encoding, Deleted, &pod("a")));
        for size in [1, 2, 5, 100, body.len()] {
            let events = watch(reply(encoding, body.clone()).split(size)).await;
            let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
            let mark = |initial_events_end| WatchItem::Bookmark {
                resource_version: "5".into(),
                initial_events_end,
            };
            let expected = [
                WatchItem::Added(pod("a")),
                WatchItem::Modified(pod("a")),
                mark(true),
                mark(false),
                WatchItem::Deleted(pod("a")),
            ];
            assert_eq!(events, expected);
        }
    }
}

#[tokio::test]
async fn an_error_event_is_the_end() {
    let status = Status::failure(
        410,
        StatusReason::Expired,
        "too old resource version: 5 (9)",
    );
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let mut body = frame(encoding, EventKind::Added, &pod("a"));
        if encoding == Encoding::Protobuf {
            raw_frame(EventKind::Error, "Status", &status.to_protobuf(), &mut body);
        } else {
            encode_frame(
                EventKind::Error,
                FrameObject::Json(&status.to_json()),
                &mut body,
            );
        }
        body.extend(frame(encoding, EventKind::Added, &pod("never seen")));
        let events = watch(reply(encoding, body)).await;
        assert_eq!(events.len(), 2);
        let error = events[1].as_ref().unwrap_err();
        assert!(
            error.is_expired() && error.status() == Some(&status),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn garbage_ends_the_watch_with_an_error_after_what_came_before() {
    let json = frame(Encoding::Json, EventKind::Added, &pod("a"));
    let protobuf = frame(Encoding::Protobuf, EventKind::Added, &pod("a"));
    let cases: [(Encoding, &[u8], &[u8]); 5] = [
        (Encoding::Json, &json, b"<html>"),
        (Encoding::Json, &json, br#"{"type":"ADDED","object":{"#),
        (Encoding::Json, &json, br"["),
        (Encoding::Protobuf, &protobuf, b"\xff\xff\xff\xff"),
        (Encoding::Protobuf, &protobuf, b"\x00\x00\x01"),
    ];
    for (encoding, good, bad) in cases {
        for size in [1, 1000] {
            let events = watch(reply(encoding, [good, bad].concat()).split(size)).await;
            assert_eq!(events.len(), 2, "{bad:?}");
            assert_eq!(events[0].as_ref().unwrap(), &WatchItem::Added(pod("a")));
            let ApiError::Answer { source, .. } = events[1].as_ref().unwrap_err() else {
                panic!("{events:?}");
            };
            assert!(matches!(**source, AnswerError::Watch(_)), "{source:?}");
        }
    }
}

#[tokio::test]
async fn a_frame_of_sound_borders_costs_itself_only() {
    let mut json = br#"{"type":"WHAT","object":{}}"#.to_vec();
    json.extend(br#"{"type":"ADDED"}"#);
    json.extend(br#"{"type":"ADDED","object":{"metadata":{"name":"b"},"spec":7}}"#);
    json.extend(br#"{"type":"ADDED","object":{"spec":{}}}"#);
    json.extend(br#"{"type":"BOOKMARK","object":{"metadata":[]}}"#);
    json.extend(frame(Encoding::Json, EventKind::Modified, &pod("a")));
    let events = watch(reply(Encoding::Json, json)).await;
    let invalid: Vec<_> = events
        .iter()
        .filter_map(|it| match it {
            Ok(WatchItem::Invalid(event)) => Some(&event.item),
            _ => None,
        })
        .collect();
    assert_eq!((events.len(), invalid.len()), (6, 5));
    assert_eq!(invalid[2].name.as_ref().unwrap().name, "b");
    assert_eq!(invalid[2].error.path, "spec");
    assert_eq!(invalid[3].error.path, "metadata.name");
    assert_eq!(events[5].as_ref().unwrap(), &WatchItem::Modified(pod("a")));

    let mut protobuf = vec![0, 0, 0, 2, 0x0a, 0x7f];
    raw_frame(
        EventKind::Added,
        "Pod",
        b"\x0a\x03\x0a\x01b\x12\x01\x0a",
        &mut protobuf,
    );
    protobuf.extend(frame(Encoding::Protobuf, EventKind::Modified, &pod("a")));
    let events = watch(reply(Encoding::Protobuf, protobuf)).await;
    assert_eq!(events.len(), 3);
    let Ok(WatchItem::Invalid(InvalidEvent { item, .. })) = &events[1] else {
        panic!("{events:?}")
    };
    assert_eq!(item.name.as_ref().unwrap().name, "b");
    assert_eq!(events[2].as_ref().unwrap(), &WatchItem::Modified(pod("a")));
}

/// Contract REFL-10.
#[tokio::test]
async fn an_unreadable_object_is_reported_with_its_event_type_and_name() {
    let json = |kind: &str| {
        format!(
            r#"{{"type":"{kind}","object":{{"metadata":{{"name":"b","namespace":"shop",
            "resourceVersion":"7"}},"spec":7}}}}"#
        )
    };
    let mut broken = pod("b");
    broken.metadata.namespace = "shop".into();
    broken.metadata.resource_version = "7".into();
    let mut broken = broken.to_protobuf();
    broken.extend(b"\x12\x01\x0a");
    for (kind, event, name) in [
        (EventKind::Added, EventType::Added, "ADDED"),
        (EventKind::Modified, EventType::Modified, "MODIFIED"),
        (EventKind::Deleted, EventType::Deleted, "DELETED"),
    ] {
        let mut protobuf = Vec::new();
        raw_frame(kind, "Pod", &broken, &mut protobuf);
        for reply in [
            reply(Encoding::Json, json(name).into_bytes()),
            reply(Encoding::Protobuf, protobuf),
        ] {
            let events = watch(reply).await;
            let [Ok(WatchItem::Invalid(invalid))] = events.as_slice() else {
                panic!("{events:?}");
            };
            assert_eq!(invalid.event, Some(event));
            assert_eq!(invalid.resource_version.as_str(), "7");
            let name = invalid.item.name.as_ref().unwrap();
            assert_eq!(name.to_string(), "shop/b");
        }
    }
    // A truncated name may be another object's.
    let half = br#"{"type":"DELETED","object":{"metadata":{"name":"b"},"spec":7}}"#;
    let events = watch(reply(Encoding::Json, half.to_vec())).await;
    let [Ok(WatchItem::Invalid(invalid))] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(invalid.event, None);
}

#[tokio::test]
async fn an_object_of_another_kind_ends_the_watch() {
    let mut body = Vec::new();
    raw_frame(EventKind::Added, "Table", b"", &mut body);
    let events = watch(reply(Encoding::Protobuf, body)).await;
    let ApiError::Answer { source, .. } = events[0].as_ref().unwrap_err() else {
        panic!("{events:?}");
    };
    assert_eq!(source.to_string(), "the object is a Table, not a Pod");
}

#[tokio::test]
async fn a_connection_that_breaks_is_an_error_and_a_refusal_comes_first() {
    let body = frame(Encoding::Json, EventKind::Added, &pod("a"));
    let events = watch(Reply::json(body).then_cut()).await;
    assert_eq!(events.len(), 2);
    assert!(
        matches!(events[1], Err(ApiError::Transport { .. })),
        "{events:?}"
    );

    let gone = Status::failure(410, StatusReason::Gone, "too old");
    let server = Server::new([Reply::status(&gone)]);
    let pods: Api<Pod> = Api::all(server.client());
    assert!(
        pods.watch(&ListOptions::default())
            .await
            .err()
            .unwrap()
            .is_gone()
    );
}

#[tokio::test]
async fn events_come_while_the_watch_is_open() {
    let body = frame(Encoding::Json, EventKind::Added, &pod("a"));
    let server = Server::new([Reply::json(body).then_open()]);
    let pods: Api<Pod> = Api::all(server.client());
    let mut events = pods.watch(&ListOptions::default()).await.unwrap();
    assert_eq!(
        events.next().await.unwrap().unwrap(),
        WatchItem::Added(pod("a"))
    );
}
