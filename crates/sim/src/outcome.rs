//! `Outcome`: the result of one simulation run.

use crate::checks::{Check, Violation, Violations};
use crate::trace::Trace;
use std::collections::BTreeMap;
use std::time::Duration;

/// The result of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The properties that did not hold.
    pub violations: Vec<Violation>,
    /// The hash of the trace, equal for all runs of one seed.
    pub hash: u64,
    /// The number of trace events.
    pub events: u64,
    /// The number of trace events of each kind.
    pub counts: BTreeMap<&'static str, u64>,
    /// The virtual duration.
    pub time: Duration,
    /// The trace, line by line.
    pub trace: Vec<String>,
}

impl Outcome {
    pub(crate) fn of(trace: &Trace, violations: &Violations) -> Self {
        Self {
            violations: violations.list(),
            hash: trace.hash(),
            events: trace.events(),
            counts: trace.counts(),
            time: trace.now(),
            trace: trace.lines(),
        }
    }

    /// Reports whether every check passed.
    pub fn is_good(&self) -> bool {
        self.violations.is_empty()
    }

    /// Reports whether this check failed.
    pub fn violates(&self, check: Check) -> bool {
        self.violations.iter().any(|it| it.check == check)
    }
}
