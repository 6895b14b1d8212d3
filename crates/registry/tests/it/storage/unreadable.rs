//! Undecodable values: reported individually, never deleted by accident, removed on request.

use super::faulty::marked;
use super::held_back;
use super::matrix;
use super::stack::{Calls, Stack, edits, names};
use kubist_registry::storage::{DeleteRequest, UpdateRequest};
use kubist_registry::{StorageError, Stored, WatchEvent};

matrix![
    a_value_in_a_foreign_form_fails_every_method_and_stays,
    a_list_names_undecodable_objects_and_returns_the_rest,
    a_corrupt_payload_is_detected_before_it_is_delivered,
    a_complete_list_fails_and_names_undecodable_objects,
    undecodable_objects_can_be_removed_on_request,
    decodable_objects_are_not_removed_as_unreadable,
    a_suggestion_does_not_make_an_object_unreadable,
    a_repair_in_the_middle_saves_the_object,
    a_watch_that_begins_with_an_undecodable_object_ends,
    the_removal_of_an_undecodable_object_ends_a_watch,
    nothing_follows_an_error,
];

const UNREADABLE: DeleteRequest<'_> = DeleteRequest {
    preconditions: None,
    suggestion: None,
    unreadable: true,
};

async fn a_value_in_a_foreign_form_fails_every_method_and_stays(s: &Stack) {
    s.create("ns", "a").await;
    s.put_raw("a", b"no mark").await;
    let head = s.head().await;
    let internal = |error: StorageError| match error {
        StorageError::Refused(status) => status.code == 500,
        _ => false,
    };
    for version in [None, Some(head)] {
        let got = s.storage.get(&s.key("ns", "a"), version).await;
        assert!(internal(got.expect_err("it cannot be read")));
    }
    let listed = s.list("ns", "").await.expect("the list can be read");
    assert_eq!(listed.complete().expect_err("its object cannot").code, 500);
    let mut change = edits(|_| ());
    let request = UpdateRequest::default();
    let updated = s
        .storage
        .update(s.key("ns", "a"), request, &mut change)
        .await;
    assert!(internal(updated.expect_err("it cannot be read")));
    assert_eq!(change.calls, 0);
    let deleted = s.try_delete("ns", "a", DeleteRequest::default()).await;
    assert!(internal(deleted.expect_err("it cannot be read")));
    assert_eq!(s.raw_value("a").await, "no mark");
}

async fn a_list_names_undecodable_objects_and_returns_the_rest(s: &Stack) {
    for name in ["a", "b", "c", "d"] {
        s.create("ns", name).await;
    }
    s.put_raw("b", b"no mark").await;
    s.put_raw("d", &marked(b"no envelope")).await;
    for query in ["", "limit=10"] {
        let listed = s.list("ns", query).await.expect("it is reached");
        assert_eq!(names(&listed), ["ns/a", "ns/c"]);
        let keys: Vec<_> = listed.unreadable.iter().map(|it| it.key.clone()).collect();
        assert_eq!(keys, [s.key("ns", "b"), s.key("ns", "d")]);
    }
}

/// The envelope is valid, so only decoding finds the error.
async fn a_corrupt_payload_is_detected_before_it_is_delivered(s: &Stack) {
    for name in ["a", "b", "c"] {
        s.create("ns", name).await;
    }
    let mut value = s.raw_value("b").await.to_vec();
    let uid = b"uid-of-b";
    let at = value.windows(uid.len()).position(|it| it == uid);
    // The length prefix of the string.
    value[at.expect("it has a uid") - 1] = 0x7f;
    let start = s.head().await;
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    s.put_raw("b", &value).await;
    let listed = s.list("ns", "").await.expect("it is reached");
    assert_eq!(names(&listed), ["ns/a", "ns/c"]);
    assert_eq!(listed.unreadable[0].key, s.key("ns", "b"));
    let got = s.storage.get(&s.key("ns", "b"), None).await;
    assert!(got.is_err());
    s.create("ns", "d").await;
    assert_eq!(held_back::seen(&mut watch, 1).await, ["ADDED d"]);
}

async fn a_complete_list_fails_and_names_undecodable_objects(s: &Stack) {
    s.create("ns", "fine").await;
    for number in 0..120 {
        s.put_raw(&format!("p{number:03}"), b"no mark").await;
    }
    let listed = s.list("ns", "").await.expect("it is reached");
    let status = listed.complete().expect_err("most cannot be read");
    assert_eq!(status.code, 500);
    assert_eq!(status.reason, "StorageReadError");
    let causes = status.details.expect("details").causes;
    assert_eq!(causes.len(), 101);
    assert_eq!(causes[0].field, s.key("ns", "p000"));
    assert_eq!(causes[100].reason, "FieldValueTooMany");
}

async fn undecodable_objects_can_be_removed_on_request(s: &Stack) {
    for value in [b"no mark".to_vec(), marked(b"no envelope")] {
        s.create("ns", "a").await;
        s.put_raw("a", &value).await;
        let calls = Calls::default();
        let allowed = |it: Option<&Stored>| {
            assert!(it.is_none(), "the object cannot be decoded");
            calls.add();
            Ok(())
        };
        let removed = s.storage.delete(s.key("ns", "a"), UNREADABLE, &allowed);
        removed.await.expect("it cannot be read");
        assert_eq!(calls.count(), 1);
        assert!(s.get("ns", "a").await.is_none());
    }
}

async fn decodable_objects_are_not_removed_as_unreadable(s: &Stack) {
    s.create("ns", "a").await;
    let refused = s.try_delete("ns", "a", UNREADABLE).await;
    match refused {
        Err(StorageError::InvalidObject { why, .. }) => {
            assert!(why.starts_with("unsafe deletion not allowed"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    assert!(s.get("ns", "a").await.is_some());
}

async fn a_suggestion_does_not_make_an_object_unreadable(s: &Stack) {
    s.create("ns", "a").await;
    let good = s.raw_value("a").await;
    let broken = s.put_raw("a", b"no mark").await;
    let kind = s.storage.kind();
    let suggestion = Stored::from_raw(kind, broken, bytes::Bytes::from_static(b"\xff"));
    s.put_raw("a", &good).await;
    let request = DeleteRequest {
        suggestion: Some(suggestion),
        ..UNREADABLE
    };
    let refused = s.try_delete("ns", "a", request).await;
    assert!(matches!(refused, Err(StorageError::InvalidObject { .. })));
}

async fn a_repair_in_the_middle_saves_the_object(s: &Stack) {
    s.create("ns", "a").await;
    let good = s.raw_value("a").await;
    s.put_raw("a", b"no mark").await;
    let (write, key) = (s.other_writer(), s.key("ns", "a"));
    let repaired = Calls::default();
    let allowed = |_: Option<&Stored>| {
        if repaired.add() == 1 {
            let expected = kubist_storage::Expected::Any;
            let put = kubist_storage::PutRequest::new(key.clone(), good.clone(), expected);
            write(put);
        }
        Ok(())
    };
    let refused = s
        .storage
        .delete(s.key("ns", "a"), UNREADABLE, &allowed)
        .await;
    assert!(
        matches!(refused, Err(StorageError::InvalidObject { .. })),
        "{refused:?}"
    );
    assert!(s.get("ns", "a").await.is_some());
}

async fn one_error(watch: &mut kubist_registry::EventStream) -> kubist_apimachinery::Status {
    let events = watch.next().await.expect("one event");
    let Some(WatchEvent::Error(status)) = events.last() else {
        panic!("it cannot be read: {events:?}");
    };
    assert!(watch.next().await.is_none(), "nothing follows");
    (**status).clone()
}

async fn a_watch_that_begins_with_an_undecodable_object_ends(s: &Stack) {
    s.create("ns", "a").await;
    s.put_raw("a", b"no mark").await;
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                   &allowWatchBookmarks=true";
    for query in ["", initial] {
        let mut watch = s.watch("ns", query).await;
        let status = one_error(&mut watch).await;
        assert_eq!(
            (status.code, status.reason.as_str()),
            (500, "StorageReadError")
        );
    }
}

async fn the_removal_of_an_undecodable_object_ends_a_watch(s: &Stack) {
    s.create("ns", "a").await;
    let start = s.put_raw("a", b"no mark").await;
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    s.try_delete("ns", "a", UNREADABLE)
        .await
        .expect("it cannot be read");
    let status = one_error(&mut watch).await;
    assert_eq!(
        (status.code, status.reason.as_str()),
        (500, "StorageReadError")
    );
}

async fn nothing_follows_an_error(s: &Stack) {
    s.create("ns", "a").await;
    let start = s.put_raw("a", b"no mark").await;
    let mut watches = Vec::new();
    for _ in 0..10 {
        watches.push(s.watch("ns", &format!("resourceVersion={start}")).await);
    }
    s.try_delete("ns", "a", UNREADABLE)
        .await
        .expect("it cannot be read");
    s.create("ns", "b").await;
    for mut watch in watches {
        assert_eq!(one_error(&mut watch).await.code, 500);
    }
}
