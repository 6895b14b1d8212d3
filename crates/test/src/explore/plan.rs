//! `Plan`: what goes wrong in one world, and when; made from a seed.
//!
//! A fault is tied to what a controller does (its n-th write, request or event), not to a time, so
//! that every point of a reconcile is reached.

use crate::explore::random::Random;
use crate::faults::{Call, Verb};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How long a controller may be down, or events be held.
const DOWN_MAX: Duration = Duration::from_secs(30);
/// How long a copy is frozen: longer than the lease of anybody.
const FREEZE: (Duration, Duration) = (Duration::from_secs(16), Duration::from_secs(90));
/// The pauses between the steps of the user.
const GAPS: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(5),
    Duration::from_millis(300),
    Duration::from_secs(5),
    Duration::from_secs(40),
];

/// What goes wrong in one world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// What is kept of the plan of this seed.
    pub(crate) kept: Kept,
    pub(crate) faults: Vec<Fault>,
    /// How long each request, and each event, may be under way.
    pub(crate) delay_max: Duration,
    /// The steps of the user, and the pause before each. `None`: until nothing happens any more.
    pub(crate) steps: Vec<(usize, Option<Duration>)>,
}

/// Which parts of a seed's plan are played; everything unless a failure was made smaller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// `None`: all.
    pub(crate) faults: Option<Vec<usize>>,
    pub(crate) steps: Option<Vec<usize>>,
    /// Faults that strike at another write, request or event than planned: with fewer steps, what
    /// they struck at has another number.
    pub(crate) moved: BTreeMap<usize, u64>,
    pub(crate) no_delays: bool,
    pub(crate) no_hurry: bool,
}

/// What a plan is made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) controllers: Vec<Measured>,
    pub(crate) steps: usize,
}

/// What a controller does in a run without faults, and how many copies of it there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) copies: usize,
    pub(crate) writes: u64,
    pub(crate) requests: u64,
    pub(crate) events: u64,
    /// Whether it holds a lease.
    pub(crate) is_elected: bool,
}

/// One fault, of the controller with this index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) controller: usize,
    /// The number of the write, request or event at which it strikes, from 1.
    pub(crate) at: u64,
    pub(crate) kind: FaultKind,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It is dropped at a write.
    Crash {
        /// Whether the write is done.
        done: bool,
        down: Duration,
        /// What it sees after the restart.
        stale: Option<Stale>,
    },
    /// Its watches get nothing from an event on.
    Hold {
        time: Duration,
        /// Whether they are then told to list again, and never see what happened meanwhile.
        relist: bool,
    },
    /// A request fails: the n-th write, or the n-th of all.
    Fail { failing: Failing, of_writes: bool },
    /// The copy that makes a write stands still after it.
    Freeze { time: Duration },
    /// The server is restarted at a request.
    Outage { time: Duration },
}

/// Caches that begin at an older revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stale {
    /// How many revisions, of those that were written in the world.
    pub(crate) behind: u64,
    pub(crate) catch_up: Duration,
}

/// How a request fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Failing {
    Conflict,
    TooManyRequests,
    #[default]
    InternalError,
    /// The request is done, and its answer is a 504.
    TimeoutAfter,
    /// The request is done, and its connection breaks.
    BreakAfter,
}

impl Plan {
    /// The plan without faults: each step waits until the one before has settled.
    pub(crate) fn calm(steps: impl IntoIterator<Item = usize>) -> Self {
        Self {
            steps: steps.into_iter().map(|it| (it, None)).collect(),
            ..Self::default()
        }
    }

    /// The plan of a seed.
    pub(crate) fn of(seed: u64, kept: Kept, outline: &Outline) -> Self {
        let random = Random::new(seed).of("plan", &[]);
        let mut plan = Self {
            seed,
            faults: faults(&random, outline),
            steps: steps(&random, outline.steps),
            ..Self::default()
        };
        let mut delays = random.of("delays", &[]);
        if delays.chance(50) {
            plan.delay_max = Duration::from_millis(delays.pick(&[2, 10, 200, 3_000]));
        }
        plan.keep(kept);
        plan
    }

    fn keep(&mut self, kept: Kept) {
        for (index, at) in &kept.moved {
            if let Some(fault) = self.faults.get_mut(*index) {
                fault.at = *at;
            }
        }
        if let Some(keep) = &kept.faults {
            let all = std::mem::take(&mut self.faults).into_iter().enumerate();
            let kept = all.filter(|(index, _)| keep.contains(index));
            self.faults = kept.map(|(_, fault)| fault).collect();
        }
        if let Some(keep) = &kept.steps {
            self.steps.retain(|(index, _)| keep.contains(index));
        }
        if kept.no_delays {
            self.delay_max = Duration::ZERO;
        }
        if kept.no_hurry {
            self.steps.iter_mut().for_each(|(_, gap)| *gap = None);
        }
        self.kept = kept;
    }
}

fn steps(random: &Random, count: usize) -> Vec<(usize, Option<Duration>)> {
    let mut random = random.of("steps", &[]);
    let pace = random.below(4);
    let mut steps = Vec::with_capacity(count);
    for index in 0..count {
        let gap = match pace {
            0 => Some(Duration::ZERO),
            1 => None,
            _ => Some(random.pick(&GAPS)),
        };
        steps.push((index, gap));
    }
    steps
}

fn faults(random: &Random, outline: &Outline) -> Vec<Fault> {
    let mut count = random.of("count", &[]);
    let count = match count.below(100) {
        0..50 => 1,
        50..80 => 2,
        _ => 3,
    };
    if outline.controllers.is_empty() {
        return Vec::new();
    }
    let make = |index| fault(random.of("fault", &[index]), outline);
    (0..count).map(make).collect()
}

fn fault(mut random: Random, outline: &Outline) -> Fault {
    let controllers = outline.controllers.len() as u64;
    let controller = usize::try_from(random.below(controllers)).unwrap_or(0);
    let measured = &outline.controllers[controller];
    let time = |random: &mut Random| {
        let short = random.chance(50);
        let most = [DOWN_MAX, Duration::from_millis(500)][usize::from(short)];
        random.time(Duration::from_millis(1), most)
    };
    let freezes = if measured.is_elected || measured.copies > 1 {
        20
    } else {
        0
    };
    // A recovery writes, too, so there may be more than without faults.
    let write = 1 + random.below(measured.writes + 3);
    let request = 1 + random.below(measured.requests + 5);
    let event = 1 + random.below(measured.events + 3);
    let (at, kind) = match random.below(80 + freezes) {
        0..34 => {
            let stale = random.chance(50).then(|| Stale {
                behind: random.between(1, 12),
                catch_up: time(&mut random),
            });
            let kind = FaultKind::Crash {
                done: random.chance(50),
                down: time(&mut random),
                stale,
            };
            (write, kind)
        }
        34..56 => {
            let kind = FaultKind::Hold {
                time: time(&mut random),
                relist: random.chance(50),
            };
            (event, kind)
        }
        56..76 => {
            let failing = random.pick(&[
                Failing::Conflict,
                Failing::TooManyRequests,
                Failing::InternalError,
                Failing::TimeoutAfter,
                Failing::TimeoutAfter,
                Failing::BreakAfter,
            ]);
            // Writes are few among the requests, and what is written matters most.
            let of_writes = random.chance(75);
            let at = if of_writes { write } else { request };
            (at, FaultKind::Fail { failing, of_writes })
        }
        76..80 => {
            let time = time(&mut random);
            (request, FaultKind::Outage { time })
        }
        _ => {
            let time = random.time(FREEZE.0, FREEZE.1);
            (write, FaultKind::Freeze { time })
        }
    };
    Fault {
        controller,
        at,
        kind,
    }
}

impl Fault {
    /// Reports whether it strikes when its write is done, and not before.
    pub(crate) fn is_after_write(&self) -> bool {
        matches!(
            self.kind,
            FaultKind::Crash { done: true, .. } | FaultKind::Freeze { .. }
        )
    }

    /// Returns what it is for the request at which it strikes: one that cannot fail as planned is
    /// answered 500.
    pub(crate) fn at_request(&self, call: &Call) -> Self {
        let mut fault = self.clone();
        if let FaultKind::Fail { failing, .. } = &mut fault.kind {
            *failing = failing.of_request(call);
        }
        fault
    }

    /// Says what it is, for people.
    pub(crate) fn describe(&self, controller: &str) -> String {
        let at = self.at;
        match &self.kind {
            FaultKind::Crash { done, down, stale } => {
                let done = if *done { "after" } else { "before" };
                let stale = stale.map_or_else(String::new, |it| {
                    let Stale { behind, catch_up } = it;
                    format!(", its caches {behind} revisions behind for {catch_up:?}")
                });
                format!("{controller} crashes {done} its write {at}, for {down:?}{stale}")
            }
            FaultKind::Hold { time, relist } => {
                let then = if *relist {
                    "then it has to list again"
                } else {
                    "then it gets them"
                };
                format!("{controller} gets no events from its event {at} on, for {time:?}; {then}")
            }
            FaultKind::Fail { failing, of_writes } => {
                let what = if *of_writes { "write" } else { "request" };
                format!("{controller}'s {what} {at} {failing}")
            }
            FaultKind::Freeze { time } => {
                format!("{controller} stands still for {time:?} after its write {at}")
            }
            FaultKind::Outage { time } => {
                format!("the server restarts at {controller}'s request {at}, down for {time:?}")
            }
        }
    }
}

impl Failing {
    fn of_request(self, call: &Call) -> Self {
        match self {
            // A create that is told of an object, or a delete of a conflict, is told the truth.
            Self::Conflict if !matches!(call.verb, Verb::Update | Verb::Patch) => {
                Self::InternalError
            }
            // Of what only reads it makes no difference whether it is done.
            Self::TimeoutAfter if !call.is_write() => Self::InternalError,
            possible => possible,
        }
    }
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict => "is answered 409",
            Self::TooManyRequests => "is answered 429",
            Self::InternalError => "is answered 500",
            Self::TimeoutAfter => "is done, and answered 504",
            Self::BreakAfter => "is done, and its connection breaks",
        })
    }
}

#[cfg(test)]
mod tests;
