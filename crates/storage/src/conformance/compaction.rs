//! Checks of compaction.

use super::{Subject, events, next};
use crate::{CompactError, RangeRequest, ReadError, Revision, WatchError};

async fn compact(subject: &Subject, revision: Revision) {
    subject
        .kv()
        .compact(revision)
        .await
        .expect("the revision can be compacted");
}

/// The compacted revision is the oldest that can be read.
pub async fn reads_below_a_compaction_fail_and_at_it_work(subject: &Subject) {
    let first = subject.put("a", "1").await;
    subject.put("b", "1").await;
    let third = subject.put("a", "2").await;
    subject.put("a", "3").await;
    compact(subject, third).await;
    let result = subject.kv().get(&subject.key("a"), Some(first)).await;
    assert!(
        matches!(result, Err(ReadError::Compacted { .. })),
        "{result:?}"
    );
    let request = RangeRequest::new(subject.all()).at(third.previous());
    let result = subject.kv().range(request).await;
    assert!(
        matches!(result, Err(ReadError::Compacted { .. })),
        "{result:?}"
    );
    assert_eq!(
        subject.value("a", Some(third)).await.expect("readable"),
        "2"
    );
    assert_eq!(
        subject.value("b", Some(third)).await.expect("readable"),
        "1"
    );
    assert!(subject.kv().compacted() >= third, "the process knows of it");
}

/// Only replaced versions are discarded.
pub async fn current_values_survive_compaction(subject: &Subject) {
    subject.put("a", "1").await;
    subject.put("b", "1").await;
    subject.delete("b").await;
    let last = subject.put("c", "1").await;
    compact(subject, last).await;
    assert_eq!(subject.names(&subject.list(None, None).await), ["a", "c"]);
    assert_eq!(
        subject.names(&subject.list(Some(last), None).await),
        ["a", "c"]
    );
    assert_eq!(subject.revision().await, last, "compaction is not a write");
    assert_eq!(subject.put("b", "2").await, last.next());
}

/// Compaction moves forward, and not past the current revision.
pub async fn compacting_again_or_ahead_is_refused(subject: &Subject) {
    let first = subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    compact(subject, second).await;
    for old in [first, second] {
        let result = subject.kv().compact(old).await;
        assert!(
            matches!(result, Err(CompactError::Compacted { .. })),
            "{result:?}"
        );
    }
    let result = subject.kv().compact(second.next()).await;
    assert!(
        matches!(result, Err(CompactError::FutureRevision { .. })),
        "{result:?}"
    );
    assert_eq!(subject.value("a", None).await.expect("it exists"), "2");
}

/// A watch that would miss events ends with the oldest revision that is available.
pub async fn watch_from_below_a_compaction_ends_with_compacted(subject: &Subject) {
    let first = subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    compact(subject, second).await;
    let mut watch = subject.watch_from(first).await;
    match next(&mut watch).await {
        Err(WatchError::Compacted { compacted, .. }) => assert_eq!(compacted, second),
        other => panic!("expected the watch to be compacted, found {other:?}"),
    }
    assert!(watch.next().await.is_none(), "nothing follows an error");
}

/// History from the compacted revision on is complete.
pub async fn watch_from_the_compacted_revision_works(subject: &Subject) {
    subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    let third = subject.put("a", "3").await;
    compact(subject, second).await;
    let mut watch = subject.watch_from(second).await;
    let found: Vec<_> = events(&mut watch, 2)
        .await
        .iter()
        .map(|it| it.revision)
        .collect();
    assert_eq!(found, [second, third]);
}
