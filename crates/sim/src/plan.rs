//! `Plan`: what a seed decides before a run begins.
//!
//! Not every run has every fault: some are left out and others are frequent, so that each kind of
//! fault also occurs alone.

mod participants;
mod schedule;

use crate::rng::SimRng;
pub(crate) use participants::{ControllerPlan, Form, HandlerMode, HandlerPlan, InformerPlan};
pub(crate) use schedule::{Step, Write, WriteVerb, schedule};
use std::time::Duration;

/// The object names; few, so that objects are deleted and created again.
pub(crate) const NAMES: [&str; 6] = ["ant", "bee", "cow", "doe", "eel", "fox"];
/// The namespaces of objects, which every server has.
pub(crate) const NAMESPACES: [&str; 2] = ["default", "kube-public"];
/// The values of the label that selectors use; an empty value means no label.
pub(crate) const TIERS: [&str; 3] = ["web", "db", ""];
/// The label that selectors use.
pub(crate) const TIER: &str = "tier";

/// A deliberate defect of a component, to test that its checker detects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// The source omits the event type of undecodable objects.
    ForgetsTypes,
    /// The source omits undecodable objects.
    HidesUnread,
    /// Only the state that the store shows by then is mapped to its owner.
    MapsLastState,
    /// The source omits deletions.
    LosesDeletions,
    /// A handler's adapter drops updates.
    StaleHandler,
    /// A handler's adapter repeats old states.
    RepeatsOldStates,
    /// A handler's adapter repeats deletions.
    RepeatsDeletions,
    /// A handler's adapter delays the first list.
    LateFirstList,
    /// A handler's adapter merges events that it should deliver one by one.
    SkipsSteps,
    /// The reconciler returns without reading the object.
    ForgetsKeys,
    /// The reconciler writes a wrong copy.
    WritesWrongly,
    /// A handler's mailbox keeps events that were taken.
    HoardsChanges,
    /// A task continues after the shutdown.
    LeavesTask,
    /// Something happens that does not depend on the seed.
    Nondeterminism,
}

/// The frequencies of faults, in percent of the occasions.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultRates {
    /// A list or watch request that fails: 429, 500, 503, connection refused.
    pub(crate) refusals: u32,
    /// A list or watch request, or a stream, that fails with 410.
    pub(crate) expiries: u32,
    /// A batch after which a stream breaks or ends.
    pub(crate) cuts: u32,
    /// A delayed request or batch.
    pub(crate) delays: u32,
    /// The maximum delay.
    pub(crate) delay_max: Duration,
    /// A duplicated event.
    pub(crate) duplicates: u32,
    /// An undecodable version of an object, or bookmark.
    pub(crate) unreadable: u32,
    /// Decides which versions are undecodable.
    pub(crate) unreadable_seed: u64,
    /// The percentage of undecodable events whose type and name cannot be determined either.
    pub(crate) lost: u32,
    /// The maximum network latency.
    pub(crate) latency_max: Duration,
    /// A reconcile that fails before or after its write, panics, or hangs.
    pub(crate) reconciles: u32,
    /// A handler call that panics.
    pub(crate) handler_panics: u32,
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) trouble: FaultRates,
    /// How long writes and faults continue.
    pub(crate) length: Duration,
    /// What happens when, in order of time.
    pub(crate) steps: Vec<(Duration, Step)>,
    pub(crate) informers: Vec<InformerPlan>,
    pub(crate) controller: ControllerPlan,
    /// The maximum number of events in one batch of a storage watch.
    pub(crate) batch_events_max: usize,
    /// How long the store keeps history.
    pub(crate) history_age: Duration,
    /// How long convergence may take once faults have stopped.
    pub(crate) settle_max: Duration,
    pub(crate) defect: Option<Defect>,
}

/// Longer than the longest pauses of a reflector and of a work queue together, than a watch may be
/// silent, and than the slowest handler (30 s) needs for all its pending events (1,000).
const SETTLE_MAX: Duration = Duration::from_secs(10 * 3600);
/// The same without any faults.
const SETTLE_CALM_MAX: Duration = Duration::from_secs(60);

impl Plan {
    /// Creates the plan of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let rng = SimRng::new(seed);
        let mut roll = rng.fork("plan");
        let length = roll.time(Duration::from_secs(20), Duration::from_secs(120));
        let informers = participants::informers(&mut rng.fork("informers"));
        Self {
            seed,
            trouble: trouble(&mut rng.fork("trouble")),
            length,
            steps: schedule(&mut rng.fork("steps"), length, informers.len()),
            informers,
            controller: participants::controller(&mut rng.fork("controller")),
            batch_events_max: roll.pick(&[1, 2, 1000]),
            history_age: roll.pick(&[Duration::from_secs(15), Duration::from_secs(10 * 60)]),
            settle_max: SETTLE_MAX,
            defect: None,
        }
    }

    /// Creates a plan without faults.
    pub(crate) fn calm(seed: u64) -> Self {
        let mut plan = Self::of(seed);
        plan.trouble = FaultRates::default();
        plan.history_age = Duration::from_secs(10 * 60);
        plan.steps
            .retain(|(_, step)| matches!(step, Step::Write(_)));
        plan.settle_max = SETTLE_CALM_MAX;
        plan
    }

    /// Creates a plan without faults but with a defect.
    pub(crate) fn broken(seed: u64, defect: Defect) -> Self {
        let mut plan = Self::calm(seed);
        participants::suit(&mut plan.informers, defect);
        if matches!(defect, Defect::ForgetsTypes | Defect::HidesUnread) {
            plan.trouble.unreadable = 60;
            plan.trouble.unreadable_seed = seed;
        }
        if defect == Defect::ForgetsTypes {
            // Nothing replaces the objects that were kept by mistake.
            plan.steps.extend(schedule::deletions(plan.length));
        }
        plan.defect = Some(defect);
        plan
    }
}

fn trouble(rng: &mut SimRng) -> FaultRates {
    let mut percent = |most: u64| match rng.below(5) {
        0 | 1 => 0,
        _ => u32::try_from(rng.between(1, most)).unwrap_or(1),
    };
    let mut trouble = FaultRates {
        refusals: percent(40),
        expiries: percent(10),
        cuts: percent(30),
        delays: percent(50),
        delay_max: Duration::from_secs(5),
        duplicates: percent(30),
        latency_max: Duration::ZERO,
        reconciles: percent(30),
        handler_panics: percent(20),
        unreadable: percent(30),
        unreadable_seed: 0,
        lost: 10,
    };
    let longest = [0, 0, 5, 50, 500];
    trouble.latency_max = Duration::from_millis(rng.pick(&longest));
    trouble.unreadable_seed = rng.next();
    trouble.delay_max = rng.time(Duration::from_millis(10), trouble.delay_max);
    trouble
}
