//! Updates: changes, writes that change nothing, and concurrent writes.

use super::matrix;
use super::stack::{Stack, drain, edits, outcome, pod, take, typed, uid};
use kubist_apimachinery::Status;
use kubist_registry::storage::{Change, Changed, PutOptions, UpdateRequest};
use kubist_registry::{BoxFuture, StorageError, Stored};
use std::time::Duration;

matrix![
    a_missing_object_is_not_found_or_made,
    a_change_is_written_and_no_change_is_not,
    an_update_with_a_uid_changes_only_that_object,
    stale_values_are_rewritten_without_a_change,
    a_self_link_is_never_stored,
    an_update_that_creates_can_have_a_time_to_live,
    bytes_that_are_not_canonical_are_rewritten_once,
    an_update_that_lost_a_race_runs_once_more,
    a_rejected_change_of_a_stale_suggestion_is_retried,
    a_stale_suggestion_without_a_change_is_checked_against_storage,
    updates_at_once_all_count,
];

async fn update(s: &Stack, request: UpdateRequest<'_>, change: &mut dyn Change) -> Stored {
    let updated = s.storage.update(s.key("ns", "a"), request, change).await;
    outcome(updated).stored
}

async fn a_missing_object_is_not_found_or_made(s: &Stack) {
    let mut change = edits(|_| ());
    let missing = s
        .storage
        .update(s.key("ns", "a"), UpdateRequest::default(), &mut change)
        .await;
    assert!(matches!(missing, Err(StorageError::NotFound { .. })));
    assert_eq!(change.calls, 0);
    let request = UpdateRequest {
        missing_ok: true,
        ..UpdateRequest::default()
    };
    let mut change = edits(|pod| pod.metadata.name = "a".into());
    let made = s
        .storage
        .update(s.key("ns", "a"), request, &mut change)
        .await;
    let made = outcome(made);
    assert!(made.created && !made.deleted);
    assert_eq!(made.stored.revision(), s.head().await);
}

async fn a_change_is_written_and_no_change_is_not(s: &Stack) {
    let created = s.create("ns", "a").await;
    let same = s.edit("ns", "a", |_| ()).await;
    assert_eq!(same.revision(), created.revision());
    assert_eq!(s.head().await, created.revision());
    let changed = s.label("ns", "a", "x").await;
    assert_eq!(changed.revision(), created.revision() + 1);
    assert_eq!(typed(&changed).metadata.labels["k"], "x");
    assert_eq!(
        s.get("ns", "a").await.expect("it exists").revision(),
        changed.revision()
    );
}

async fn an_update_with_a_uid_changes_only_that_object(s: &Stack) {
    s.create("ns", "a").await;
    for (it, fits) in [("another", false), ("uid-of-a", true)] {
        let preconditions = uid(it);
        let request = UpdateRequest {
            preconditions: Some(&preconditions),
            ..UpdateRequest::default()
        };
        let mut change = edits(|pod| pod.spec.node_name = "n".into());
        let updated = s
            .storage
            .update(s.key("ns", "a"), request, &mut change)
            .await;
        assert_eq!(updated.is_ok(), fits);
        assert_eq!(change.calls, usize::from(fits));
    }
}

async fn stale_values_are_rewritten_without_a_change(s: &Stack) {
    let created = s.create("ns", "a").await;
    s.marked.set_stale(true);
    let rewritten = s.edit("ns", "a", |_| ()).await;
    assert_eq!(rewritten.revision(), created.revision() + 1);
    s.marked.set_stale(false);
    let same = s.edit("ns", "a", |_| ()).await;
    assert_eq!(same.revision(), rewritten.revision());
}

async fn a_self_link_is_never_stored(s: &Stack) {
    let created = s.create("ns", "a").await;
    let same = s
        .edit("ns", "a", |pod| pod.metadata.self_link = "/x".into())
        .await;
    assert_eq!(same.revision(), created.revision());
}

/// A change that writes an object with a lifetime.
struct WithTtl(Duration);

impl Change for WithTtl {
    fn attempt<'a>(&'a mut self, _: Option<&'a Stored>) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async {
            Ok(Changed::Write(
                Box::new(pod("ns", "a")),
                PutOptions {
                    ttl: Some(self.0),
                    ..PutOptions::default()
                },
            ))
        })
    }
}

async fn an_update_that_creates_can_have_a_time_to_live(s: &Stack) {
    let request = UpdateRequest {
        missing_ok: true,
        ..UpdateRequest::default()
    };
    let made = update(s, request, &mut WithTtl(Duration::from_secs(1))).await;
    let mut watch = s
        .watch("ns", &format!("resourceVersion={}", made.revision()))
        .await;
    let ended = made.revision() + 1;
    s.comes_to(ended).await;
    assert_eq!(take(&mut watch, 1).await, [format!("DELETED ns/a@{ended}")]);
}

async fn bytes_that_are_not_canonical_are_rewritten_once(s: &Stack) {
    s.create("ns", "a").await;
    // The same object as JSON: equal, but with other bytes.
    let json = br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","uid":"uid-of-a"}}"#;
    let other = s.put_raw("a", &super::faulty::marked(json)).await;
    let got = s.get("ns", "a").await.expect("it exists");
    assert_eq!(
        (got.revision(), typed(&got).metadata.uid.as_str()),
        (other, "uid-of-a")
    );
    let rewritten = s.edit("ns", "a", |_| ()).await;
    assert_eq!(rewritten.revision(), other + 1);
    let same = s.edit("ns", "a", |_| ()).await;
    assert_eq!(same.revision(), rewritten.revision());
    s.marked.set_stale(true);
    assert_eq!(
        s.edit("ns", "a", |_| ()).await.revision(),
        rewritten.revision() + 1
    );
    s.marked.set_stale(false);
}

/// A change that writes a label; the first attempt is overtaken by another write.
struct Raced<'s> {
    stack: &'s Stack,
    calls: usize,
}

impl Change for Raced<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            self.calls += 1;
            if self.calls == 1 {
                self.stack.label("ns", "a", "other").await;
            }
            let mut pod = typed(current.expect("it exists"));
            pod.spec.node_name = "n".into();
            Ok(Changed::Write(Box::new(pod), PutOptions::default()))
        })
    }
}

async fn an_update_that_lost_a_race_runs_once_more(s: &Stack) {
    s.create("ns", "a").await;
    let mut change = Raced { stack: s, calls: 0 };
    let updated = typed(&update(s, UpdateRequest::default(), &mut change).await);
    assert_eq!(change.calls, 2);
    assert_eq!(updated.metadata.labels["k"], "other");
    assert_eq!(updated.spec.node_name, "n");
}

/// A change that rejects objects without a label.
#[derive(Default)]
struct RequiresLabel(usize);

impl Change for RequiresLabel {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            self.0 += 1;
            let mut pod = typed(current.expect("it exists"));
            if pod.metadata.labels.is_empty() {
                return Err(Status::bad_request(format!("refused, {}", self.0)));
            }
            pod.spec.node_name = "n".into();
            Ok(Changed::Write(Box::new(pod), PutOptions::default()))
        })
    }
}

async fn a_rejected_change_of_a_stale_suggestion_is_retried(s: &Stack) {
    let created = s.create("ns", "a").await;
    let suggested = || UpdateRequest {
        suggestion: Some(created.clone()),
        ..UpdateRequest::default()
    };
    let mut change = RequiresLabel::default();
    let refused = s
        .storage
        .update(s.key("ns", "a"), suggested(), &mut change)
        .await;
    assert_eq!(
        refused.expect_err("it is stored so").to_string(),
        "refused, 1"
    );
    assert_eq!(change.0, 1, "the stored state is not retried");
    s.label("ns", "a", "x").await;
    let mut change = RequiresLabel::default();
    let updated = typed(&update(s, suggested(), &mut change).await);
    assert_eq!((change.0, updated.spec.node_name.as_str()), (2, "n"));
}

async fn a_stale_suggestion_without_a_change_is_checked_against_storage(s: &Stack) {
    let created = s.create("ns", "a").await;
    let current = s.label("ns", "a", "x").await;
    let request = UpdateRequest {
        suggestion: Some(created),
        ..UpdateRequest::default()
    };
    let mut change = edits(|_| ());
    let same = update(s, request, &mut change).await;
    assert_eq!(same.revision(), current.revision());
    assert_eq!(change.calls, 2);
}

async fn updates_at_once_all_count(s: &Stack) {
    s.create("ns", "a").await;
    let start = s.head().await;
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    let add = async |number: usize| {
        let mut change = edits(|pod| {
            pod.metadata
                .labels
                .insert(format!("k{number}").into(), "x".into());
        });
        update(s, UpdateRequest::default(), &mut change).await;
    };
    tokio::join!(add(1), add(2), add(3), add(4));
    let updated = typed(&s.get("ns", "a").await.expect("it exists"));
    assert_eq!(updated.metadata.labels.len(), 4);
    assert_eq!(drain(&mut watch).await.len(), 4);
}
