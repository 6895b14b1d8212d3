//! The hand-over between an informer and one handler under many interleavings. Built with `--cfg
//! shuttle` only; `cargo xtask ci` runs it.
//!
//! Each test must pass for every interleaving of the threads' steps. A lost wake-up leaves every
//! thread waiting, which shuttle reports as a deadlock with its schedule. The tests cover the lock
//! and the waker of a listener, not tokio's channels for the handler's state.

use super::*;
use crate::Delivery;
use kubist_apimachinery::ObjectMeta;
use shuttle::future::block_on;
use shuttle::thread::{self, JoinHandle};
use shuttle::{check_pct, check_random};
use std::collections::BTreeMap;

/// The number of schedules that each test tries of either kind.
const SCHEDULES: usize = 1_000;

/// The number of thread orderings that a schedule forces.
const DEPTH: usize = 3;

/// The name of the last object.
const LAST: &str = "last";

fn check(test: impl Fn(Delivery) + Send + Sync + Copy + 'static) {
    for delivery in [Delivery::Coalesced, Delivery::EveryEvent { pending_max: 8 }] {
        check_random(move || test(delivery), SCHEDULES);
        check_pct(move || test(delivery), SCHEDULES, DEPTH);
    }
}

fn listener(delivery: Delivery) -> Arc<Listener<ObjectMeta>> {
    let config = HandlerConfig {
        delivery,
        ..HandlerConfig::default()
    };
    Listener::new(config, None, Arc::default())
}

fn object(name: &str, version: &str) -> Arc<ObjectMeta> {
    Arc::new(ObjectMeta {
        name: name.into(),
        uid: name.into(),
        resource_version: version.into(),
        ..ObjectMeta::default()
    })
}

fn push(listener: &Listener<ObjectMeta>, change: &ResourceEvent<ObjectMeta>) -> bool {
    listener.push(&Arc::new(Batch::new(vec![change.clone()])))
}

fn added(name: &str, initial: bool) -> ResourceEvent<ObjectMeta> {
    let object = object(name, "1");
    ResourceEvent::Added { object, initial }
}

/// Collects the state from the events, until the last object or the end of the listener.
fn handler(listener: &Arc<Listener<ObjectMeta>>) -> JoinHandle<BTreeMap<String, String>> {
    let listener = Arc::clone(listener);
    thread::spawn(move || {
        let mut observed = BTreeMap::new();
        while !observed.contains_key(LAST) {
            let Some(changes) = block_on(listener.take(2)) else {
                break;
            };
            let mut initial = 0;
            for change in changes {
                initial +=
                    usize::from(matches!(change, ResourceEvent::Added { initial: true, .. }));
                if let ResourceEvent::Added { object, .. }
                | ResourceEvent::Updated { new: object, .. } = change
                {
                    observed.insert(object.name.to_string(), object.resource_version.to_string());
                }
            }
            listener.note_progress(initial);
        }
        observed
    })
}

#[test]
fn what_is_put_in_is_taken_out_whenever_the_handler_looks() {
    check(|delivery| {
        let listener = listener(delivery);
        let handler = handler(&listener);
        let (old, new) = (object("a", "1"), object("a", "2"));
        assert!(push(&listener, &added("a", false)));
        assert!(push(&listener, &ResourceEvent::Updated { old, new }));
        assert!(push(&listener, &added(LAST, false)));
        let observed = handler.join().expect("it does not panic");
        assert_eq!(observed.get("a").map(String::as_str), Some("2"));
    });
}

#[test]
fn the_end_wakes_waiters_and_nothing_is_delivered_after_it() {
    check(|delivery| {
        let listener = listener(delivery);
        let handler = handler(&listener);
        let informer = Arc::clone(&listener);
        let informer = thread::spawn(move || push(&informer, &added("a", false)));
        listener.end(HandlerState::Removed);
        handler.join().expect("it does not panic");
        informer.join().expect("it does not panic");
        assert!(matches!(block_on(listener.take(1)), None));
        assert!(!push(&listener, &added("b", false)));
    });
}

#[test]
fn a_first_list_is_synced_whoever_comes_last() {
    check(|delivery| {
        let listener = listener(delivery);
        let handler = handler(&listener);
        assert!(push(&listener, &added("a", true)));
        assert!(push(&listener, &added("b", true)));
        listener.fill();
        assert!(push(&listener, &added(LAST, false)));
        assert_eq!(handler.join().expect("it does not panic").len(), 3);
        assert_eq!(listener.current(), HandlerState::Synced);
    });
}
