//! The algorithm, sentence by sentence, on times that the test makes up.

use std::{hash::BuildHasher, sync::Arc};

use hashbrown::DefaultHashBuilder;

use super::{schedule::PROMOTED_MAX, *};
use crate::{
    config::Group,
    metrics::{Metric, MetricsSink},
    rate_limiter::FastSlow,
};

const MS: Duration = Duration::from_millis(1);
const ZERO: Duration = Duration::ZERO;

/// A core under test: items are words, hashes are made here, what is taken is remembered by name.
struct Bench {
    core: Core<&'static str>,
    hasher: DefaultHashBuilder,
    hands: Vec<(&'static str, SlotId)>,
    now: Duration,
}

impl Bench {
    fn new(config: Config<&'static str>) -> Self {
        let hasher = DefaultHashBuilder::default();
        Self {
            core: Core::new(config),
            hasher,
            hands: Vec::new(),
            now: ZERO,
        }
    }

    fn plain() -> Self {
        let ten = 10 * MS;
        Self::new(Config {
            limiter: limiter(ten),
            ..Config::default()
        })
    }

    fn add(&mut self, item: &'static str) {
        self.add_to(Lane::Normal, item);
    }

    fn add_to(&mut self, lane: Lane, item: &'static str) {
        self.core
            .add(self.now, self.hasher.hash_one(item), item, lane);
    }

    fn add_after(&mut self, item: &'static str, wait: Duration) {
        let hash = self.hasher.hash_one(item);
        self.core
            .add_after(self.now, hash, item, Lane::Normal, wait);
    }

    fn add_rate_limited(&mut self, item: &'static str) {
        let hash = self.hasher.hash_one(item);
        self.core
            .add_rate_limited(self.now, hash, item, Lane::Normal);
    }

    fn take(&mut self) -> Option<&'static str> {
        let Take::Item { slot, item, .. } = self.core.take(self.now) else {
            return None;
        };
        self.hands.push((item, slot));
        Some(item)
    }

    fn take_all(&mut self) -> Vec<&'static str> {
        std::iter::from_fn(|| self.take()).collect()
    }

    fn finish(&mut self, item: &str, outcome: Outcome) {
        let place = self
            .hands
            .iter()
            .position(|hand| hand.0 == item)
            .expect("it was taken");
        let (_, slot) = self.hands.remove(place);
        self.core.finish(self.now, slot, outcome);
    }

    fn succeed(&mut self, item: &str) {
        self.finish(item, Outcome::Succeeded);
    }

    fn fail(&mut self, item: &str) {
        self.finish(item, Outcome::Failed { wait_min: ZERO });
    }

    fn failures(&self, item: &'static str) -> u32 {
        self.core.failures(self.hasher.hash_one(item), &item)
    }

    fn len(&mut self) -> usize {
        self.core.len(self.now)
    }
}

fn limiter<T: ?Sized>(wait: Duration) -> Box<dyn RateLimiter<T>> {
    Box::new(FastSlow {
        fast: wait,
        slow: wait,
        fast_tries_max: 0,
    })
}

fn keeping() -> Bench {
    let during_backoff = DuringBackoff::KeepBackoff;
    Bench::new(Config {
        limiter: limiter(10 * MS),
        during_backoff,
        ..Config::default()
    })
}

#[test]
fn items_come_out_in_the_order_in_which_they_went_in() {
    let mut it = Bench::plain();
    for item in ["a", "b", "c"] {
        it.add(item);
    }
    assert_eq!(it.len(), 3);
    assert_eq!(it.take_all(), ["a", "b", "c"]);
    assert_eq!(it.len(), 0);
}

#[test]
fn many_adds_before_a_run_are_one_run() {
    let mut it = Bench::plain();
    for _ in 0..5 {
        it.add("a");
    }
    assert_eq!(it.take_all(), ["a"]);
    it.succeed("a");
    assert_eq!(it.take(), None);
    assert_eq!(it.core.slots.len(), 0, "nothing is kept");
}

#[test]
fn item_added_while_processing_runs_again_after_done() {
    let mut it = Bench::plain();
    it.add("a");
    assert_eq!(it.take(), Some("a"));
    for _ in 0..3 {
        it.add("a");
    }
    assert_eq!((it.len(), it.take()), (0, None), "one worker at a time");
    it.succeed("a");
    assert_eq!(it.take_all(), ["a"], "once, however often it was added");
    it.succeed("a");
    assert_eq!(it.take(), None);
}

#[test]
fn an_item_can_be_added_again_after_it_was_done() {
    let mut it = Bench::plain();
    for _ in 0..3 {
        it.add("a");
        assert_eq!(it.take(), Some("a"));
        it.succeed("a");
    }
    assert_eq!(it.take(), None);
}

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

#[test]
fn the_hand_out_limit_holds_for_requeues_too() {
    let hand_out = Some(Bucket::new(100 * MS, 1));
    let mut it = Bench::new(Config {
        hand_out,
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

#[test]
fn after_shutdown_the_queued_is_handed_out_and_the_delayed_dropped() {
    let mut it = Bench::plain();
    it.add("a");
    it.add("b");
    it.add_after("c", MS);
    assert_eq!(it.take(), Some("a"));
    it.core.shut_down(false);
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
fn a_drain_ends_when_all_that_was_queued_is_done() {
    let mut it = Bench::plain();
    it.add("a");
    it.add("b");
    assert_eq!(it.take(), Some("a"));
    it.core.shut_down(true);
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
    it.core.shut_down(true);
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
    it.core.shut_down(true);
    it.core.shut_down(true);
    assert!(!it.core.is_drained());
    it.core.shut_down(false);
    assert!(it.core.is_drained());
    it.core.shut_down(true);
    assert!(it.core.is_drained());
}

#[test]
fn an_item_that_was_done_is_no_longer_held() {
    let mut core: Core<Arc<str>> = Core::new(Config::default());
    let item: Arc<str> = Arc::from("a");
    core.add(ZERO, 1, Arc::clone(&item), Lane::Normal);
    let Take::Item {
        slot, item: taken, ..
    } = core.take(ZERO)
    else {
        panic!("it is ready")
    };
    drop(taken);
    core.finish(ZERO, slot, Outcome::Succeeded);
    assert_eq!(Arc::strong_count(&item), 1);
}

#[test]
fn the_memory_of_a_burst_is_given_back() {
    let mut core: Core<u64> = Core::new(Config::default());
    for item in 0..20_000 {
        core.add(ZERO, item, item, Lane::Normal);
    }
    while let Take::Item { slot, .. } = core.take(ZERO) {
        core.finish(ZERO, slot, Outcome::Succeeded);
    }
    assert_eq!(core.slots.capacity(), 0);
    core.add(ZERO, 1, 1, Lane::Normal);
    assert!(matches!(core.take(ZERO), Take::Item { item: 1, .. }));
}

#[derive(Debug)]
struct NoSink;

impl MetricsSink for NoSink {
    fn record(&self, _metric: Metric) {}
}

#[test]
fn metrics_tell_adds_retries_waits_and_work() {
    let mut it = Bench::new(Config {
        limiter: limiter(10 * MS),
        metrics: Some(Arc::new(NoSink)),
        ..Config::default()
    });
    it.add("a");
    it.add("a");
    it.now = 5 * MS;
    it.take();
    let report = it.core.take_report();
    assert_eq!((report.adds, report.queue_duration), (1, Some(5 * MS)));
    it.add("a");
    it.now = 8 * MS;
    let stats = it.core.stats(it.now);
    assert_eq!((stats.depth, stats.processing, stats.adds), (1, 1, 2));
    assert_eq!(
        (stats.unfinished_work, stats.longest_running),
        (3 * MS, 3 * MS)
    );
    it.fail("a");
    let report = it.core.take_report();
    assert_eq!((report.retries, report.work_duration), (1, Some(3 * MS)));
    it.now = 9 * MS;
    it.take();
    assert_eq!(
        it.core.take_report().queue_duration,
        Some(4 * MS),
        "since it was added again"
    );
    let stats = it.core.stats(it.now);
    assert_eq!((stats.depth, stats.delayed, stats.retries), (0, 1, 1));
}
