//! The schedule of writes and of faults of the server, the network and the clients.

use super::participants::{HandlerPlan, handler};
use super::{NAMES, NAMESPACES, TIERS};
use crate::rng::SimRng;
use std::time::Duration;

/// One scheduled step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A write.
    Write(Write),
    /// The store compacts its history.
    Compact,
    /// The server stops and restarts later.
    RestartServer {
        /// Whether it ends watches and finishes requests first.
        graceful: bool,
        /// Whether it restarts with an empty store, at a later revision.
        loses_state: bool,
        down_for: Duration,
    },
    /// An informer is dropped with its contents and replaced by another.
    RestartInformer { informer: usize },
    /// The controller is dropped with its queue and replaced by another.
    RestartController,
    /// All client connections break.
    CutConnections,
    /// Connections stay open but stall.
    Stall { time: Duration },
    /// Storage requests fail at times.
    StorageFails { time: Duration },
    /// A handler is added.
    AddHandler { informer: usize, plan: HandlerPlan },
    /// The handler that was added last is removed.
    RemoveHandler { informer: usize },
}

/// A write to one object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    pub(crate) verb: WriteVerb,
    /// The value of the label; empty for none.
    pub(crate) tier: &'static str,
    /// The owner that it names; empty for none.
    pub(crate) owner: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteVerb {
    /// Creates the object or changes its data.
    Put,
    /// Creates the object or changes its label.
    Label,
    /// Deletes the object if it exists.
    Delete,
    /// Deletes the object and creates it again at once.
    Replace,
}

/// Creates the schedule of a run.
pub(crate) fn schedule(
    rng: &mut SimRng,
    length: Duration,
    informers: usize,
) -> Vec<(Duration, Step)> {
    let mut steps = Vec::new();
    let writes = rng.between(30, 90);
    // Some objects exist before the informers start.
    let mut at = Duration::ZERO;
    for index in 0..writes {
        if index > 6 && !rng.chance(40) {
            at = rng.time(Duration::ZERO, length);
        }
        steps.push((at, Step::Write(write(rng))));
    }
    let mut befall =
        |steps: &mut Vec<(Duration, Step)>, most: u64, make: &dyn Fn(&mut SimRng) -> Step| {
            let count = if rng.chance(50) {
                rng.between(1, most)
            } else {
                0
            };
            for _ in 0..count {
                let at = rng.time(Duration::from_secs(1), length);
                steps.push((at, make(rng)));
            }
        };
    let short = |rng: &mut SimRng| rng.time(Duration::from_millis(10), Duration::from_secs(20));
    let informer = |rng: &mut SimRng| rng.index(informers);
    befall(&mut steps, 5, &|_| Step::Compact);
    befall(&mut steps, 2, &|rng| Step::RestartServer {
        graceful: rng.chance(50),
        loses_state: rng.chance(25),
        down_for: short(rng),
    });
    befall(&mut steps, 3, &|rng| Step::RestartInformer {
        informer: informer(rng),
    });
    befall(&mut steps, 2, &|_| Step::RestartController);
    befall(&mut steps, 4, &|_| Step::CutConnections);
    befall(&mut steps, 2, &|rng| Step::Stall { time: short(rng) });
    befall(&mut steps, 2, &|rng| Step::StorageFails {
        time: short(rng),
    });
    befall(&mut steps, 3, &|rng| Step::AddHandler {
        informer: informer(rng),
        plan: handler(rng),
    });
    befall(&mut steps, 2, &|rng| Step::RemoveHandler {
        informer: informer(rng),
    });
    // Stable: steps of the same time keep the order in which they were generated.
    steps.sort_by_key(|(at, _)| *at);
    steps
}

/// Deletes everything at the end.
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

fn write(rng: &mut SimRng) -> Write {
    let verb = match rng.below(10) {
        0..=4 => WriteVerb::Put,
        5 | 6 => WriteVerb::Label,
        7 | 8 => WriteVerb::Delete,
        _ => WriteVerb::Replace,
    };
    Write {
        namespace: rng.pick(&NAMESPACES),
        name: rng.pick(&NAMES),
        verb,
        tier: rng.pick(&TIERS),
        owner: if rng.chance(60) { rng.pick(&NAMES) } else { "" },
    }
}
