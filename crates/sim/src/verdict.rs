//! `Check` and `Violation`: what a run is judged by, and where it fell short.

use crate::trace::Trace;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Violations of each check that are kept of one run: the first ones tell most.
const VIOLATIONS_MAX: usize = 5;

/// A promise that every run must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Check {
    /// Once faults stop, every cache holds what the server has.
    Convergence,
    /// What each handler was told amounts to what the server has.
    FinalState,
    /// The versions of an object never go back for a handler, and each update begins where the
    /// handler was.
    Order,
    /// One deletion for each disappearance of an object that the handler was told of.
    Deletes,
    /// A handler is synced only after it has handled every object of the first list.
    Synced,
    /// A handler of every event sees each object's history as far as the watch had it.
    History,
    /// Each changed key is reconciled after its last change.
    Keys,
    /// Whoever read an object is run again after it changed.
    Reads,
    /// Nobody is told that the cache shows a write before it does.
    Shown,
    /// What the controller writes equals in the end what it is made from.
    Mirror,
    /// What waits for a handler stays within the bounds of its delivery.
    Memory,
    /// Nothing runs after the shutdown.
    Tasks,
    /// Two runs of one seed do the same.
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

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which one.
    pub check: Check,
    /// The virtual time at which it was noticed.
    pub at: Duration,
    /// What was found.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?}: {}", self.check, self.at, self.what)
    }
}

/// Where checkers put what they find. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    trace: Trace,
    violations: Arc<Mutex<Vec<Violation>>>,
}

impl Verdict {
    pub(crate) fn new(trace: &Trace) -> Self {
        Self {
            trace: trace.clone(),
            violations: Arc::default(),
        }
    }

    pub(crate) fn violated(&self, check: Check, what: String) {
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

    pub(crate) fn violations(&self) -> Vec<Violation> {
        self.violations.lock().clone()
    }
}
