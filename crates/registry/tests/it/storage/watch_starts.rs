//! The start of watches: versions, initial events, and the bookmark that ends them.

use super::matrix;
use super::stack::{Stack, drain, take};
use kubist_registry::WatchEvent;

matrix![
    version_zero_begins_with_what_exists,
    every_combination_of_options_starts_as_upstream,
    the_end_of_initial_events_has_the_version_of_everything,
    initial_events_of_one_name,
    initial_events_without_bookmarks,
    a_version_that_is_too_old_is_an_error_event,
    a_future_version_waits_or_is_an_error_event,
    options_that_make_no_sense_are_refused,
];

const STREAMING: &str = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

async fn version_zero_begins_with_what_exists(s: &Stack) {
    let first = s.create("ns", "a").await.revision();
    let second = s.label("ns", "a", "x").await.revision();
    s.list("ns", &format!("resourceVersion={second}"))
        .await
        .expect("it is reached");
    let mut watch = s.watch("ns", "resourceVersion=0").await;
    assert_eq!(take(&mut watch, 1).await, [format!("ADDED ns/a@{second}")]);
    s.label("ns", "a", "y").await;
    assert_eq!(
        take(&mut watch, 1).await,
        [format!("MODIFIED ns/a@{}", second + 1)]
    );
    s.compact(second + 1).await;
    let mut watch = s.watch("ns", "resourceVersion=0").await;
    assert_eq!(
        take(&mut watch, 1).await,
        [format!("ADDED ns/a@{}", second + 1)]
    );
    assert!(first < second);
}

/// The initial events of a watch.
#[derive(Clone, Copy)]
enum Shows {
    Nothing,
    /// All existing objects.
    Objects,
    /// All existing objects, and a bookmark.
    AndEnd,
    /// The events since the version.
    History,
}

async fn every_combination_of_options_starts_as_upstream(s: &Stack) {
    use Shows::{AndEnd, History, Nothing, Objects};
    let quiet = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    for (version, initial, bookmarks, shows) in [
        ("", "", false, Objects),
        ("", "", true, AndEnd),
        ("0", "", false, Objects),
        ("0", "", true, AndEnd),
        ("first", "", false, History),
        ("first", "", true, History),
        ("current", "", false, Nothing),
        ("current", "", true, Nothing),
        ("", STREAMING, true, AndEnd),
        ("0", STREAMING, true, AndEnd),
        ("first", STREAMING, true, AndEnd),
        ("current", STREAMING, true, AndEnd),
        ("", quiet, false, Nothing),
        ("", quiet, true, Nothing),
        ("0", quiet, false, Nothing),
        ("0", quiet, true, Nothing),
        ("first", quiet, true, History),
        ("current", quiet, true, Nothing),
    ] {
        let (first, current) = begin(s).await;
        let query = format!("{initial}&allowWatchBookmarks={bookmarks}");
        let query = match version {
            "" => query,
            "current" => format!("{query}&resourceVersion={current}"),
            "first" => format!("{query}&resourceVersion={first}"),
            other => format!("{query}&resourceVersion={other}"),
        };
        let mut watch = s.watch("ns", &query).await;
        assert_eq!(drain(&mut watch).await, expected(shows, first), "{query}");
        let next = s.create("ns", "c").await.revision();
        assert_eq!(
            take(&mut watch, 1).await,
            [format!("ADDED ns/c@{next}")],
            "{query}"
        );
        for name in ["a", "b", "c"] {
            s.delete("ns", name).await;
        }
    }
}

/// Creates b and a, and changes b. Returns the versions before and after.
async fn begin(s: &Stack) -> (u64, u64) {
    let first = s.head().await;
    s.create("ns", "b").await;
    s.create("ns", "a").await;
    let current = s.label("ns", "b", "x").await.revision();
    let query = format!("resourceVersion={current}");
    s.list("ns", &query).await.expect("it is reached");
    (first, current)
}

fn expected(shows: Shows, first: u64) -> Vec<String> {
    let a = format!("ADDED ns/a@{}", first + 2);
    let b = first + 3;
    match shows {
        Shows::Nothing => Vec::new(),
        Shows::Objects => vec![a, format!("ADDED ns/b@{b}")],
        Shows::AndEnd => vec![a, format!("ADDED ns/b@{b}"), format!("BOOKMARK @{b} end")],
        Shows::History => vec![
            format!("ADDED ns/b@{}", first + 1),
            a,
            format!("MODIFIED ns/b@{b}"),
        ],
    }
}

async fn the_end_of_initial_events_has_the_version_of_everything(s: &Stack) {
    s.create("ns", "a").await;
    s.create("other", "b").await;
    let head = s.bump().await;
    let query = format!("{STREAMING}&allowWatchBookmarks=true");
    let mut watch = s.watch("ns", &query).await;
    let got = take(&mut watch, 2).await;
    assert_eq!(got[1], format!("BOOKMARK @{head} end"));
    let next = s.create("ns", "c").await.revision();
    assert_eq!(take(&mut watch, 1).await, [format!("ADDED ns/c@{next}")]);
    assert!(next > head);
}

async fn initial_events_of_one_name(s: &Stack) {
    s.create("ns", "a").await;
    let b = s.create("ns", "b").await.revision();
    s.create("other", "b").await;
    let head = s.head().await;
    let query = format!("{STREAMING}&allowWatchBookmarks=true&fieldSelector=metadata.name=b");
    let mut watch = s.watch("ns", &query).await;
    assert_eq!(
        take(&mut watch, 2).await,
        [format!("ADDED ns/b@{b}"), format!("BOOKMARK @{head} end")]
    );
    s.label("ns", "a", "x").await;
    let changed = s.label("ns", "b", "x").await.revision();
    assert_eq!(
        take(&mut watch, 1).await,
        [format!("MODIFIED ns/b@{changed}")]
    );
}

async fn initial_events_without_bookmarks(s: &Stack) {
    let a = s.create("ns", "a").await.revision();
    let mut watch = s.watch("ns", STREAMING).await;
    assert_eq!(drain(&mut watch).await, [format!("ADDED ns/a@{a}")]);
}

async fn a_version_that_is_too_old_is_an_error_event(s: &Stack) {
    let first = s.create("ns", "a").await.revision();
    // More events than the minimum capacity of a cache, spread over enough time for it to evict
    // some.
    for number in 0..150_u32 {
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        s.label("ns", "a", &number.to_string()).await;
        s.list("ns", "").await.expect("it is reached");
    }
    s.compact(s.head().await).await;
    let mut watch = s.watch("ns", &format!("resourceVersion={first}")).await;
    let events = watch.next().await.expect("one event");
    let [WatchEvent::Error(status)] = &events[..] else {
        panic!("it is too late: {events:?}");
    };
    assert!(status.is_gone(), "{status}");
    assert!(
        status
            .message
            .starts_with(&format!("too old resource version: {first} ("))
    );
    assert!(watch.next().await.is_none(), "nothing follows");
}

async fn a_future_version_waits_or_is_an_error_event(s: &Stack) {
    let head = s.head().await;
    let mut watch = s
        .watch("ns", &format!("resourceVersion={}", head + 1))
        .await;
    s.create("ns", "a").await;
    s.create("ns", "b").await;
    assert_eq!(
        take(&mut watch, 1).await,
        [format!("ADDED ns/b@{}", head + 2)]
    );
    let ahead = head + 50_000;
    let query = format!("{STREAMING}&allowWatchBookmarks=true&resourceVersion={ahead}");
    let mut watch = s.watch("ns", &query).await;
    let events = watch.next().await.expect("one event");
    let [WatchEvent::Error(status)] = &events[..] else {
        panic!("it is not there yet: {events:?}");
    };
    assert!(status.is_too_large_resource_version());
    assert!(watch.next().await.is_none());
}

async fn options_that_make_no_sense_are_refused(s: &Stack) {
    for (query, code) in [
        ("sendInitialEvents=true&allowWatchBookmarks=true", 422),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=5", 422),
        ("sendInitialEvents=true&resourceVersionMatch=Exact", 422),
        ("resourceVersion=abc", 400),
        ("resourceVersion=-1", 400),
    ] {
        let refused = s.try_watch(&*s.storage, "ns", query).await;
        assert_eq!(refused.expect_err(query).code, code, "{query}");
    }
}
