//! `Plan`: what a seed decides before a run begins.
//!
//! Not every run has every fault: some of them are left out, others come often, so that each kind
//! of trouble is also seen alone.

mod cast;
mod schedule;

use crate::dice::Dice;
pub(crate) use cast::{ControllerPlan, Form, HandlerPlan, InformerPlan, Manner};
pub(crate) use schedule::{Step, Write, WriteVerb, schedule};
use std::time::Duration;

/// The names that objects have; few, so that they are deleted and made again.
pub(crate) const NAMES: [&str; 6] = ["ant", "bee", "cow", "doe", "eel", "fox"];
/// The namespaces that objects are in, which every server has.
pub(crate) const NAMESPACES: [&str; 2] = ["default", "kube-public"];
/// The values of the label that selectors look at; an empty one is no label.
pub(crate) const TIERS: [&str; 3] = ["web", "db", ""];
/// The label that selectors look at.
pub(crate) const TIER: &str = "tier";

/// A component that is broken on purpose, to see that its checker notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// The source does not say what happened where it cannot read the object.
    ForgetsTypes,
    /// The source says nothing of what it cannot read.
    HidesUnread,
    /// Of an object only the state is mapped to its owner that the store shows by then.
    MapsLastState,
    /// The source does not pass deletions on.
    LosesDeletions,
    /// A handler's adapter drops updates.
    StaleHandler,
    /// A handler's adapter tells old states again.
    RepeatsOldStates,
    /// A handler's adapter tells deletions twice.
    RepeatsDeletions,
    /// A handler's adapter holds the first list back.
    LateFirstList,
    /// A handler's adapter merges what it was to tell one by one.
    SkipsSteps,
    /// The reconciler says that it is done without looking.
    ForgetsKeys,
    /// The reconciler writes something else.
    WritesWrongly,
    /// A handler's mailbox keeps what was taken out.
    HoardsChanges,
    /// A task goes on after the shutdown.
    LeavesTask,
    /// Something happens that the seed does not decide.
    RollsOtherDice,
}

/// How often things go wrong, in percent of the occasions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble {
    /// A list or watch request that fails: 429, 500, 503, refused.
    pub(crate) refusals: u32,
    /// A list or watch request, or a stream, that fails with 410.
    pub(crate) expiries: u32,
    /// A batch after which a stream breaks, or ends.
    pub(crate) cuts: u32,
    /// A request or batch that comes late.
    pub(crate) delays: u32,
    /// The longest such delay.
    pub(crate) delay_max: Duration,
    /// An event that comes twice.
    pub(crate) duplicates: u32,
    /// A version of an object, or a bookmark, that cannot be read.
    pub(crate) unreadable: u32,
    /// Decides which.
    pub(crate) unreadable_seed: u64,
    /// Of a hundred events that cannot be read, those of which nothing can: neither what happened
    /// nor to whom.
    pub(crate) lost: u32,
    /// The longest time that bytes take through the network.
    pub(crate) latency_max: Duration,
    /// A reconcile that fails before or after its write, or panics, or hangs.
    pub(crate) reconciles: u32,
    /// A call of a handler that panics.
    pub(crate) handler_panics: u32,
}

/// What a run will be.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) trouble: Trouble,
    /// How long writes and faults go on.
    pub(crate) length: Duration,
    /// What happens when, in the order of time.
    pub(crate) steps: Vec<(Duration, Step)>,
    pub(crate) informers: Vec<InformerPlan>,
    pub(crate) controller: ControllerPlan,
    /// Events in one batch of a storage watch.
    pub(crate) batch_events_max: usize,
    /// How long the store keeps history.
    pub(crate) history_age: Duration,
    /// How long everybody may take to agree once faults have stopped.
    pub(crate) settle_max: Duration,
    pub(crate) defect: Option<Defect>,
}

/// Longer than the longest pause of a reflector and of a work queue together, and than a watch
/// may be silent; and than the slowest handler (30 s) needs for all that may wait for it (1,000
/// events).
const SETTLE_MAX: Duration = Duration::from_hours(10);
/// The same where nothing ever goes wrong.
const SETTLE_CALM_MAX: Duration = Duration::from_mins(1);

impl Plan {
    /// The plan of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let mut roll = dice.fork("plan");
        let length = roll.time(Duration::from_secs(20), Duration::from_secs(120));
        let informers = cast::informers(&mut dice.fork("informers"));
        Self {
            seed,
            trouble: trouble(&mut dice.fork("trouble")),
            length,
            steps: schedule(&mut dice.fork("steps"), length, informers.len()),
            informers,
            controller: cast::controller(&mut dice.fork("controller")),
            batch_events_max: roll.pick(&[1, 2, 1000]),
            history_age: roll.pick(&[Duration::from_secs(15), Duration::from_mins(10)]),
            settle_max: SETTLE_MAX,
            defect: None,
        }
    }

    /// A plan without faults.
    pub(crate) fn calm(seed: u64) -> Self {
        let mut plan = Self::of(seed);
        plan.trouble = Trouble::default();
        plan.history_age = Duration::from_mins(10);
        plan.steps
            .retain(|(_, step)| matches!(step, Step::Write(_)));
        plan.settle_max = SETTLE_CALM_MAX;
        plan
    }

    /// A plan without faults, with something broken.
    pub(crate) fn broken(seed: u64, defect: Defect) -> Self {
        let mut plan = Self::calm(seed);
        cast::suit(&mut plan.informers, defect);
        if matches!(defect, Defect::ForgetsTypes | Defect::HidesUnread) {
            plan.trouble.unreadable = 60;
            plan.trouble.unreadable_seed = seed;
        }
        if defect == Defect::ForgetsTypes {
            // Nothing takes the places of the ghosts.
            plan.steps.extend(schedule::deletions(plan.length));
        }
        plan.defect = Some(defect);
        plan
    }
}

fn trouble(dice: &mut Dice) -> Trouble {
    let mut percent = |most: u64| match dice.below(5) {
        0 | 1 => 0,
        _ => u32::try_from(dice.between(1, most)).unwrap_or(1),
    };
    let mut trouble = Trouble {
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
    trouble.latency_max = Duration::from_millis(dice.pick(&longest));
    trouble.unreadable_seed = dice.next();
    trouble.delay_max = dice.time(Duration::from_millis(10), trouble.delay_max);
    trouble
}
