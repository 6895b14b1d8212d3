//! Failures, backoff and forgetting.

use super::*;

#[test]
fn a_failed_item_comes_back_through_the_limiter() {
    let mut it = Bench::new(Config::default());
    it.add("a");
    for (failures, wait) in [(1, 5), (2, 10), (3, 20)] {
        assert_eq!(it.take(), Some("a"));
        it.fail("a");
        assert_eq!((it.failures("a"), it.take()), (failures, None));
        it.now += MS * (wait - 1);
        assert_eq!(it.take(), None);
        it.now += MS;
    }
    assert_eq!(it.take(), Some("a"));
    it.succeed("a");
    assert_eq!(it.failures("a"), 0);
    assert_eq!(it.core.slots.len(), 0);
}

#[test]
fn a_failure_can_ask_for_a_longer_wait_but_not_a_shorter_one() {
    let mut it = Bench::plain();
    it.add("a");
    it.take();
    it.finish("a", Outcome::Failed { wait_min: 70 * MS });
    assert_eq!(it.core.deadline(), Some(70 * MS));
    it.now = 70 * MS;
    it.take();
    it.finish("a", Outcome::Failed { wait_min: MS });
    assert_eq!(it.core.deadline(), Some(80 * MS));
}

#[test]
fn a_requeue_forgets_failures_and_goes_round_the_limiter() {
    let mut it = Bench::plain();
    it.add_rate_limited("a");
    assert_eq!(it.failures("a"), 1);
    it.now = 10 * MS;
    it.take();
    it.finish("a", Outcome::Requeued(60 * MS));
    assert_eq!((it.failures("a"), it.core.deadline()), (0, Some(70 * MS)));
}

#[test]
fn forget_clears_the_count_and_leaves_the_schedule() {
    let mut it = Bench::new(Config::default());
    it.add_rate_limited("a");
    it.add_rate_limited("a");
    assert_eq!(it.failures("a"), 2);
    it.core.forget(it.hasher.hash_one("a"), &"a");
    assert_eq!(it.failures("a"), 0);
    it.now = 5 * MS;
    assert_eq!(it.take(), Some("a"));
}

#[test]
fn by_default_a_change_cuts_a_backoff_short() {
    let mut it = Bench::plain();
    it.add("a");
    it.take();
    it.fail("a");
    it.add("a");
    assert_eq!(it.take(), Some("a"));
    it.succeed("a");
    it.now = 10 * MS;
    assert_eq!(
        it.take(),
        Some("a"),
        "the retry that was scheduled still fires"
    );
}

/// Contract WORK-9.
#[test]
fn a_kept_backoff_is_cut_short_by_nothing_but_forget() {
    let mut it = keeping();
    it.add("a");
    it.take();
    it.add("a");
    it.fail("a");
    assert_eq!(it.take(), None, "also not by a change during the run");
    it.add("a");
    it.add_after("a", MS);
    it.add_rate_limited("a");
    it.now = 9 * MS;
    assert_eq!(
        (it.take(), it.failures("a")),
        (None, 1),
        "nor do changes inflate it"
    );
    it.core.forget(it.hasher.hash_one("a"), &"a");
    it.add("a");
    assert_eq!(it.take(), Some("a"));
}

#[test]
fn a_kept_backoff_outlasts_an_earlier_delay() {
    let mut it = keeping();
    it.add("a");
    it.take();
    it.add_after("a", MS);
    it.fail("a");
    assert_eq!(it.core.deadline(), Some(10 * MS));
}

#[test]
fn work_that_was_not_begun_comes_back_as_it_was() {
    let mut it = Bench::plain();
    it.add_to(Lane::Urgent, "a");
    it.take();
    it.fail("a");
    it.now = 10 * MS;
    it.take();
    it.finish("a", Outcome::Postponed(ZERO));
    it.add_to(Lane::Normal, "b");
    assert_eq!(it.take_all(), ["a", "b"], "in its lane");
    assert_eq!((it.failures("a"), it.core.retries), (1, 1));
    it.finish("a", Outcome::Postponed(5 * MS));
    assert_eq!((it.take(), it.core.deadline()), (None, Some(15 * MS)));
    it.now = 15 * MS;
    assert_eq!((it.take(), it.failures("a")), (Some("a"), 1));
    it.add("a");
    it.core.shut_down(it.now, true);
    it.finish("a", Outcome::Postponed(ZERO));
    assert_eq!(it.take_all(), ["a"], "also while draining, and once");
}
