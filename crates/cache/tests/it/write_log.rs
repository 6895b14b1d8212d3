//! The log of own writes.

use crate::{apply, list, object};
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{Delta, Indexer, Outcome, WRITES_MAX, WaitError, WriteLog, Written};
use proptest::prelude::*;
use std::future::pending;
use std::time::Duration;
use tokio::time::sleep;

fn name(name: &str) -> ObjectName {
    ObjectName::new("a", name)
}

#[test]
fn writes_are_outstanding_until_the_lister_shows_them_and_are_forgotten_then() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@4"]));
    let lister = indexer.lister();
    let log = WriteLog::<ObjectMeta>::new();
    log.saved(&*object("a/x@7"));
    assert_eq!(log.pending(&name("x")).expect("own").version(), &"7");
    assert!(log.unseen(&lister, &name("x")).is_some());
    assert!(log.unseen(&lister, &name("y")).is_none());
    apply(&mut indexer, Delta::Updated(object("a/x@8")));
    assert!(
        log.pending(&name("x")).is_some(),
        "no query found it visible"
    );
    assert!(log.unseen(&lister, &name("x")).is_none());
    assert!(log.pending(&name("x")).is_none() && log.is_empty());

    log.deleted(name("x"), "uid-x");
    log.saved(&*object("a/z@9"));
    log.prune(&lister);
    assert_eq!(log.len(), 2);
    apply(&mut indexer, list("10", &[]));
    log.prune(&lister);
    assert!(log.is_empty());
}

#[test]
fn a_dry_run_without_version_is_not_waited_for() {
    let log = WriteLog::<ObjectMeta>::new();
    log.saved(&*object("a/x@"));
    assert!(log.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_key_waits_for_what_was_written_on_its_behalf_and_for_nothing_else() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &[]));
    let lister = indexer.lister();
    let log = WriteLog::<ObjectMeta>::new();
    log.for_key(&name("shop")).saved(&*object("a/pod-1@6"));
    log.for_key(&name("shop")).saved(&*object("a/pod-2@7"));
    log.for_key(&name("other")).saved(&*object("a/pod-3@9"));
    assert_eq!(log.unseen_of(&lister, &name("shop")).len(), 2);
    assert_eq!(log.unseen_of(&lister, &name("shop-2")).len(), 0);
    let shop = name("shop");
    let wait = log.wait_for_key(&lister, &shop, sleep(Duration::from_secs(5)));
    let late = wait.await.expect_err("nothing came");
    assert!(matches!(late, WaitError::Deadline { .. }));
    let wait = log.wait_for_key(&lister, &shop, pending::<()>());
    let write = async {
        sleep(Duration::from_secs(1)).await;
        apply(&mut indexer, Delta::Added(object("a/pod-1@6")));
        sleep(Duration::from_secs(1)).await;
        apply(&mut indexer, Delta::Bookmark("8".into()));
    };
    assert_eq!(tokio::join!(wait, write).0, Ok(()));
    assert_eq!(log.len(), 1, "the other key's write is still outstanding");
}

#[test]
fn what_makes_room_is_waited_for_by_everybody_until_the_store_has_come_that_far() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("1", &[]));
    let lister = indexer.lister();
    let log = WriteLog::<ObjectMeta>::new();
    for version in 2..WRITES_MAX + 4 {
        log.saved(&*object(&format!("a/{version}@{version}")));
    }
    assert_eq!((log.len(), log.evicted_total()), (WRITES_MAX, 2));
    let floor = log.unseen(&lister, &name("2")).expect("it made room");
    assert_eq!(floor.version(), &"3");
    assert!(log.unseen(&lister, &name("never-written")).is_some());
    apply(&mut indexer, Delta::Bookmark("3".into()));
    assert!(log.unseen(&lister, &name("2")).is_none());
    assert!(log.unseen(&lister, &name("4")).is_some());
}

/// Every order of recording leaves the same write to wait for.
#[test]
fn answers_may_be_recorded_in_any_order() {
    let mut reborn = (*object("a/x@9")).clone();
    reborn.uid = "another".into();
    let saved = Written::saved(&*object("a/x@5"));
    let changed = Written::saved(&*object("a/x@7"));
    let deleted = Written::deleted_object(&*object("a/x@7"));
    let reborn = Written::saved(&reborn);
    let all = [saved, changed, deleted, reborn];
    for length in 1..=all.len() {
        let expected = &all[length - 1];
        proptest!(|(order in Just(all[..length].to_vec()).prop_shuffle())| {
            let log = WriteLog::<ObjectMeta>::new();
            for written in order {
                log.record(written);
            }
            let pending = log.pending(&name("x"));
            prop_assert_eq!(pending.as_ref(), Some(expected));
        });
    }
}

#[test]
fn a_deletion_waits_for_the_version_of_the_own_write_before_it() {
    let log = WriteLog::<ObjectMeta>::new();
    log.saved(&*object("a/x@7"));
    log.deleted(name("x"), "");
    let pending = log.pending(&name("x")).expect("own");
    assert_eq!(pending.uid, "uid-x");
    let after = "7".into();
    assert_eq!(pending.outcome, Outcome::Deleted { after });
    log.saved(&{
        let mut reborn = (*object("a/x@9")).clone();
        reborn.uid = "another".into();
        reborn
    });
    assert!(!log.pending(&name("x")).expect("own").is_deletion());
}

#[test]
fn what_is_forgotten_is_waited_for_no_more_but_a_later_write_stays() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &[]));
    let (lister, log, key) = (
        indexer.lister(),
        WriteLog::<ObjectMeta>::new(),
        name("shop"),
    );
    log.for_key(&key).saved(&*object("a/x@7"));
    let given_up = log.pending(&name("x")).expect("own");
    log.for_key(&key).saved(&*object("a/x@8"));
    log.forget(&given_up);
    assert_eq!(
        log.unseen_of(&lister, &key).len(),
        1,
        "the later write is another"
    );

    log.forget(&log.pending(&name("x")).expect("own"));
    assert!(log.is_empty() && log.unseen_of(&lister, &key).is_empty());
    log.forget(&given_up);
    log.for_key(&key).saved(&*object("a/y@9"));
    log.forget(&Written::saved(&*object("a/x@9")));
    assert_eq!(
        log.unseen_of(&lister, &key).len(),
        1,
        "that was another object"
    );
}

#[test]
fn what_made_room_can_be_forgotten_too() {
    let indexer = Indexer::<ObjectMeta>::new();
    let (lister, log) = (indexer.lister(), WriteLog::<ObjectMeta>::new());
    for number in 0..=WRITES_MAX {
        log.saved(&*object(&format!("a/x{number}@{}", number + 1)));
    }
    assert_eq!(log.evicted_total(), 1);
    // The greatest evicted version is outstanding for every name.
    let floor = log.unseen(&lister, &name("other")).expect("it has to wait");
    log.forget(&floor);
    assert!(log.unseen(&lister, &name("other")).is_none());
    assert_eq!(log.len(), WRITES_MAX, "the others stay");
}
