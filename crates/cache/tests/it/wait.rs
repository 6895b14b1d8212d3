//! Waits for one's own writes.

use crate::{apply, list, object};
use kubist_apimachinery::ObjectName;
use kubist_cache::{Deleted, Delta, Indexer, Visibility, WaitError, Written};
use std::future::{pending, ready};
use std::time::Duration;
use tokio::time::sleep;

fn deleted(text: &str) -> Delta<kubist_apimachinery::ObjectMeta> {
    Delta::Deleted(Deleted::Known(object(text)))
}

/// Contract CACHE-15.
#[test]
fn a_saved_object_is_shown_once_it_or_the_store_has_come_to_its_version() {
    let written = Written::saved(&*object("a/x@7"));
    let mut indexer = Indexer::new();
    let lister = indexer.lister();
    let shown = |delta| {
        apply(&mut indexer, delta);
        lister.visibility(&written)
    };
    let steps = [
        (list("5", &["a/x@4"]), Visibility::NotYet),
        (Delta::Updated(object("a/other@6")), Visibility::NotYet),
        (Delta::Updated(object("a/x@7")), Visibility::Shown),
        (Delta::Updated(object("a/x@9")), Visibility::Shown),
        (deleted("a/x@10"), Visibility::Shown),
    ];
    let mut shown = shown;
    for (delta, expected) in steps {
        assert_eq!(shown(delta), expected);
    }
}

#[test]
fn a_write_that_the_selection_hides_is_shown_by_the_stores_version() {
    let written = Written::saved(&*object("a/hidden@107"));
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("99", &["a/x@4"]));
    assert_eq!(indexer.lister().visibility(&written), Visibility::NotYet);
    apply(&mut indexer, Delta::Bookmark("106".into()));
    assert_eq!(indexer.lister().visibility(&written), Visibility::NotYet);
    apply(&mut indexer, Delta::Bookmark("1000".into()));
    assert_eq!(indexer.lister().visibility(&written), Visibility::Shown);
}

/// Contract CACHE-15.
#[test]
fn a_deletion_is_shown_once_that_uid_is_gone_also_when_a_new_object_has_the_name() {
    let old = object("a/x@7");
    let mut new = (*object("a/x@9")).clone();
    new.uid = "another".into();
    let of = |version: &str| Written::deleted_object(&*object(&format!("a/x@{version}")));
    let by_name = Written::deleted(ObjectName::new("a", "x"), "uid-x");

    let mut indexer = Indexer::new();
    let lister = indexer.lister();
    assert_eq!(
        lister.visibility(&by_name),
        Visibility::NotYet,
        "no list yet"
    );
    apply(&mut indexer, list("5", &[]));
    assert_eq!(lister.visibility(&by_name), Visibility::Shown);
    assert_eq!(
        lister.visibility(&of("7")),
        Visibility::NotYet,
        "the store has not seen the object come"
    );
    apply(&mut indexer, Delta::Added(old));
    assert_eq!(lister.visibility(&of("7")), Visibility::NotYet);
    apply(&mut indexer, Delta::Updated(new.into()));
    assert_eq!(lister.visibility(&of("7")), Visibility::Shown);
    assert_eq!(lister.visibility(&by_name), Visibility::Shown);
}

#[tokio::test(start_paused = true)]
async fn waiters_wake_when_the_store_publishes_and_not_before() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@4"]));
    let lister = indexer.lister();
    let written = Written::saved(&*object("a/x@7"));
    let begin = tokio::time::Instant::now();
    let waits = async {
        let first = lister.wait_for(&written, pending::<()>());
        let second = lister.wait_for(&written, sleep(Duration::from_secs(60)));
        tokio::join!(first, second)
    };
    let writes = async {
        sleep(Duration::from_secs(3)).await;
        apply(&mut indexer, Delta::Updated(object("a/y@6")));
        sleep(Duration::from_secs(3)).await;
        indexer.apply(Delta::Updated(object("a/x@7")), &mut Vec::new());
        sleep(Duration::from_secs(3)).await;
        indexer.publish();
    };
    let (waits, ()) = tokio::join!(waits, writes);
    assert_eq!(waits, (Ok(()), Ok(())));
    assert_eq!(begin.elapsed(), Duration::from_secs(9));
}

/// Contract CACHE-15.
#[tokio::test(start_paused = true)]
async fn past_the_deadline_the_error_says_what_is_missing() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@4"]));
    let lister = indexer.lister();
    let written = Written::saved(&*object("a/x@7"));
    let begin = tokio::time::Instant::now();
    let late = lister
        .wait_for(&written, sleep(Duration::from_secs(2)))
        .await;
    assert_eq!(begin.elapsed(), Duration::from_secs(2));
    let store = "5".into();
    assert_eq!(
        late,
        Err(WaitError::Deadline {
            written: written.clone(),
            store,
            problem: None,
        })
    );
    assert_eq!(
        late.expect_err("late").to_string(),
        "the cache is at version \"5\" and does not show a/x@7 yet"
    );
    indexer.set_problem(Some("the server said 401".into()));
    let late = lister.wait_for(&written, ready(())).await;
    assert_eq!(
        late.expect_err("late").to_string(),
        "the cache is at version \"5\" and does not show a/x@7 yet: the server said 401"
    );
    indexer.set_problem(None);
    apply(&mut indexer, Delta::Bookmark("7".into()));
    let shown = lister.wait_for(&written, ready(())).await;
    assert_eq!(shown, Ok(()), "what is shown is shown, deadline or not");
}

/// Contract CACHE-15.
#[tokio::test(start_paused = true)]
async fn a_writer_that_never_rests_does_not_keep_the_deadline_from_counting() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &[]));
    let lister = indexer.lister();
    let written = Written::saved(&*object("a/x@7"));
    let mut polls = 0;
    // Publishes at each poll, so that there is always a change.
    let deadline = std::future::poll_fn(|cx| {
        polls += 1;
        apply(&mut indexer, Delta::Bookmark("6".into()));
        cx.waker().wake_by_ref();
        if polls < 100 {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    });
    let late = lister.wait_for(&written, deadline).await;
    assert!(matches!(late, Err(WaitError::Deadline { .. })));
}

/// Contract CACHE-15.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_closed_ends_waits() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@4"]));
    let lister = indexer.lister();
    let written = Written::saved(&*object("a/x@7"));
    let stop = async {
        sleep(Duration::from_secs(1)).await;
        drop(indexer);
    };
    let (waited, ()) = tokio::join!(lister.wait_for(&written, pending::<()>()), stop);
    assert_eq!(waited, Err(WaitError::Closed { written }));
    assert!(lister.is_closed());
    let seen = Written::saved(&*object("a/x@4"));
    assert_eq!(lister.wait_for(&seen, pending::<()>()).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn versions_that_are_no_numbers_match_exactly_or_are_incomparable() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("v-5", &["a/x@v-4"]));
    let lister = indexer.lister();
    let written = Written::saved(&*object("a/x@v-7"));
    assert_eq!(lister.visibility(&written), Visibility::Unknown);
    let late = lister.wait_for(&written, sleep(Duration::from_secs(2)));
    let late = late.await.expect_err("nothing came");
    assert!(matches!(late, WaitError::Incomparable { .. }));
    assert_eq!(
        late.to_string(),
        "versions cannot be compared: \"v-5\" in the cache, a/x@v-7"
    );
    apply(&mut indexer, Delta::Updated(object("a/x@v-7")));
    assert_eq!(lister.visibility(&written), Visibility::Shown);
    let gone = Written::deleted_object(&*object("a/x@v-7"));
    assert_eq!(lister.visibility(&gone), Visibility::NotYet);
    apply(&mut indexer, deleted("a/x@v-8"));
    assert_eq!(lister.visibility(&gone), Visibility::Shown);
}

#[tokio::test(start_paused = true)]
async fn several_writes_share_one_deadline() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &[]));
    let lister = indexer.lister();
    let writes = ["a/x@6", "a/y@7"].map(|text| Written::saved(&*object(text)));
    let begin = tokio::time::Instant::now();
    let wait = lister.wait_for_all(writes.clone(), sleep(Duration::from_secs(4)));
    let write = async {
        sleep(Duration::from_secs(3)).await;
        apply(&mut indexer, Delta::Added(object("a/x@6")));
    };
    let (waited, ()) = tokio::join!(wait, write);
    let Err(WaitError::Deadline { written, .. }) = waited else {
        panic!("{waited:?}");
    };
    assert_eq!(written, writes[1]);
    assert_eq!(begin.elapsed(), Duration::from_secs(4));
}
