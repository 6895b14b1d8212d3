//! The algorithm's contracts one by one, with explicit times.

mod at_rest;
mod delays;
mod failures;
mod metrics;
mod order;
mod shutdown;

use super::schedule::{IDLE_MAX, PROMOTED_MAX};
use super::*;
use crate::config::Group;
use crate::metrics::{Metric, MetricsSink};
use crate::rate_limiter::FastSlow;
use hashbrown::DefaultHashBuilder;
use std::hash::BuildHasher;
use std::sync::Arc;

const MS: Duration = Duration::from_millis(1);
const ZERO: Duration = Duration::ZERO;

/// A core under test: items are words, hashes are computed here, and taken items are found by name.
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

/// Contract WORK-2.
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

/// Contract WORK-2.
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

/// Contract WORK-12.
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

/// Contract WORK-12.
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

/// Contract WORK-12.
#[test]
fn a_rare_delay_in_a_long_queue_costs_as_much_as_in_a_short_one() {
    let mut core: Core<u64> = Core::new(Config::default());
    for item in 0..10_000 {
        core.add(ZERO, item, item, Lane::Normal);
    }
    let mut now = ZERO;
    core.add_after(now, 10_000, 10_000, Lane::Normal, MS);
    let kept = core.delays.memory();
    for item in 10_001..10_100 {
        now += 2 * MS;
        core.add_after(now, item, item, Lane::Normal, MS);
        assert!(
            core.delays.memory() >= kept,
            "it is not allocated each time"
        );
    }
    while let Take::Item { slot, .. } = core.take(now + 2 * MS) {
        core.finish(now + 2 * MS, slot, Outcome::Succeeded);
    }
    assert_eq!(core.delays.memory(), 0);
}

#[test]
fn what_the_intake_brings_makes_no_more_items_ready_than_another_operation() {
    let mut core: Core<u64> = Core::new(Config::default());
    for item in 0..10_000 {
        core.add_after(ZERO, item, item, Lane::Normal, MS);
    }
    let added = |item| Entry::Added {
        hash: item,
        item,
        lane: Lane::Normal,
    };
    let mut entries: Vec<_> = (20_000..20_128).map(added).collect();
    core.bring_in(2 * MS, &mut entries);
    assert_eq!(core.lanes.len(), PROMOTED_MAX + 128);
}
