//! Checks of gets and ranges, now and in the past.

use super::Subject;
use crate::{KeyRange, RangeRequest, ReadError};

/// An absent key is a result, not an error.
pub async fn absent_key_is_no_error(subject: &Subject) {
    let revision = subject.put("a", "1").await;
    let response = subject
        .kv()
        .get(&subject.key("b"), None)
        .await
        .expect("a get works");
    assert_eq!((response.kv, response.revision), (None, revision));
}

/// Gets, ranges and counts do not change the revision.
pub async fn reads_never_move_the_revision(subject: &Subject) {
    let revision = subject.put("a", "1").await;
    subject.value("a", None).await;
    subject.value("absent", Some(revision)).await;
    subject.list(None, None).await;
    subject.list(Some(revision), Some(0)).await;
    assert_eq!(subject.revision().await, revision);
    assert_eq!(subject.put("a", "2").await, revision.next());
}

/// Each revision has its own state, including deletes.
pub async fn get_at_an_earlier_revision_sees_the_version_of_then(subject: &Subject) {
    let before = subject.put("other", "0").await;
    let first = subject.put("a", "1").await;
    let second = subject.put("a", "2").await;
    let deleted = subject.delete("a").await;
    let again = subject.put("a", "3").await;
    let expected = [
        (before, None),
        (first, Some("1")),
        (second, Some("2")),
        (deleted, None),
        (again, Some("3")),
    ];
    for (revision, value) in expected {
        let found = subject.value("a", Some(revision)).await;
        assert_eq!(found.as_deref(), value.map(str::as_bytes), "at {revision}");
    }
}

/// A past range lacks later keys and still has keys that were deleted later.
pub async fn range_at_an_earlier_revision_sees_the_keys_of_then(subject: &Subject) {
    subject.put("a", "1").await;
    subject.put("b", "1").await;
    let then = subject.put("c", "1").await;
    subject.put("aa", "2").await;
    subject.put("b", "2").await;
    subject.delete("c").await;
    subject.put("d", "2").await;
    let response = subject.list(Some(then), None).await;
    assert_eq!(subject.names(&response), ["a", "b", "c"]);
    assert!(response.kvs.iter().all(|kv| kv.value == "1"));
    assert_eq!((response.count, response.more), (3, false));
    let response = subject.list(Some(then), Some(1)).await;
    assert_eq!(
        (response.kvs.len(), response.count, response.more),
        (1, 3, true)
    );
    assert_eq!(
        subject.names(&subject.list(None, None).await),
        ["a", "aa", "b", "d"]
    );
}

/// A future revision is an error, not the current state.
pub async fn reading_ahead_of_the_store_fails(subject: &Subject) {
    let ahead = subject.put("a", "1").await.next();
    let result = subject.kv().get(&subject.key("a"), Some(ahead)).await;
    assert!(
        matches!(result, Err(ReadError::FutureRevision { .. })),
        "{result:?}"
    );
    let result = subject
        .kv()
        .range(RangeRequest::new(subject.all()).at(ahead))
        .await;
    assert!(
        matches!(result, Err(ReadError::FutureRevision { .. })),
        "{result:?}"
    );
}

/// The revision of a response is the current one.
pub async fn range_reports_the_stores_revision_not_the_one_read(subject: &Subject) {
    let first = subject.put("a", "1").await;
    let second = subject.put("b", "1").await;
    assert_eq!(subject.list(Some(first), None).await.revision, second);
    assert_eq!(subject.list(None, None).await.revision, second);
    let response = subject
        .kv()
        .get(&subject.key("a"), Some(first))
        .await
        .expect("a get works");
    assert_eq!(response.revision, second);
}

/// The count is that of all keys.
pub async fn count_ignores_the_limit(subject: &Subject) {
    for name in ["a", "b", "c", "d"] {
        subject.put(name, "1").await;
    }
    let response = subject.list(None, Some(3)).await;
    assert_eq!(subject.names(&response), ["a", "b", "c"]);
    assert_eq!((response.count, response.more), (4, true));
    let response = subject.list(None, Some(4)).await;
    assert_eq!(
        (response.kvs.len(), response.count, response.more),
        (4, 4, false)
    );
}

/// A limit of zero returns no items but the count.
pub async fn limit_of_zero_counts_only(subject: &Subject) {
    assert_eq!(subject.list(None, Some(0)).await.count, 0);
    assert!(!subject.list(None, Some(0)).await.more);
    subject.put("a", "1").await;
    let response = subject.list(None, Some(0)).await;
    assert_eq!(
        (response.kvs.len(), response.count, response.more),
        (0, 1, true)
    );
}

/// The end is exclusive, and bytes are compared as numbers.
pub async fn range_is_half_open_and_in_byte_order(subject: &Subject) {
    for name in ["b", "a/b", "a", "a.b", "\u{e9}", "B"] {
        subject.put(name, "1").await;
    }
    assert_eq!(
        subject.names(&subject.list(None, None).await),
        ["B", "a", "a.b", "a/b", "b", "\u{e9}"]
    );
    let range = KeyRange::between(subject.key("a"), subject.key("b"));
    let response = subject
        .kv()
        .range(RangeRequest::new(range))
        .await
        .expect("a range works");
    assert_eq!(subject.names(&response), ["a", "a.b", "a/b"]);
    let range = KeyRange::prefix(subject.key("a/"));
    let response = subject
        .kv()
        .range(RangeRequest::new(range))
        .await
        .expect("a range works");
    assert_eq!(subject.names(&response), ["a/b"]);
    let range = KeyRange::between(subject.key("b"), subject.key("a"));
    let response = subject
        .kv()
        .range(RangeRequest::new(range))
        .await
        .expect("a range works");
    assert_eq!(
        (response.kvs.len(), response.count, response.more),
        (0, 0, false)
    );
}

/// A paged list is consistent, whatever is written between its pages.
pub async fn pages_of_one_revision_see_one_state(subject: &Subject) {
    for at in 0..25 {
        subject.put(&format!("k{at:02}"), "1").await;
    }
    let then = subject.revision().await;
    let (mut range, mut names) = (subject.all(), Vec::new());
    for page in 0..5 {
        let request = RangeRequest::new(range.clone()).at(then).limit(5);
        let response = subject.kv().range(request).await.expect("a range works");
        assert_eq!((response.kvs.len(), response.count), (5, 25 - page * 5));
        assert!(response.kvs.iter().all(|kv| kv.value == "1"));
        names.extend(subject.names(&response));
        let last = response
            .kvs
            .last()
            .expect("a page is not empty")
            .key
            .clone();
        range = range.resumed_at([&last[..], b"\0"].concat());
        subject.put(&format!("k{:02}x", page * 7), "2").await;
        subject.put(&format!("k{:02}", 24 - page), "2").await;
        subject.delete(&format!("k{:02}", 10 + page)).await;
    }
    assert_eq!(
        names,
        (0..25).map(|at| format!("k{at:02}")).collect::<Vec<_>>()
    );
}
