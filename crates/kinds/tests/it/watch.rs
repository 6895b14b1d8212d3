//! Watches: their start, their events and their end.

use crate::fixture::{Fixture, config_map, options};
use kubist_api::core::v1::{ConfigMap, Event};
use kubist_apimachinery::DeleteOptions;
use kubist_registry::{EventStream, INITIAL_EVENTS_END, WatchEvent};
use kubist_storage::{KvMaintenance, KvRead};
use std::time::Duration;

async fn watch(fixture: &Fixture, query: &str) -> EventStream {
    let rest = fixture.of::<ConfigMap>();
    let (cx, options) = (fixture.cx(), options(query));
    let timeout = Some(Duration::from_secs(5 * 60));
    let watch = rest.watch(&cx, "default", None, &options, timeout);
    watch.await.expect("the options are valid")
}

/// Formats an event as `TYPE name`. For bookmarks, adds whether they end the initial events.
fn describe(event: &WatchEvent) -> String {
    let Some(object) = event.object() else {
        return event.type_name().to_owned();
    };
    let meta = object.object().expect("readable").meta();
    let end = meta.annotations.contains_key(INITIAL_EVENTS_END);
    let end = if end { "end" } else { "" };
    format!("{} {}{end}", event.type_name(), meta.name)
}

/// Returns the events that are available without waiting.
async fn drain(watch: &mut EventStream) -> Vec<String> {
    let mut all = Vec::new();
    while let Ok(Some(events)) = tokio::time::timeout(Duration::from_millis(10), watch.next()).await
    {
        all.extend(events.iter().map(describe));
    }
    all
}

/// Creates c1, changes it, and moves it out of the label `a` and back. Creates and deletes c2.
/// Returns the resource version from before.
async fn history(fixture: &Fixture) -> String {
    let start = fixture.kv.stats().revision.to_string();
    fixture.create(config_map("c1", "a")).await;
    let mut changed = config_map("c1", "a");
    changed.data.insert("x".into(), "1".into());
    fixture.put(changed.clone()).await.expect("fine");
    let mut left = changed.clone();
    left.metadata.labels.insert("k".into(), "b".into());
    fixture.put(left).await.expect("fine");
    fixture.create(config_map("c2", "a")).await;
    fixture.put(changed).await.expect("fine");
    fixture
        .delete::<ConfigMap>("c2", DeleteOptions::default())
        .await
        .expect("fine");
    start
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_version_delivers_what_came_after() {
    let fixture = Fixture::new().await;
    let start = history(&fixture).await;
    let mut all = watch(&fixture, &format!("resourceVersion={start}")).await;
    assert_eq!(
        drain(&mut all).await,
        [
            "ADDED c1",
            "MODIFIED c1",
            "MODIFIED c1",
            "ADDED c2",
            "MODIFIED c1",
            "DELETED c2"
        ]
    );
    fixture.create(config_map("c3", "")).await;
    assert_eq!(drain(&mut all).await, ["ADDED c3"]);
}

#[tokio::test(start_paused = true)]
async fn events_are_rewritten_under_selectors() {
    let fixture = Fixture::new().await;
    let start = history(&fixture).await;
    let query = format!("resourceVersion={start}&labelSelector=k=a");
    let mut labelled = watch(&fixture, &query).await;
    assert_eq!(
        drain(&mut labelled).await,
        [
            "ADDED c1",
            "MODIFIED c1",
            "DELETED c1",
            "ADDED c2",
            "ADDED c1",
            "DELETED c2"
        ]
    );
    let query = format!("resourceVersion={start}&fieldSelector=metadata.name=c2");
    assert_eq!(
        drain(&mut watch(&fixture, &query).await).await,
        ["ADDED c2", "DELETED c2"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_deleted_object_has_its_old_content_and_the_version_of_its_end() {
    let fixture = Fixture::new().await;
    let start = history(&fixture).await;
    let query = format!("resourceVersion={start}&labelSelector=k=a");
    let mut events = Vec::new();
    let mut labelled = watch(&fixture, &query).await;
    while events.len() < 6 {
        events.extend(labelled.next().await.expect("it goes on"));
    }
    let first: u64 = start.parse::<u64>().expect("a number") + 1;
    for (index, event) in events.iter().enumerate() {
        let object = event.object().expect("no error");
        assert_eq!(
            object.revision(),
            first + index as u64,
            "each write is one event"
        );
        let meta = object.object().expect("readable").meta();
        assert_eq!(meta.resource_version, object.revision().to_string());
        assert_eq!(meta.labels["k"], "a", "what left the selector is not shown");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_version_what_exists_comes_first() {
    let fixture = Fixture::new().await;
    history(&fixture).await;
    fixture.create(config_map("c0", "a")).await;
    for query in ["", "resourceVersion=0"] {
        let mut watch = watch(&fixture, query).await;
        assert_eq!(drain(&mut watch).await, ["ADDED c0", "ADDED c1"], "{query}");
    }
    let quiet = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut watch = watch(&fixture, quiet).await;
    assert_eq!(drain(&mut watch).await, [""; 0]);
    fixture.create(config_map("c3", "")).await;
    assert_eq!(drain(&mut watch).await, ["ADDED c3"]);
}

const STREAMING: &str =
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

#[tokio::test(start_paused = true)]
async fn a_streaming_list_ends_with_an_annotated_bookmark() {
    let fixture = Fixture::new().await;
    history(&fixture).await;
    let mut all = watch(&fixture, STREAMING).await;
    let events = all.next().await.expect("it begins");
    let described: Vec<_> = events.iter().map(describe).collect();
    assert_eq!(described, ["ADDED c1", "BOOKMARK end"]);
    let bookmark = events[1].object().expect("no error");
    assert_eq!(bookmark.revision(), fixture.kv.stats().revision.0);
    let json = String::from_utf8(bookmark.json().expect("readable")).expect("text");
    assert!(json.starts_with("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":"));

    fixture.create(config_map("c3", "")).await;
    assert_eq!(drain(&mut all).await, ["ADDED c3"]);
    let none = format!("{STREAMING}&labelSelector=k=none");
    assert_eq!(
        drain(&mut watch(&fixture, &none).await).await,
        ["BOOKMARK end"]
    );
}

#[tokio::test(start_paused = true)]
async fn many_objects_come_page_by_page() {
    let fixture = Fixture::new().await;
    for index in 0..1203 {
        fixture
            .create(config_map(&format!("c{index:04}"), ""))
            .await;
    }
    let mut all = watch(&fixture, STREAMING).await;
    let mut sizes = Vec::new();
    loop {
        let events = all.next().await.expect("it goes on");
        sizes.push(events.len());
        // A write in the middle belongs to later events.
        if sizes.len() == 1 {
            fixture.create(config_map("c0000x", "")).await;
        }
        if matches!(events.last(), Some(WatchEvent::Bookmark(_))) {
            break;
        }
    }
    assert_eq!(sizes, [500, 500, 204]);
    assert_eq!(drain(&mut all).await, ["ADDED c0000x"]);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_every_minute_and_before_the_end() {
    let fixture = Fixture::new().await;
    let start = fixture.kv.stats().revision.to_string();
    let query = format!("resourceVersion={start}&allowWatchBookmarks=true");
    let mut watch = watch(&fixture, &query).await;
    let begun = tokio::time::Instant::now();
    let mut after = Vec::new();
    // A write to another resource moves the bookmark, too.
    let mut namespace = kubist_api::core::v1::Namespace::default();
    namespace.metadata.name = "n".into();
    fixture.create_in("", namespace, false).await.expect("fine");
    while begun.elapsed() < Duration::from_secs(295) {
        let next = tokio::time::timeout(Duration::from_secs(100), watch.next()).await;
        let events = next.expect("in time").expect("it goes on");
        let [WatchEvent::Bookmark(bookmark)] = &events[..] else {
            panic!("nothing else happens: {events:?}");
        };
        assert_eq!(bookmark.revision(), fixture.kv.stats().revision.0);
        after.push(begun.elapsed().as_secs());
    }
    assert_eq!(after, [60, 120, 180, 240, 298]);
}

#[tokio::test(start_paused = true)]
async fn history_that_is_gone_ends_the_watch_with_410() {
    let fixture = Fixture::new().await;
    history(&fixture).await;
    let head = fixture.kv.revision().await.expect("open");
    fixture.kv.compact(head).await.expect("not ahead");
    let mut watch = watch(&fixture, "resourceVersion=1").await;
    let events = watch.next().await.expect("one event");
    let [WatchEvent::Error(status)] = &events[..] else {
        panic!("it is too late: {events:?}");
    };
    assert_eq!(
        status.message,
        format!("too old resource version: 1 ({head})").as_str()
    );
    assert!(status.is_gone());
    assert!(watch.next().await.is_none());
    // Without a cache, upstream's storage reports the error.
    let options = options("resourceVersion=1");
    let (cx, rest) = (fixture.cx(), fixture.of::<Event>());
    let watch = rest.watch(&cx, "default", None, &options, None).await;
    let events = watch.expect("it begins").next().await.expect("one event");
    let [WatchEvent::Error(status)] = &events[..] else {
        panic!("it is too late: {events:?}");
    };
    assert_eq!(
        status.message,
        "The resourceVersion for the provided watch is too old."
    );
    assert!(status.is_gone());
}

#[tokio::test(start_paused = true)]
async fn a_version_ahead_of_storage_waits_or_fails() {
    let fixture = Fixture::new().await;
    let mut future = watch(&fixture, "resourceVersion=9999999999").await;
    fixture.create(config_map("a", "")).await;
    assert_eq!(drain(&mut future).await, [""; 0]);
    let mut list = watch(&fixture, &format!("{STREAMING}&resourceVersion=9999999999")).await;
    let events = list.next().await.expect("one event");
    let [WatchEvent::Error(status)] = &events[..] else {
        panic!("it is not there yet: {events:?}");
    };
    assert!(status.is_too_large_resource_version());
}

#[tokio::test(start_paused = true)]
async fn one_object_can_be_watched() {
    let fixture = Fixture::new().await;
    let start = history(&fixture).await;
    let rest = fixture.of::<ConfigMap>();
    let (cx, options) = (fixture.cx(), options(&format!("resourceVersion={start}")));
    let watch = rest.watch(&cx, "default", Some("c2"), &options, None);
    let mut watch = watch.await.expect("the options are valid");
    assert_eq!(drain(&mut watch).await, ["ADDED c2", "DELETED c2"]);
}

#[tokio::test(start_paused = true)]
async fn options_that_contradict_each_other_are_refused() {
    let fixture = Fixture::new().await;
    let rest = fixture.of::<ConfigMap>();
    for (query, code) in [
        ("sendInitialEvents=true&allowWatchBookmarks=true", 422),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=5", 422),
        ("resourceVersion=abc", 400),
        ("fieldSelector=data.x=1", 400),
    ] {
        let watch = rest
            .watch(&fixture.cx(), "default", None, &options(query), None)
            .await;
        assert_eq!(watch.expect_err("no sense").code, code, "{query}");
    }
}
