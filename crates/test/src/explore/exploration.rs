//! `Exploration`: what exploring a scenario has found.

use crate::explore::hub::Forbidden;
use crate::explore::problem::Problem;
use crate::explore::replay::Replay;
use crate::story::Story;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What exploring a scenario has found.
#[derive(Clone, Debug)]
#[must_use = "an exploration fails only if it is asked: assert_good"]
pub struct Exploration {
    pub(crate) seeds: u64,
    pub(crate) elapsed: Duration,
    pub(crate) digest: u64,
    pub(crate) writes: u64,
    pub(crate) faults: u64,
    pub(crate) forbidden: Forbidden,
    pub(crate) unused_excuses: Vec<String>,
    pub(crate) failure: Option<FailedSeed>,
}

/// A seed that fails, made smaller.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedSeed {
    /// The lowest seed that failed.
    pub seed: u64,
    /// What is enough to make it fail.
    pub replay: Replay,
    /// What is wrong.
    pub problem: Problem,
    /// What happened, in order.
    pub story: Story,
    /// Whether the scenario fails without any fault.
    pub is_without_faults: bool,
    /// Real time until the seed was found, without making it smaller.
    pub found_after: Duration,
}

impl Exploration {
    /// Reports whether no seed failed.
    pub fn is_good(&self) -> bool {
        self.failure.is_none()
    }

    /// Returns how many seeds ran.
    pub fn seeds(&self) -> u64 {
        self.seeds
    }

    /// Returns how many writes the controllers made, in all worlds. If there are none, nothing was
    /// explored: the controllers had nothing to do, or could not begin.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Returns how many faults struck, in all worlds, besides delays.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// Returns the requests of controllers that were answered 403, and how often, in all worlds; at
    /// most 16 different ones. With
    /// [`obey_roles`](crate::explore::Scenario::obey_roles), a role lacks something.
    pub fn forbidden(&self) -> &BTreeMap<String, u64> {
        &self.forbidden
    }

    /// Returns the excuses that excused no difference from the run without faults, in any world:
    /// what they name may be misspelt, or not differ, or not in so few seeds.
    pub fn unused_excuses(&self) -> &[String] {
        &self.unused_excuses
    }

    /// Returns how long it took, in real time.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns a number that is equal for explorations in which the same happened.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Returns the failure, if there is one.
    pub fn failure(&self) -> Option<&FailedSeed> {
        self.failure.as_ref()
    }

    /// Fails the test if a seed failed.
    ///
    /// # Panics
    /// A seed failed; the message is its story.
    #[track_caller]
    pub fn assert_good(&self) {
        if let Some(failure) = &self.failure {
            panic!("\n{failure}");
        }
    }
}

impl fmt::Display for FailedSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.story)
    }
}

impl fmt::Display for Exploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seeds,
            elapsed,
            writes,
            faults,
            ..
        } = self;
        match &self.failure {
            None => {
                write!(
                    f,
                    "{seeds} seeds in {elapsed:.1?}, with {writes} writes and {faults} faults: none \
                     failed"
                )?;
                let mut forbidden = self.forbidden.iter();
                forbidden.try_for_each(|(request, times)| {
                    write!(f, "\nforbidden: {request}, {times} times")
                })?;
                let mut unused = self.unused_excuses.iter();
                unused.try_for_each(|it| write!(f, "\n{it} excused nothing"))
            }
            Some(failure) => write!(f, "{seeds} seeds in {elapsed:.1?}\n{failure}"),
        }
    }
}
