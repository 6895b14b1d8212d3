//! Delays: the earliest counts, and none is lost.

use super::*;

#[test]
fn a_delayed_item_is_ready_when_its_time_has_come() {
    let mut it = Bench::plain();
    it.add_after("a", 50 * MS);
    assert_eq!((it.len(), it.core.deadline()), (0, Some(50 * MS)));
    it.now = 49 * MS;
    assert_eq!(it.take(), None);
    it.now = 50 * MS;
    assert_eq!(it.take(), Some("a"));
}

/// Contract WORK-4.
#[test]
fn of_two_delays_the_earlier_one_wins() {
    let mut it = Bench::plain();
    it.add_after("a", 50 * MS);
    it.add_after("a", 30 * MS);
    it.add_after("a", 70 * MS);
    it.now = 30 * MS;
    assert_eq!(it.take(), Some("a"));
    it.succeed("a");
    it.now = 100 * MS;
    assert_eq!(it.take(), None);
}

#[test]
fn a_delay_of_zero_is_an_add() {
    let mut it = Bench::plain();
    it.add_after("a", ZERO);
    assert_eq!(it.take(), Some("a"));
}

#[test]
fn an_add_does_not_cancel_a_delay() {
    let mut it = Bench::plain();
    it.add_after("a", 50 * MS);
    it.add("a");
    assert_eq!(it.take(), Some("a"));
    it.succeed("a");
    it.now = 50 * MS;
    assert_eq!(it.take(), Some("a"));
}

#[test]
fn a_delay_that_ends_while_the_item_runs_runs_it_again() {
    let mut it = Bench::plain();
    it.add("a");
    assert_eq!(it.take(), Some("a"));
    it.add_after("a", 5 * MS);
    it.now = 6 * MS;
    assert_eq!(it.take(), None);
    it.succeed("a");
    assert_eq!(it.take(), Some("a"));
}

#[test]
fn delays_beyond_the_end_of_time_are_kept() {
    let mut it = Bench::plain();
    it.now = MS;
    it.add_after("a", Duration::MAX);
    assert_eq!(it.core.deadline(), Some(Duration::MAX));
    assert_eq!(it.take(), None);
}

#[test]
fn many_due_at_once_become_ready_in_parts_but_all_of_them() {
    let mut core: Core<u32> = Core::new(Config::default());
    let many = u32::try_from(3 * PROMOTED_MAX).expect("small");
    for item in 0..many {
        core.add_after(ZERO, item.into(), item, Lane::Normal, MS);
    }
    let taken: Vec<_> = std::iter::from_fn(|| match core.take(MS) {
        Take::Item { item, .. } => Some(item),
        Take::Nothing | Take::Closed => None,
    })
    .collect();
    assert_eq!(taken, (0..many).collect::<Vec<_>>());
}
