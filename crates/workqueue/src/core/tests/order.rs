//! Lanes, groups and the dispatch limit.

use super::*;

#[test]
fn a_change_during_a_kept_backoff_comes_back_in_its_higher_lane() {
    let mut it = keeping();
    it.add("a");
    it.take();
    it.fail("a");
    it.add_to(Lane::Urgent, "a");
    it.now = 10 * MS;
    it.add("b");
    it.add("c");
    assert_eq!(it.take_all(), ["a", "b", "c"]);
}

/// Contract WORK-6.
#[test]
fn an_item_that_becomes_urgent_moves_up_and_never_down() {
    let mut it = Bench::plain();
    it.add_to(Lane::Background, "resync");
    it.add("b");
    it.add_to(Lane::Urgent, "resync");
    it.add_to(Lane::Background, "b");
    assert_eq!(it.len(), 2);
    assert_eq!(it.take_all(), ["resync", "b"]);
}

#[test]
fn a_failed_item_comes_back_in_its_lane() {
    let mut it = Bench::plain();
    it.add_to(Lane::Background, "a");
    it.take();
    it.fail("a");
    it.now = 10 * MS;
    assert_eq!(it.len(), 1);
    it.add("b");
    assert_eq!(it.take_all(), ["b", "a"]);
}

/// Contract WORK-6.
#[test]
fn the_background_is_not_starved_by_a_constant_stream() {
    let mut it = Bench::plain();
    it.add_to(Lane::Background, "low");
    let mut before = 0;
    loop {
        it.add_to(Lane::Urgent, "high");
        let taken = it.take().expect("two wait");
        it.succeed(taken);
        if taken == "low" {
            break;
        }
        before += 1;
    }
    assert_eq!(before, crate::config::PASSES_MAX_DEFAULT);
}

#[test]
fn groups_take_turns() {
    let group = Group::by(|item: &&'static str| item.split('/').next().map(str::to_owned));
    let mut it = Bench::new(Config {
        group: Some(group),
        ..Config::default()
    });
    for item in ["big/1", "big/2", "big/3", "small/1", "tiny/1"] {
        it.add(item);
    }
    assert_eq!(
        it.take_all(),
        ["big/1", "small/1", "tiny/1", "big/2", "big/3"]
    );
}

/// Contract WORK-8.
#[test]
fn the_hand_out_limit_holds_for_requeues_too() {
    let dispatch_limit = Some(Bucket::new(100 * MS, 1));
    let mut it = Bench::new(Config {
        dispatch_limit,
        ..Config::default()
    });
    it.add("a");
    assert_eq!(it.take(), Some("a"));
    it.finish("a", Outcome::Requeued(MS));
    it.now = MS;
    assert_eq!((it.take(), it.len(), it.core.runnable()), (None, 1, 0));
    assert_eq!(it.core.deadline(), Some(100 * MS));
    it.now = 100 * MS;
    assert_eq!(it.take(), Some("a"));
    it.succeed("a");
    assert_eq!(it.core.deadline(), None);
}
