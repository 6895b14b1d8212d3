//! `Problem`: what an exploration found to be wrong.

use crate::explore::mistake::Mistake;
use crate::explore::normal::Difference;
use std::fmt;
use std::time::Duration;

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// An invariant does not hold.
    Invariant {
        /// Its name.
        name: String,
        /// What it said.
        message: String,
    },
    /// An invariant panicked.
    InvariantPanicked {
        /// Its name.
        name: String,
        /// What it said.
        message: String,
    },
    /// In the end, the state is not that of a run without faults.
    Diverged {
        /// The first differences.
        differences: Vec<Difference>,
    },
    /// Controllers write on and on.
    WriteLoop {
        /// How many writes there were after the last fault and the last step.
        writes: u64,
        /// The objects that were written most: `Pod shop/web, 90 times by operator`.
        most: Vec<String>,
    },
    /// The run does not settle within its bound.
    NotSettled {
        /// The bound, of virtual time: `Limits::settle`.
        within: Duration,
        /// How long nothing must be written: `Limits::quiet`.
        quiet: Duration,
        /// The objects that were written most in the end: `Pod shop/web, 90 times by operator`.
        most: Vec<String>,
    },
    /// A controller wrote while another copy held its lease.
    DeposedWrite {
        /// The client.
        client: String,
        /// What it wrote.
        write: String,
        /// The holder of the lease at that time.
        holder: String,
    },
    /// An object has only owners that do not exist.
    Orphan {
        /// The object.
        object: String,
        /// Its owners.
        owners: Vec<String>,
    },
    /// A controller panicked.
    Panicked {
        /// The controller.
        controller: String,
        /// The message and its place.
        message: String,
    },
    /// A controller ended by itself, again and again.
    Ended {
        /// The controller.
        controller: String,
        /// Its error, if it returned one.
        error: String,
    },
    /// A step of the user failed.
    StepFailed {
        /// Its name.
        step: String,
        /// Its error.
        error: String,
    },
    /// A controller did not return in time after its token was cancelled.
    DoesNotStop {
        /// The controller.
        controller: String,
    },
    /// A controller went on after it was dropped: it has tasks that it does not own.
    Outlived {
        /// The controller, if it made a request; otherwise empty.
        controller: String,
        /// How many tasks there were, or what the request was.
        what: String,
    },
    /// A controller works on threads or runtimes outside of the test's.
    Elsewhere {
        /// The controller.
        controller: String,
        /// How that was noticed.
        what: String,
    },
    /// A controller makes requests without end.
    Busy {
        /// The number of requests.
        requests: u64,
    },
    /// A world makes no progress in real time.
    Blocked {
        /// What it did last.
        last: String,
    },
    /// The same seed did not do the same twice.
    NotReproducible {
        /// Where the runs differ first.
        first: String,
    },
    /// The scenario itself cannot be explored.
    Mistake(Mistake),
    /// The world itself could not be set up.
    Setup {
        /// Why.
        error: String,
    },
}

impl Problem {
    /// Reports whether two problems are the same in kind, so that a smaller run that has the other
    /// shows the same failure.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Invariant { name, .. }, Self::Invariant { name: other, .. }) => name == other,
            (
                Self::Diverged { differences },
                Self::Diverged {
                    differences: others,
                },
            ) => {
                let same = |it: &Difference| others.iter().any(|other| is_like(it, other));
                differences.is_empty() || differences.iter().any(same)
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Returns what to do about it; empty if the message says all.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::InvariantPanicked { .. } => {
                "return Err with a message instead, so that the story shows what does not hold"
            }
            Self::DeposedWrite { .. } => {
                "run writes with Term::run, or write with the resource version that was read"
            }
            Self::DoesNotStop { .. } => {
                "end the future soon after its CancellationToken is cancelled"
            }
            Self::Outlived { .. } => {
                "spawn into a JoinSet that the controller owns, so that dropping it ends them"
            }
            Self::Elsewhere { .. } => {
                "do not use threads, spawn_blocking, sockets or other runtimes in the controller; \
                 give it what it needs through its arguments, and fakes in tests"
            }
            Self::Panicked { message, .. } if message.contains("IO is disabled") => {
                "a controller under exploration cannot open sockets: pass what it talks to as an \
                 argument, and a fake in tests"
            }
            Self::Panicked { message, .. } if message.contains("within a runtime") => {
                "a controller must not start or block on a runtime of its own: await instead"
            }
            Self::Blocked { .. } => {
                "use tokio::time::sleep instead of std::thread::sleep, await instead of waiting \
                 for locks and threads, and end loops"
            }
            Self::NotSettled { .. } => {
                "write only what changes; for a controller that writes periodically, set \
                 Limits::quiet to less than its period"
            }
            Self::Busy { .. } => "requeue with a delay or backoff instead of a loop of requests",
            Self::NotReproducible { .. } => {
                "take random numbers and dates from Client::ambient, write `biased;` in \
                 tokio::select!, and do not iterate over std::collections::HashMap"
            }
            _ => "",
        }
    }
}

fn not_settled(
    f: &mut fmt::Formatter<'_>,
    within: Duration,
    quiet: Duration,
    most: &[String],
) -> fmt::Result {
    write!(
        f,
        "the run does not settle: within {within:?} after the last step there were never \
         {quiet:?} without a write"
    )?;
    if most.is_empty() {
        return Ok(());
    }
    write!(f, "; written most: {}", most.join("; "))
}

fn is_like(one: &Difference, other: &Difference) -> bool {
    one.object == other.object && one.field == other.field
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invariant { name, message } => write!(f, "{name:?} does not hold: {message}"),
            Self::InvariantPanicked { name, message } => {
                write!(f, "the invariant {name:?} panicked: {message}")
            }
            Self::Diverged { differences } => {
                f.write_str("the end is not that of a run without faults")?;
                differences
                    .iter()
                    .try_for_each(|it| write!(f, "\n    {it}"))
            }
            Self::WriteLoop { writes, most } => write!(
                f,
                "{writes} writes after the last fault and the last step, without an end: {}",
                most.join("; ")
            ),
            Self::NotSettled {
                within,
                quiet,
                most,
            } => not_settled(f, *within, *quiet, most),
            Self::DeposedWrite {
                client,
                write,
                holder,
            } => write!(f, "{client} {write} while {holder} held the lease"),
            Self::Orphan { object, owners } => {
                write!(
                    f,
                    "{object} is left without its owner {}",
                    owners.join(", ")
                )
            }
            Self::Panicked {
                controller,
                message,
            } => write!(f, "{controller} panicked: {message}"),
            Self::Ended { controller, error } => {
                write!(f, "{controller} ended by itself again and again: {error}")
            }
            Self::StepFailed { step, error } => write!(f, "the step {step:?} failed: {error}"),
            Self::DoesNotStop { controller } => {
                write!(f, "{controller} did not end after its token was cancelled")
            }
            Self::Outlived { controller, what } if controller.is_empty() => {
                write!(f, "{what} go on after the controllers were dropped")
            }
            Self::Outlived { controller, what } => {
                write!(f, "{controller} goes on after it was dropped: {what}")
            }
            Self::Elsewhere { controller, what } => {
                write!(
                    f,
                    "{controller} works outside of the test's runtime: {what}"
                )
            }
            Self::Busy { requests } => write!(f, "{requests} requests without an end"),
            Self::Blocked { last } => write!(
                f,
                "the world makes no progress in real time; the last that happened: {last}"
            ),
            Self::NotReproducible { first } => {
                write!(f, "the same seed did not do the same twice: {first}")
            }
            Self::Mistake(mistake) => write!(f, "the scenario has a mistake: {mistake}"),
            Self::Setup { error } => write!(f, "the world cannot be set up: {error}"),
        }
    }
}
