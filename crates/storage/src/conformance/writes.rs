//! Checks of compare-and-set puts and deletes.

use super::Subject;
use crate::{Expected, Guard, PutRequest, Revision, WriteError, WriteOutcome};

/// More than any engine accepts in a request.
const TOO_LARGE_BYTES: usize = 8 << 20;

/// A put or delete that changes something increments the revision by one.
pub async fn each_write_raises_the_revision_by_one(subject: &Subject) {
    let before = subject.revision().await;
    assert_eq!(subject.put("a", "1").await, before.next());
    assert_eq!(
        subject.put("a", "1").await,
        before.next().next(),
        "equal bytes too"
    );
    assert_eq!(subject.delete("a").await, Revision(before.0 + 3));
    assert_eq!(subject.revision().await, Revision(before.0 + 3));
}

/// Conflicts neither write nor increment.
pub async fn refused_writes_leave_no_trace(subject: &Subject) {
    let revision = subject.put("a", "1").await;
    let stale = Expected::Revision(revision.previous());
    assert_eq!(
        subject.put_if("a", "2", Expected::Absent).await.committed(),
        None
    );
    assert_eq!(subject.put_if("a", "2", stale).await.committed(), None);
    assert_eq!(subject.delete_if("a", stale).await.committed(), None);
    assert_eq!(
        subject
            .put_if("b", "2", Expected::Revision(revision))
            .await
            .committed(),
        None
    );
    assert_eq!(subject.revision().await, revision);
    assert_eq!(subject.list(None, None).await.count, 1);
    assert_eq!(subject.value("a", None).await.expect("it exists"), "1");
}

/// The version of a key counts its writes, and begins anew once it was deleted.
pub async fn version_counts_the_writes_since_the_creation(subject: &Subject) {
    let mut versions = Vec::new();
    for write in ["1", "2", "delete", "3", "4", "5"] {
        if write == "delete" {
            subject.delete("a").await;
            continue;
        }
        subject.put("a", write).await;
        let read = subject.kv().get(&subject.key("a"), None).await;
        versions.push(read.expect("it works").kv.map(|kv| kv.version));
    }
    assert_eq!(versions, [1, 2, 1, 2, 3].map(Some));
}

/// The loser of a create gets the winner's version.
pub async fn create_of_an_existing_key_conflicts_and_reads_it(subject: &Subject) {
    let created = subject.put_if("a", "1", Expected::Absent).await;
    let revision = created.committed().expect("the key was absent");
    for expected in [Expected::Absent, Expected::Revision(Revision::ZERO)] {
        let again = subject.put_if("a", "2", expected).await;
        check_conflict(&again, revision, Some(("1", revision)));
    }
}

/// A put that expects the current revision succeeds.
pub async fn put_of_the_seen_revision_replaces(subject: &Subject) {
    let created = subject.put("a", "1").await;
    let updated = subject.put_if("a", "2", Expected::Revision(created)).await;
    let kv = subject
        .kv()
        .get(&subject.key("a"), None)
        .await
        .expect("a get works")
        .kv;
    let kv = kv.expect("it exists");
    assert_eq!(kv.value, "2");
    assert_eq!(Some(kv.mod_revision), updated.committed());
    assert_eq!(kv.create_revision, created);
    assert!(!kv.is_created());
}

/// A conflict returns the newest version, or that the key is absent.
pub async fn put_of_another_revision_conflicts_and_reads_it(subject: &Subject) {
    let first = subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    let outcome = subject.put_if("a", "3", Expected::Revision(first)).await;
    check_conflict(&outcome, second, Some(("2", second)));
    let outcome = subject.put_if("b", "3", Expected::Revision(first)).await;
    check_conflict(&outcome, second, None);
}

/// The same for deletes.
pub async fn delete_of_another_revision_conflicts_and_reads_it(subject: &Subject) {
    let first = subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    let outcome = subject.delete_if("a", Expected::Revision(first)).await;
    check_conflict(&outcome, second, Some(("2", second)));
    let outcome = subject.delete_if("a", Expected::Revision(second)).await;
    assert_eq!(outcome.committed(), Some(second.next()));
    assert_eq!(subject.value("a", None).await, None);
}

/// Deleting an absent key is a conflict without a version, whatever was expected.
pub async fn absent_key_cannot_be_deleted(subject: &Subject) {
    let before = subject.revision().await;
    for expected in [Expected::Any, Expected::Absent, Expected::Revision(before)] {
        check_conflict(&subject.delete_if("a", expected).await, before, None);
    }
    assert_eq!(subject.revision().await, before);
}

/// A key that is written again after a delete has a new creation revision.
pub async fn key_put_again_after_delete_is_created_anew(subject: &Subject) {
    subject.put("a", "1").await;
    subject.delete("a").await;
    let again = subject.put_if("a", "2", Expected::Absent).await.committed();
    let kv = subject
        .kv()
        .get(&subject.key("a"), None)
        .await
        .expect("a get works")
        .kv;
    let kv = kv.expect("it exists");
    assert_eq!(
        (Some(kv.create_revision), Some(kv.mod_revision)),
        (again, again)
    );
    assert!(kv.is_created());
}

/// A put with guards conflicts once one of their keys was changed, deleted or created, although its
/// own key is as expected.
pub async fn guarded_put_happens_only_while_its_guards_are_the_same(subject: &Subject) {
    let guard = |name: &str, revision| Guard {
        key: subject.key(name),
        revision,
    };
    let put = async |expected, guards: Vec<Guard>| {
        let request = PutRequest::new(subject.key("a"), "1", expected).guards(guards);
        subject.kv().put(request).await.expect("it answers")
    };
    let judged = subject.put("g", "1").await;
    let absent = guard("none", Revision::ZERO);
    let both = vec![guard("g", judged), absent.clone()];
    let written = put(Expected::Absent, both.clone()).await.committed();
    let written = written.expect("both are as they were judged");
    let changed = subject.put("g", "2").await;
    for expected in [Expected::Any, Expected::Revision(written)] {
        let refused = put(expected, both.clone()).await;
        check_conflict(&refused, changed, Some(("1", written)));
    }
    let came = vec![guard("g", Revision::ZERO)];
    let refused = put(Expected::Revision(written), came).await;
    check_conflict(&refused, changed, Some(("1", written)));
    let gone = vec![guard("none", judged)];
    let refused = put(Expected::Revision(written), gone).await;
    check_conflict(&refused, changed, Some(("1", written)));
    let fresh = vec![guard("g", changed), absent];
    assert!(put(Expected::Any, fresh).await.committed().is_some());
}

/// An empty value is not an absent key.
pub async fn empty_value_is_a_value(subject: &Subject) {
    subject.put("a", "").await;
    assert_eq!(subject.value("a", None).await.expect("it exists"), "");
    assert_eq!(
        subject.put_if("a", "1", Expected::Absent).await.committed(),
        None
    );
}

/// Keys have at least one byte.
pub async fn empty_key_is_refused(subject: &Subject) {
    let before = subject.revision().await;
    let result = subject
        .kv()
        .put(PutRequest::new("", "1", Expected::Any))
        .await;
    assert!(matches!(result, Err(WriteError::EmptyKey)), "{result:?}");
    assert_eq!(subject.revision().await, before);
}

/// An oversized request is a specific error, and nothing is written.
pub async fn too_large_a_request_is_refused_whole(subject: &Subject) {
    let before = subject.put("a", "1").await;
    let request = PutRequest::new(subject.key("a"), vec![b'x'; TOO_LARGE_BYTES], Expected::Any);
    let result = subject.kv().put(request).await;
    assert!(
        matches!(result, Err(WriteError::TooLarge { .. })),
        "{result:?}"
    );
    assert_eq!(subject.revision().await, before);
    assert_eq!(subject.value("a", None).await.expect("it exists"), "1");
}

fn check_conflict(outcome: &WriteOutcome, at: Revision, expected: Option<(&str, Revision)>) {
    let WriteOutcome::Conflict { revision, current } = outcome else {
        panic!("expected a conflict, found {outcome:?}");
    };
    assert_eq!(*revision, at);
    let found = current
        .as_ref()
        .map(|kv| (kv.value.clone(), kv.mod_revision));
    assert_eq!(
        found,
        expected.map(|(value, revision)| (value.to_owned().into(), revision))
    );
}
