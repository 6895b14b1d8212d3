//! Deletes: preconditions, checks, suggestions and concurrent writes.

use super::matrix;
use super::stack::{Calls, Stack, typed, uid};
use kubist_apimachinery::Status;
use kubist_registry::storage::DeleteRequest;
use kubist_registry::{StorageError, Stored};

matrix![
    a_delete_returns_the_content_and_a_new_version,
    a_delete_with_a_uid_deletes_only_that_object,
    a_suggestion_that_is_right_saves_a_read,
    a_stale_suggestion_is_replaced_by_the_stored_state,
    a_concurrent_write_is_checked_again,
    a_suggestion_of_a_deleted_object_is_not_found,
    a_rejection_of_the_stored_state_is_final,
    a_rejection_of_a_stale_suggestion_is_retried,
    a_delete_that_only_the_suggestion_allows_fails,
    a_stale_suggestion_does_not_fail_a_precondition,
    a_precondition_that_only_the_suggestion_meets_fails,
];

fn suggestion(stored: &Stored) -> DeleteRequest<'static> {
    DeleteRequest {
        suggestion: Some(stored.clone()),
        ..DeleteRequest::default()
    }
}

async fn a_delete_returns_the_content_and_a_new_version(s: &Stack) {
    let created = s.create("ns", "a").await;
    let deleted = s.delete("ns", "a").await;
    assert_eq!(deleted.revision(), created.revision() + 1);
    let mut expected = typed(&created);
    expected.metadata.resource_version = deleted.revision().to_string().into();
    assert_eq!(typed(&deleted), expected);
    let again = s.try_delete("ns", "a", DeleteRequest::default()).await;
    assert!(matches!(again, Err(StorageError::NotFound { .. })));
}

async fn a_delete_with_a_uid_deletes_only_that_object(s: &Stack) {
    s.create("ns", "a").await;
    for (it, deleted) in [("another", false), ("uid-of-a", true)] {
        let preconditions = uid(it);
        let request = DeleteRequest {
            preconditions: Some(&preconditions),
            ..DeleteRequest::default()
        };
        let result = s.try_delete("ns", "a", request).await;
        match result {
            Ok(_) => assert!(deleted),
            Err(StorageError::InvalidObject { .. }) => assert!(!deleted),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(s.get("ns", "a").await.is_none());
}

async fn a_suggestion_that_is_right_saves_a_read(s: &Stack) {
    let created = s.create("ns", "a").await;
    let deleted = s.try_delete("ns", "a", suggestion(&created)).await;
    assert_eq!(
        deleted.expect("it exists").revision(),
        created.revision() + 1
    );
    assert!(s.get("ns", "a").await.is_none());
}

async fn a_stale_suggestion_is_replaced_by_the_stored_state(s: &Stack) {
    let created = s.create("ns", "a").await;
    s.label("ns", "a", "x").await;
    let deleted = s.try_delete("ns", "a", suggestion(&created)).await;
    let deleted = typed(&deleted.expect("it exists"));
    assert_eq!(deleted.metadata.labels["k"], "x");
}

async fn a_concurrent_write_is_checked_again(s: &Stack) {
    s.create("ns", "a").await;
    let calls = Calls::default();
    // The check of a delete is synchronous, so its concurrent write goes directly to the engine.
    let changed = s.raw_value("a").await;
    let write = s.other_writer();
    let put =
        kubist_storage::PutRequest::new(s.key("ns", "a"), changed, kubist_storage::Expected::Any);
    let allowed = |_: Option<&Stored>| -> Result<(), Status> {
        if calls.add() == 1 {
            write(put.clone());
        }
        Ok(())
    };
    let deleted = s
        .storage
        .delete(s.key("ns", "a"), DeleteRequest::default(), &allowed);
    deleted.await.expect("it exists");
    assert_eq!(calls.count(), 2);
    assert!(s.get("ns", "a").await.is_none());
}

async fn a_suggestion_of_a_deleted_object_is_not_found(s: &Stack) {
    let created = s.create("ns", "a").await;
    s.delete("ns", "a").await;
    let deleted = s.try_delete("ns", "a", suggestion(&created)).await;
    assert!(matches!(deleted, Err(StorageError::NotFound { .. })));
}

async fn a_rejection_of_the_stored_state_is_final(s: &Stack) {
    let created = s.create("ns", "a").await;
    let calls = Calls::default();
    let allowed = |_: Option<&Stored>| {
        calls.add();
        Err(Status::bad_request("no, thanks"))
    };
    let refused = s
        .storage
        .delete(s.key("ns", "a"), suggestion(&created), &allowed);
    match refused.await {
        Err(StorageError::Refused(status)) => assert_eq!(status.message, "no, thanks"),
        other => panic!("{other:?}"),
    }
    assert_eq!(calls.count(), 1);
}

async fn a_rejection_of_a_stale_suggestion_is_retried(s: &Stack) {
    let created = s.create("ns", "a").await;
    let current = s.label("ns", "a", "x").await.revision();
    let calls = Calls::default();
    let allowed = |it: Option<&Stored>| {
        calls.add();
        if it.is_some_and(|it| it.revision() == current) {
            return Ok(());
        }
        Err(Status::bad_request("stale"))
    };
    let deleted = s
        .storage
        .delete(s.key("ns", "a"), suggestion(&created), &allowed);
    deleted.await.expect("the stored state may be deleted");
    assert_eq!(calls.count(), 2);
}

async fn a_delete_that_only_the_suggestion_allows_fails(s: &Stack) {
    let created = s.create("ns", "a").await;
    let current = s.label("ns", "a", "x").await.revision();
    let allowed = |it: Option<&Stored>| {
        if it.is_some_and(|it| it.revision() == current) {
            return Err(Status::bad_request("live"));
        }
        Ok(())
    };
    let refused = s
        .storage
        .delete(s.key("ns", "a"), suggestion(&created), &allowed);
    let refused = refused
        .await
        .expect_err("the stored state may not be deleted");
    assert_eq!(refused.to_string(), "live");
    assert!(s.get("ns", "a").await.is_some());
}

async fn a_stale_suggestion_does_not_fail_a_precondition(s: &Stack) {
    let created = s.create("ns", "a").await;
    s.edit("ns", "a", |pod| pod.metadata.uid = "new".into())
        .await;
    let preconditions = uid("new");
    let request = DeleteRequest {
        preconditions: Some(&preconditions),
        ..suggestion(&created)
    };
    s.try_delete("ns", "a", request)
        .await
        .expect("the live uid is right");
    assert!(s.get("ns", "a").await.is_none());
}

async fn a_precondition_that_only_the_suggestion_meets_fails(s: &Stack) {
    let created = s.create("ns", "a").await;
    s.edit("ns", "a", |pod| pod.metadata.uid = "new".into())
        .await;
    let preconditions = uid("uid-of-a");
    let request = DeleteRequest {
        preconditions: Some(&preconditions),
        ..suggestion(&created)
    };
    let refused = s.try_delete("ns", "a", request).await;
    assert!(matches!(refused, Err(StorageError::InvalidObject { .. })));
    assert!(s.get("ns", "a").await.is_some());
}
