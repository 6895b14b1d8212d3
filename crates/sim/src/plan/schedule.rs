//! What happens when: writes, and what befalls the server, the network and the clients.

use super::cast::{HandlerPlan, handler};
use super::{NAMES, NAMESPACES, TIERS};
use crate::dice::Dice;
use std::time::Duration;

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Somebody writes.
    Write(Write),
    /// The store gives up its history.
    Compact,
    /// The server ends and comes back later.
    RestartServer {
        /// It ends watches and waits for requests first.
        graceful: bool,
        /// It comes back with an empty store, at a later revision.
        loses_state: bool,
        down_for: Duration,
    },
    /// An informer ends with all it holds, and another takes its place.
    RestartInformer { informer: usize },
    /// The controller ends with its queue, and another takes its place.
    RestartController,
    /// Every connection of the clients breaks.
    CutConnections,
    /// Connections stay open, but nothing comes through them.
    Stall { time: Duration },
    /// Storage fails now and then.
    StorageFails { time: Duration },
    /// A handler comes late.
    AddHandler { informer: usize, plan: HandlerPlan },
    /// The handler that was added last goes.
    RemoveHandler { informer: usize },
}

/// What somebody writes to one object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    pub(crate) verb: WriteVerb,
    /// The value of the label; empty for none.
    pub(crate) tier: &'static str,
    /// Whom it names as its owner; empty for nobody.
    pub(crate) owner: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteVerb {
    /// Creates it, or changes what it says.
    Put,
    /// Creates it, or gives it another label.
    Label,
    /// Deletes it if it exists.
    Delete,
    /// Deletes it and creates it anew at once.
    Replace,
}

/// The schedule of a run.
pub(crate) fn schedule(
    dice: &mut Dice,
    length: Duration,
    informers: usize,
) -> Vec<(Duration, Step)> {
    let mut steps = Vec::new();
    let writes = dice.between(30, 90);
    // Some objects are there before anybody looks.
    let mut at = Duration::ZERO;
    for index in 0..writes {
        if index > 6 && !dice.chance(40) {
            at = dice.time(Duration::ZERO, length);
        }
        steps.push((at, Step::Write(write(dice))));
    }
    let mut befall =
        |steps: &mut Vec<(Duration, Step)>, most: u64, make: &dyn Fn(&mut Dice) -> Step| {
            let count = if dice.chance(50) {
                dice.between(1, most)
            } else {
                0
            };
            for _ in 0..count {
                let at = dice.time(Duration::from_secs(1), length);
                steps.push((at, make(dice)));
            }
        };
    let short = |dice: &mut Dice| dice.time(Duration::from_millis(10), Duration::from_secs(20));
    let informer = |dice: &mut Dice| dice.index(informers);
    befall(&mut steps, 5, &|_| Step::Compact);
    befall(&mut steps, 2, &|dice| Step::RestartServer {
        graceful: dice.chance(50),
        loses_state: dice.chance(25),
        down_for: short(dice),
    });
    befall(&mut steps, 3, &|dice| Step::RestartInformer {
        informer: informer(dice),
    });
    befall(&mut steps, 2, &|_| Step::RestartController);
    befall(&mut steps, 4, &|_| Step::CutConnections);
    befall(&mut steps, 2, &|dice| Step::Stall { time: short(dice) });
    befall(&mut steps, 2, &|dice| Step::StorageFails {
        time: short(dice),
    });
    befall(&mut steps, 3, &|dice| Step::AddHandler {
        informer: informer(dice),
        plan: handler(dice),
    });
    befall(&mut steps, 2, &|dice| Step::RemoveHandler {
        informer: informer(dice),
    });
    // Stable: what happens at the same time happens in the order of the dice.
    steps.sort_by_key(|(at, _)| *at);
    steps
}

/// Everything is deleted at last.
pub(super) fn deletions(at: Duration) -> impl Iterator<Item = (Duration, Step)> {
    let names = NAMESPACES
        .iter()
        .flat_map(|it| NAMES.map(|name| (*it, name)));
    names.map(move |(namespace, name)| {
        let write = Write {
            namespace,
            name,
            verb: WriteVerb::Delete,
            tier: "",
            owner: "",
        };
        (at, Step::Write(write))
    })
}

fn write(dice: &mut Dice) -> Write {
    let verb = match dice.below(10) {
        0..=4 => WriteVerb::Put,
        5 | 6 => WriteVerb::Label,
        7 | 8 => WriteVerb::Delete,
        _ => WriteVerb::Replace,
    };
    Write {
        namespace: dice.pick(&NAMESPACES),
        name: dice.pick(&NAMES),
        verb,
        tier: dice.pick(&TIERS),
        owner: if dice.chance(60) {
            dice.pick(&NAMES)
        } else {
            ""
        },
    }
}
