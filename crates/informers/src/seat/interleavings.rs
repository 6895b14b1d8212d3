//! The hand-over between an informer and one handler under many interleavings. Built with
//! `--cfg shuttle` only; `cargo xtask ci` runs it.
//!
//! What a test says must hold in every order in which the threads' steps can be mixed. A wake-up
//! that gets lost leaves every thread waiting, which shuttle reports as a deadlock, with the
//! schedule that led to it. Covered are the lock and the waker of a seat; not tokio's channels,
//! which say how far the handler has come.

use std::collections::BTreeMap;

use kubist_apimachinery::ObjectMeta;
use shuttle::future::block_on;
use shuttle::thread::{self, JoinHandle};
use shuttle::{check_pct, check_random};

use super::*;
use crate::Delivery;

/// How many schedules each test tries of either kind.
const SCHEDULES: usize = 1_000;

/// How many orderings between two threads a schedule is to provoke.
const DEPTH: usize = 3;

/// The change after which nothing follows.
const LAST: &str = "last";

fn check(test: impl Fn(Delivery) + Send + Sync + Copy + 'static) {
    for delivery in [Delivery::Coalesced, Delivery::EveryEvent { pending_max: 8 }] {
        check_random(move || test(delivery), SCHEDULES);
        check_pct(move || test(delivery), SCHEDULES, DEPTH);
    }
}

fn seat(delivery: Delivery) -> Arc<Seat<ObjectMeta>> {
    let config = HandlerConfig {
        delivery,
        ..HandlerConfig::default()
    };
    Seat::new(config, None, Arc::default())
}

fn object(name: &str, version: &str) -> Arc<ObjectMeta> {
    Arc::new(ObjectMeta {
        name: name.into(),
        uid: name.into(),
        resource_version: version.into(),
        ..ObjectMeta::default()
    })
}

fn push(seat: &Seat<ObjectMeta>, change: &Change<ObjectMeta>) -> bool {
    seat.push(std::iter::once((NameHash::of(change), change)))
}

fn added(name: &str, initial: bool) -> Change<ObjectMeta> {
    let object = object(name, "1");
    Change::Added { object, initial }
}

/// A handler that knows what it was told, until the last change or the end of the seat.
fn handler(seat: &Arc<Seat<ObjectMeta>>) -> JoinHandle<BTreeMap<String, String>> {
    let seat = Arc::clone(seat);
    thread::spawn(move || {
        let mut told = BTreeMap::new();
        while !told.contains_key(LAST) {
            let Some(changes) = block_on(seat.take(2)) else {
                break;
            };
            let mut initial = 0;
            for change in changes {
                initial += usize::from(matches!(change, Change::Added { initial: true, .. }));
                if let Change::Added { object, .. } | Change::Updated { new: object, .. } = change {
                    told.insert(object.name.to_string(), object.resource_version.to_string());
                }
            }
            seat.note_progress(initial);
        }
        told
    })
}

#[test]
fn what_is_put_in_is_taken_out_whenever_the_handler_looks() {
    check(|delivery| {
        let seat = seat(delivery);
        let handler = handler(&seat);
        let (old, new) = (object("a", "1"), object("a", "2"));
        assert!(push(&seat, &added("a", false)));
        assert!(push(&seat, &Change::Updated { old, new }));
        assert!(push(&seat, &added(LAST, false)));
        let told = handler.join().expect("it does not panic");
        assert_eq!(told.get("a").map(String::as_str), Some("2"));
    });
}

#[test]
fn the_end_wakes_who_waits_and_nothing_is_told_after_it() {
    check(|delivery| {
        let seat = seat(delivery);
        let handler = handler(&seat);
        let informer = Arc::clone(&seat);
        let informer = thread::spawn(move || push(&informer, &added("a", false)));
        seat.end(HandlerState::Removed);
        handler.join().expect("it does not panic");
        informer.join().expect("it does not panic");
        assert!(matches!(block_on(seat.take(1)), None));
        assert!(!push(&seat, &added("b", false)));
    });
}

#[test]
fn a_first_list_is_synced_whoever_comes_last() {
    check(|delivery| {
        let seat = seat(delivery);
        let handler = handler(&seat);
        assert!(push(&seat, &added("a", true)));
        assert!(push(&seat, &added("b", true)));
        seat.fill();
        assert!(push(&seat, &added(LAST, false)));
        assert_eq!(handler.join().expect("it does not panic").len(), 3);
        assert_eq!(seat.current(), HandlerState::Synced);
    });
}
