//! The core against a naive specification, by random operations.
//!
//! Goal: whatever the order of operations, the core hands out the same items in the same order as
//! a specification that is written with lists and searches and knows no slots, tickets or heaps.

use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;

use super::{
    slots::{Phase, SlotId},
    *,
};
use crate::rate_limiter::{AtMost, Exponential};

const MS: Duration = Duration::from_millis(1);
const PASSES_MAX: u32 = 2;

type Item = u8;

#[derive(Debug, Clone, Copy)]
enum Step {
    Add(Lane, Item),
    AddAfter(Lane, Item, u32),
    AddRateLimited(Lane, Item),
    Take,
    /// Ends the run of the nth item that is running.
    Finish(usize, End),
    Forget(Item),
    Advance(u32),
    ShutDown(bool),
}

#[derive(Debug, Clone, Copy)]
enum End {
    Succeed,
    Requeue(u32),
    Fail(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Duration,
    put: usize,
    item: Item,
    lane: Lane,
    backoff: bool,
}

/// What the queue should do, as plainly as it can be said.
#[derive(Default)]
struct Spec {
    keep_backoff: bool,
    now: Duration,
    puts: usize,
    closed: bool,
    ready: Vec<(Lane, Item)>,
    running: BTreeMap<Item, (Lane, Option<Lane>)>,
    delayed: Vec<Due>,
    failures: BTreeMap<Item, u32>,
    passes: BTreeMap<Lane, u32>,
    adds: u64,
    retries: u64,
}

impl Spec {
    fn pass_time(&mut self) {
        self.delayed.sort_unstable();
        while let Some(due) = self
            .delayed
            .first()
            .copied()
            .filter(|due| due.at <= self.now)
        {
            self.delayed.remove(0);
            self.dirty(due.lane, due.item);
        }
    }

    fn dirty(&mut self, lane: Lane, item: Item) {
        if let Some((_, again)) = self.running.get_mut(&item) {
            self.adds += u64::from(again.is_none());
            *again = (*again).max(Some(lane));
        } else if let Some(place) = self.ready.iter().position(|it| it.1 == item) {
            if self.ready[place].0 < lane {
                self.ready.remove(place);
                self.ready.push((lane, item));
            }
        } else {
            self.adds += 1;
            self.ready.push((lane, item));
        }
    }

    fn in_backoff(&mut self, lane: Lane, item: Item) -> bool {
        let keeps = self.keep_backoff;
        let due = self
            .delayed
            .iter_mut()
            .find(|due| due.item == item && due.backoff && keeps);
        due.is_some_and(|due| {
            due.lane = due.lane.max(lane);
            true
        })
    }

    fn delay(&mut self, lane: Lane, item: Item, wait: Duration, backoff: bool) {
        self.puts += 1;
        let mut due = Due {
            at: self.now + wait,
            put: self.puts,
            item,
            lane,
            backoff,
        };
        if let Some(place) = self.delayed.iter().position(|due| due.item == item) {
            let old = self.delayed.remove(place);
            due.lane = due.lane.max(old.lane);
            due.backoff |= old.backoff;
            if old.at <= due.at && !(self.keep_backoff && backoff) {
                (due.at, due.put) = (old.at, old.put);
            }
        }
        self.delayed.push(due);
    }

    fn later(&mut self, lane: Lane, item: Item, wait: Duration, backoff: bool) {
        if wait.is_zero() {
            self.dirty(lane, item);
        } else {
            self.delay(lane, item, wait, backoff);
        }
    }

    fn fail(&mut self, item: Item) -> Duration {
        let failures = self.failures.entry(item).or_default();
        *failures += 1;
        (10 * MS * 2_u32.pow(*failures - 1)).min(80 * MS)
    }

    fn forget(&mut self, item: Item) {
        self.failures.remove(&item);
        for due in self.delayed.iter_mut().filter(|due| due.item == item) {
            due.backoff = false;
        }
    }

    fn take(&mut self) -> Option<Item> {
        let lanes = [Lane::Background, Lane::Normal, Lane::Urgent];
        let waiting: Vec<_> = lanes
            .into_iter()
            .filter(|lane| self.ready.iter().any(|it| it.0 == *lane))
            .collect();
        let passed = |lane: &&Lane| self.passes.get(*lane).is_some_and(|it| *it >= PASSES_MAX);
        let lane = *waiting.iter().find(passed).or_else(|| waiting.last())?;
        for passed in waiting.into_iter().filter(|it| *it < lane) {
            *self.passes.entry(passed).or_default() += 1;
        }
        self.passes.remove(&lane);
        let place = self.ready.iter().position(|it| it.0 == lane)?;
        let (_, item) = self.ready.remove(place);
        self.running.insert(item, (lane, None));
        Some(item)
    }

    fn finish(&mut self, item: Item, end: End) {
        let (lane, mut again) = self.running.remove(&item).expect("it runs");
        match end {
            End::Succeed => self.forget(item),
            End::Requeue(wait) => {
                self.forget(item);
                if !self.closed {
                    self.put_back(lane, item, MS * wait, &mut again, false);
                }
            }
            End::Fail(wait_min) if !self.closed => {
                let wait = self.fail(item).max(MS * wait_min);
                self.put_back(lane, item, wait, &mut again, true);
            }
            End::Fail(_) => {}
        }
        if let Some(lane) = again {
            self.ready.push((lane, item));
        }
    }

    fn put_back(
        &mut self,
        lane: Lane,
        item: Item,
        wait: Duration,
        again: &mut Option<Lane>,
        backoff: bool,
    ) {
        self.retries += 1;
        if wait.is_zero() {
            self.adds += u64::from(again.is_none());
            *again = (*again).max(Some(lane));
        } else if backoff && self.keep_backoff {
            self.delay(
                again.take().map_or(lane, |it| it.max(lane)),
                item,
                wait,
                true,
            );
        } else {
            self.delay(lane, item, wait, backoff);
        }
    }

    fn shut_down(&mut self) {
        self.closed = true;
        self.delayed.clear();
    }

    fn apply(&mut self, step: Step) {
        if let Step::Advance(by) = step {
            self.now += MS * by;
        }
        self.pass_time();
        match step {
            Step::Add(lane, item) if !self.closed && !self.in_backoff(lane, item) => {
                self.dirty(lane, item);
            }
            Step::AddAfter(lane, item, wait) if !self.closed => {
                self.retries += 1;
                if !self.in_backoff(lane, item) {
                    self.later(lane, item, MS * wait, false);
                }
            }
            Step::AddRateLimited(lane, item) if !self.closed => {
                self.retries += 1;
                if !self.in_backoff(lane, item) {
                    let wait = self.fail(item);
                    self.later(lane, item, wait, true);
                }
            }
            Step::Forget(item) => self.forget(item),
            Step::ShutDown(_) => self.shut_down(),
            _ => {}
        }
    }

    fn knows(&self, item: Item) -> bool {
        self.running.contains_key(&item)
            || self.ready.iter().any(|it| it.1 == item)
            || self.delayed.iter().any(|due| due.item == item)
    }
}

fn lane() -> impl Strategy<Value = Lane> {
    prop_oneof![
        1 => Just(Lane::Background),
        3 => Just(Lane::Normal),
        1 => Just(Lane::Urgent),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let item = || 0_u8..6;
    let end = prop_oneof![
        3 => Just(End::Succeed),
        1 => (0_u32..40).prop_map(End::Requeue),
        3 => (0_u32..40).prop_map(End::Fail),
    ];
    prop_oneof![
        30 => (lane(), item()).prop_map(|(lane, item)| Step::Add(lane, item)),
        10 => (lane(), item(), 0_u32..60).prop_map(|(l, item, ms)| Step::AddAfter(l, item, ms)),
        6 => (lane(), item()).prop_map(|(lane, item)| Step::AddRateLimited(lane, item)),
        40 => Just(Step::Take),
        30 => (0_usize..6, end).prop_map(|(nth, end)| Step::Finish(nth, end)),
        4 => item().prop_map(Step::Forget),
        20 => (0_u32..30).prop_map(Step::Advance),
        1 => any::<bool>().prop_map(Step::ShutDown),
    ]
}

/// Every place that names an item agrees with the item.
fn assert_consistent(core: &Core<Item>) {
    let (mut ready, mut running, mut again, mut delayed) = (0, 0, 0, 0);
    for (slot, entry) in core.slots.used() {
        delayed += usize::from(entry.delayed.is_some());
        match entry.phase {
            Phase::Resting => assert!(entry.delayed.is_some(), "an idle item is kept"),
            Phase::Ready { .. } => ready += 1,
            Phase::Running {
                place,
                again: twice,
                ..
            } => {
                assert_eq!(core.running[place as usize], slot);
                running += 1;
                again += usize::from(twice.is_some());
            }
        }
    }
    assert_eq!(
        (ready, running, again, delayed),
        (
            core.lanes.len(),
            core.running.len(),
            core.again,
            core.delays.len()
        ),
    );
}

/// The core under test, what was taken from it, and what it should do.
struct Pair {
    core: Core<Item>,
    spec: Spec,
    hands: Vec<(Item, SlotId)>,
}

impl Pair {
    fn new(during_backoff: DuringBackoff) -> Self {
        let inner = Exponential {
            base: 10 * MS,
            max: Duration::from_secs(1000),
        };
        let core = Core::new(Config {
            limiter: Box::new(AtMost {
                inner,
                max: 80 * MS,
            }),
            during_backoff,
            passes_max: PASSES_MAX,
            ..Config::default()
        });
        let keep_backoff = during_backoff == DuringBackoff::KeepBackoff;
        let spec = Spec {
            keep_backoff,
            ..Spec::default()
        };
        Self {
            core,
            spec,
            hands: Vec::new(),
        }
    }

    fn apply(&mut self, step: Step) {
        self.spec.apply(step);
        let Self { core, spec, hands } = self;
        let now = spec.now;
        match step {
            Step::Add(lane, item) => core.add(now, item.into(), item, lane),
            Step::AddAfter(lane, item, ms) => {
                core.add_after(now, item.into(), item, lane, MS * ms);
            }
            Step::AddRateLimited(lane, item) => {
                core.add_rate_limited(now, item.into(), item, lane);
            }
            Step::Take => match core.take(now) {
                Take::Item {
                    slot,
                    item,
                    failures,
                } => {
                    assert_eq!(Some(item), spec.take());
                    assert_eq!(failures, spec.failures.get(&item).copied().unwrap_or(0));
                    hands.push((item, slot));
                }
                Take::Nothing | Take::Closed => assert_eq!(None, spec.take()),
            },
            Step::Finish(nth, end) if nth < hands.len() => {
                let (item, slot) = hands.remove(nth);
                spec.finish(item, end);
                let outcome = match end {
                    End::Succeed => Outcome::Succeeded,
                    End::Requeue(ms) => Outcome::Requeued(MS * ms),
                    End::Fail(ms) => Outcome::Failed { wait_min: MS * ms },
                };
                core.finish(now, slot, outcome);
            }
            Step::Forget(item) => core.forget(item.into(), &item),
            Step::Finish(..) | Step::Advance(_) => {}
            Step::ShutDown(drain) => core.shut_down(now, drain),
        }
    }

    fn assert_agree(&mut self) {
        let Self { core, spec, .. } = self;
        assert_eq!(core.len(spec.now), spec.ready.len());
        assert_eq!(core.deadline(), spec.delayed.iter().min().map(|due| due.at));
        for item in 0..6 {
            let failures = spec.failures.get(&item).copied().unwrap_or(0);
            let known = if spec.knows(item) { failures } else { 0 };
            assert_eq!(core.failures(item.into(), &item), known);
        }
        assert_eq!((core.adds, core.retries), (spec.adds, spec.retries));
        assert_consistent(core);
        // What the core forgets with an idle item, so does the specification.
        let idle: Vec<_> = (0..6).filter(|item| !spec.knows(*item)).collect();
        spec.failures.retain(|item, _| !idle.contains(item));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn behaves_as_specified(
        keep_backoff in any::<bool>(),
        steps in proptest::collection::vec(step(), 0..150),
    ) {
        let during = if keep_backoff { DuringBackoff::KeepBackoff } else { DuringBackoff::RunNow };
        let mut pair = Pair::new(during);
        for step in steps {
            pair.apply(step);
            pair.assert_agree();
        }
    }
}
