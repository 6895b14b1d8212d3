//! Checks of watches: their start, their events, their end.

use super::{PATIENCE, Subject, events, next};
use crate::{EventKind, KeyRange, WatchError, WatchRangeRequest};
use std::time::Duration;
use tokio::time::timeout;

/// Writes before a slow watcher reads.
const BURST: usize = 3000;
/// Interval of progress requests, as an API server makes them.
const REQUEST_INTERVAL: Duration = Duration::from_millis(100);

/// The start is inclusive.
pub async fn start_is_inclusive(subject: &Subject) {
    subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    let third = subject.put("a", "3").await;
    let mut watch = subject.watch_from(second).await;
    let found: Vec<_> = events(&mut watch, 2)
        .await
        .iter()
        .map(|it| it.revision)
        .collect();
    assert_eq!(found, [second, third]);
}

/// Without a start there are no past events.
pub async fn watch_without_a_start_sees_only_what_comes(subject: &Subject) {
    subject.put("a", "1").await;
    let mut watch = subject.watch(WatchRangeRequest::new(subject.all())).await;
    let second = subject.put("a", "2").await;
    assert_eq!(events(&mut watch, 1).await[0].revision, second);
}

/// A start in the future skips earlier events.
pub async fn watch_of_the_future_waits_for_it(subject: &Subject) {
    let now = subject.put("a", "1").await;
    let mut watch = subject.watch_from(now.next().next()).await;
    subject.put("a", "2").await;
    let third = subject.put("a", "3").await;
    assert_eq!(events(&mut watch, 1).await[0].revision, third);
}

/// Puts have the new and the old version, deletes the old one and their own revision.
pub async fn delete_event_has_its_own_revision_and_the_old_value(subject: &Subject) {
    let before = subject.revision().await;
    let mut watch = subject.watch_from(before.next()).await;
    let first = subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    let deleted = subject.delete("a").await;
    let events = events(&mut watch, 3).await;
    assert!(events.iter().all(|event| event.key == subject.key("a")));

    assert!(events[0].is_create() && events[0].previous.is_none());
    assert_eq!(events[0].current().expect("a put").value, "1");

    assert!(!events[1].is_create());
    assert_eq!(events[1].current().expect("a put").mod_revision, second);
    let previous = events[1].previous.as_ref().expect("asked for");
    assert_eq!(
        (&previous.value[..], previous.mod_revision),
        (&b"1"[..], first)
    );

    assert_eq!(
        (events[2].revision, &events[2].kind),
        (deleted, &EventKind::Delete)
    );
    let previous = events[2].previous.as_ref().expect("asked for");
    assert_eq!(
        (&previous.value[..], previous.mod_revision),
        (&b"2"[..], second)
    );
}

/// A watch covers only its range.
pub async fn watch_of_a_key_ignores_its_neighbours(subject: &Subject) {
    let from = subject.revision().await.next();
    let request = |range: KeyRange| WatchRangeRequest::new(range).from(from);
    let mut key = subject
        .watch(request(KeyRange::key(subject.key("b"))))
        .await;
    let between = KeyRange::between(subject.key("a"), subject.key("c"));
    let mut between = subject.watch(request(between)).await;
    for name in ["a", "b", "b0", "c", "b"] {
        subject.put(name, "1").await;
    }
    let names = |events: &[std::sync::Arc<crate::Event>]| -> Vec<_> {
        events.iter().map(|event| event.key.clone()).collect()
    };
    let b = subject.key("b");
    assert_eq!(names(&events(&mut key, 2).await), [b.clone(), b.clone()]);
    let expected = [subject.key("a"), b.clone(), subject.key("b0"), b];
    assert_eq!(names(&events(&mut between, 4).await), expected);
}

/// A watch may start in the past while others write.
pub async fn history_and_present_join_without_gap_or_repeat(subject: &Subject) {
    let from = subject.revision().await.next();
    for at in 0..40 {
        subject.put(&format!("k{}", at % 7), "1").await;
    }
    let mut watch = subject.watch_from(from).await;
    let mut found = next(&mut watch)
        .await
        .expect("the watch goes on")
        .events
        .len();
    for at in 0..40 {
        subject.put(&format!("k{}", at % 7), "2").await;
        if at % 10 == 0 {
            let batch = next(&mut watch).await.expect("the watch goes on");
            found += batch.events.len();
        }
    }
    let mut rest = subject
        .watch_from(from.0.saturating_add(found as u64).into())
        .await;
    let (rest, left) = (
        events(&mut rest, 80 - found).await,
        events(&mut watch, 80 - found).await,
    );
    let revisions = |events: &[std::sync::Arc<crate::Event>]| -> Vec<_> {
        events.iter().map(|event| event.revision.0).collect()
    };
    let expected: Vec<_> = (from.0 + found as u64..from.0 + 80).collect();
    assert_eq!(revisions(&rest), expected);
    assert_eq!(revisions(&left), expected);
}

/// How long progress is requested from a watch that does not respond.
const SILENCE: Duration = Duration::from_millis(500);

/// A watch that is asked repeatedly reports the revision of the request; unless the engine does not
/// support that: then no notification arrives, because it could be wrong.
pub async fn progress_reaches_the_revision_of_the_request(subject: &Subject) {
    let from = subject.revision().await.next();
    let request = WatchRangeRequest::new(KeyRange::prefix(subject.key("quiet/"))).from(from);
    let mut watch = subject.watch(request).await;
    let requester = watch.progress_requester();
    let reached = subject.put("loud", "1").await;
    let wait = async {
        loop {
            requester.request();
            let Ok(batch) = timeout(REQUEST_INTERVAL, watch.next()).await else {
                continue;
            };
            let batch = batch.expect("open").expect("the watch goes on");
            assert!(batch.is_progress(), "nothing was written here");
            if batch.revision >= reached {
                break;
            }
        }
    };
    if subject.kv().supports_progress_requests() {
        timeout(PATIENCE, wait)
            .await
            .expect("progress comes in time");
    } else {
        assert!(timeout(SILENCE, wait).await.is_err(), "nothing is said");
    }
}

/// What a progress notification covers has been delivered before it.
pub async fn progress_is_never_ahead_of_events(subject: &Subject) {
    let from = subject.revision().await.next();
    let mut watch = subject.watch_from(from).await;
    let mut seen = from.previous();
    for round in 0..20 {
        for at in 0..5 {
            subject.put(&format!("k{at}"), "1").await;
        }
        watch.request_progress();
        let written = from.0 + round * 5 + 4;
        while seen.0 < written {
            let batch = next(&mut watch).await.expect("the watch goes on");
            for event in &batch.events {
                assert_eq!(
                    event.revision,
                    seen.next(),
                    "no event is missed or repeated"
                );
                seen = event.revision;
            }
            assert!(batch.revision <= seen, "only what was delivered is covered");
        }
    }
}

/// A watch that is read late has lost nothing, unless it reports that.
pub async fn watcher_that_reads_late_gets_everything_or_compacted(subject: &Subject) {
    let from = subject.revision().await.next();
    let mut watch = subject.watch_from(from).await;
    for at in 0..BURST {
        subject.put(&format!("k{}", at % 10), "1").await;
    }
    let mut expected = from;
    while expected.0 < from.0 + BURST as u64 {
        match next(&mut watch).await {
            Ok(batch) => {
                for event in &batch.events {
                    assert_eq!(event.revision, expected);
                    expected = expected.next();
                }
            }
            Err(WatchError::Compacted { .. }) => return,
            Err(error) => panic!("unexpected end of the watch: {error:?}"),
        }
    }
}
