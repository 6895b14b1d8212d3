//! Shutdown and draining.

use super::*;

#[test]
fn after_shutdown_the_queued_is_handed_out_and_the_delayed_dropped() {
    let mut it = Bench::plain();
    it.add("a");
    it.add("b");
    it.add_after("c", MS);
    assert_eq!(it.take(), Some("a"));
    it.core.shut_down(it.now, false);
    it.add("d");
    it.add_after("e", ZERO);
    it.add_rate_limited("f");
    it.now = 20 * MS;
    assert_eq!(it.take_all(), ["b"]);
    assert!(matches!(it.core.take(it.now), Take::Closed));
    it.fail("a");
    it.finish("b", Outcome::Requeued(ZERO));
    assert_eq!((it.take(), it.core.slots.len()), (None, 0));
}

#[test]
fn an_item_due_before_a_shutdown_is_handed_out() {
    for drain in [false, true] {
        let mut it = Bench::plain();
        it.add_after("a", MS);
        it.add_after("b", 3 * MS);
        it.now = 2 * MS;
        it.core.shut_down(it.now, drain);
        assert_eq!(it.take_all(), ["a"]);
    }
}

/// Contract WORK-10.
#[test]
fn a_drain_ends_when_all_that_was_queued_is_done() {
    let mut it = Bench::plain();
    it.add("a");
    it.add("b");
    assert_eq!(it.take(), Some("a"));
    it.core.shut_down(it.now, true);
    assert!(!it.core.is_drained());
    it.succeed("a");
    assert!(!it.core.is_drained(), "b is queued");
    assert_eq!(it.take(), Some("b"));
    assert!(!it.core.is_drained(), "b is being worked on");
    it.succeed("b");
    assert!(it.core.is_drained());
}

#[test]
fn a_drain_waits_for_what_was_added_again_while_it_ran() {
    let mut it = Bench::plain();
    it.add("a");
    it.take();
    it.add("a");
    it.core.shut_down(it.now, true);
    assert!(
        matches!(it.core.take(it.now), Take::Nothing),
        "a is still to come"
    );
    it.succeed("a");
    assert!(!it.core.is_drained());
    assert_eq!(it.take(), Some("a"));
    assert!(matches!(it.core.take(it.now), Take::Closed));
    it.succeed("a");
    assert!(it.core.is_drained());
}

#[test]
fn a_shutdown_releases_a_drain_and_a_later_drain_does_not_take_it_back() {
    let mut it = Bench::plain();
    it.add("a");
    it.take();
    it.core.shut_down(it.now, true);
    it.core.shut_down(it.now, true);
    assert!(!it.core.is_drained());
    it.core.shut_down(it.now, false);
    assert!(it.core.is_drained());
    it.core.shut_down(it.now, true);
    assert!(it.core.is_drained());
}
