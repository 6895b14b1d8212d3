//! `Check`: the properties that every run is checked for. `Violation`: a check that failed.

use crate::trace::Trace;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The number of violations of each check that are kept for one run; the first ones are the most
/// helpful.
const VIOLATIONS_MAX: usize = 5;

/// A property of every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Check {
    /// Once faults stop, every cache has the server's state.
    Convergence,
    /// The events of each handler add up to the server's state.
    FinalState,
    /// For a handler, the versions of an object never decrease, and each update starts from the
    /// handler's state.
    Order,
    /// A handler receives one deletion for each disappearance of an object that it received.
    Deletes,
    /// A handler has synced only after it has handled every object of the first list.
    Synced,
    /// A handler of every event receives each object's history as far as the watch delivered it.
    History,
    /// Each changed key is reconciled after its last change.
    Keys,
    /// A reconciler that read an object is called again after it changed.
    Reads,
    /// No wait for a write ends before the cache shows the write.
    Shown,
    /// At the end, the controller's copies equal their originals.
    Mirror,
    /// The pending events of a handler stay within the bounds of its delivery mode.
    Memory,
    /// Nothing runs after the shutdown.
    Tasks,
    /// Two runs of one seed are equal.
    Determinism,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 13] = [
        Self::Convergence,
        Self::FinalState,
        Self::Order,
        Self::Deletes,
        Self::Synced,
        Self::History,
        Self::Keys,
        Self::Reads,
        Self::Shown,
        Self::Mirror,
        Self::Memory,
        Self::Tasks,
        Self::Determinism,
    ];
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The check.
    pub check: Check,
    /// The virtual time of the detection.
    pub at: Duration,
    /// The details.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?}: {}", self.check, self.at, self.what)
    }
}

/// Collects the violations of all checkers. Clones refer to the same list.
#[derive(Clone, Debug)]
pub(crate) struct Violations {
    trace: Trace,
    violations: Arc<Mutex<Vec<Violation>>>,
}

impl Violations {
    pub(crate) fn new(trace: &Trace) -> Self {
        Self {
            trace: trace.clone(),
            violations: Arc::default(),
        }
    }

    pub(crate) fn record(&self, check: Check, what: String) {
        self.trace
            .note("VIOLATION", format_args!("{check:?}: {what}"));
        let mut violations = self.violations.lock();
        let earlier = violations
            .iter()
            .filter(|it: &&Violation| it.check == check);
        if earlier.count() < VIOLATIONS_MAX {
            let at = self.trace.now();
            violations.push(Violation { check, at, what });
        }
    }

    pub(crate) fn list(&self) -> Vec<Violation> {
        self.violations.lock().clone()
    }
}
