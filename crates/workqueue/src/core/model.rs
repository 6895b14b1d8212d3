//! The core against a simple specification, by random operations.
//!
//! Whatever the order of operations, the core returns the same items in the same order as a
//! specification that uses lists and searches, without slots, tickets or heaps.

mod spec;

use self::spec::Spec;
use super::schedule::IDLE_MAX;
use super::slots::Phase;
use super::*;
use crate::rate_limiter::{Exponential, MaxWait};
use crate::slot_id::SlotId;
use proptest::prelude::*;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const PASSES_MAX: u32 = 2;

type Item = u8;

#[derive(Debug, Clone, Copy)]
enum Step {
    Add(Lane, Item),
    AddAfter(Lane, Item, u32),
    AddRateLimited(Lane, Item),
    Take,
    /// Ends the run of the nth running item.
    Finish(usize, End),
    Forget(Item),
    Advance(u32),
    ShutDown(bool),
}

#[derive(Debug, Clone, Copy)]
enum End {
    Succeed,
    Requeue(u32),
    Postpone(u32),
    Fail(u32),
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
        1 => (0_u32..40).prop_map(|ms| End::Postpone(ms.saturating_sub(20))),
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

/// Checks that every reference to an item agrees with the item.
fn assert_consistent(core: &Core<Item>) {
    let (mut ready, mut running, mut again, mut delayed) = (0, 0, 0, 0);
    for (slot, entry) in core.slots.used() {
        delayed += usize::from(entry.delayed.is_some());
        match entry.phase {
            Phase::Resting => {
                let released_later = core.lanes.len() > 0 && core.idle.contains(&slot);
                let is_delayed = entry.delayed.is_some();
                assert!(is_delayed || released_later, "an idle item is kept");
            }
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
    assert!(core.idle.len() < IDLE_MAX, "idle items are released");
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

/// The core under test, the items taken from it, and the specification.
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
            limiter: Box::new(MaxWait {
                inner,
                max: 80 * MS,
            }),
            during_backoff,
            passes_max: PASSES_MAX,
            ..Config::default()
        });
        let keep_backoff = during_backoff == DuringBackoff::KeepBackoff;
        let spec = Spec::new(keep_backoff);
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
                    End::Postpone(ms) => Outcome::Postponed(MS * ms),
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
        // The specification forgets whatever the core forgets with an idle item.
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
