//! Bookmarks: their recipients, times and versions.

use super::matrix;
use super::stack::{Stack, describe};
use kubist_registry::WatchEvent;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

matrix![
    with progress:
    a_bookmark_has_the_version_of_everything,
    bookmarks_are_sent_only_on_request,
    versions_only_rise_under_writes,
];

async fn a_bookmark_has_the_version_of_everything(s: &Stack) {
    let start = s.create("ns", "a").await.revision();
    let query = format!("allowWatchBookmarks=true&resourceVersion={start}");
    let mut watch = s.watch("ns", &query).await;
    // Other resources change, pods do not.
    let head = s.bump().await;
    let events = watch.next().await.expect("it goes on");
    let [WatchEvent::Bookmark(bookmark)] = &events[..] else {
        panic!("a bookmark: {events:?}");
    };
    assert_eq!(bookmark.revision(), head);
    let json = String::from_utf8(bookmark.json().expect("readable")).expect("text");
    assert!(json.contains("\"kind\":\"Pod\""), "{json}");
    assert!(
        json.contains(&format!("\"resourceVersion\":\"{head}\"")),
        "{json}"
    );
    assert!(!json.contains("\"name\""), "{json}");
}

async fn bookmarks_are_sent_only_on_request(s: &Stack) {
    let start = s.create("ns", "a").await.revision();
    for (wanted, expected) in [(false, 0), (true, 3)] {
        let query = format!("allowWatchBookmarks={wanted}&resourceVersion={start}");
        let mut watch = s.watch("ns", &query).await;
        // etcd reports no progress for a watch that begins at its current revision.
        s.bump().await;
        let deadline = Instant::now() + Duration::from_secs(3 * 60 + 30);
        let mut bookmarks = 0;
        while let Ok(Some(events)) = timeout_at(deadline, watch.next()).await {
            assert!(
                matches!(events[..], [WatchEvent::Bookmark(_)]),
                "{events:?}"
            );
            bookmarks += 1;
        }
        assert_eq!(bookmarks, expected, "about one a minute");
    }
}

async fn versions_only_rise_under_writes(s: &Stack) {
    let start = s.create("ns", "a").await.revision();
    let query = format!("allowWatchBookmarks=true&resourceVersion={start}");
    let mut watch = s.watch("ns", &query).await;
    let writing = async {
        for number in 0..40 {
            tokio::time::sleep(Duration::from_secs(7)).await;
            s.label("ns", "a", &number.to_string()).await;
            s.bump().await;
        }
    };
    let reading = async {
        let (mut last, mut bookmarks, mut events) = (start, 0, 0);
        while events < 40 {
            for event in watch.next().await.expect("it goes on") {
                let revision = event.object().expect("no error").revision();
                if matches!(event, WatchEvent::Bookmark(_)) {
                    assert!(revision >= last, "{}", describe(&event));
                    bookmarks += 1;
                } else {
                    assert!(revision > last, "{}", describe(&event));
                    events += 1;
                }
                last = revision;
            }
        }
        assert!((3..=6).contains(&bookmarks), "{bookmarks}");
    };
    tokio::join!(writing, reading);
}
