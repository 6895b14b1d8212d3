//! `Outcome`: the result of one simulation run.

use crate::trace::Trace;
use crate::verdict::{Check, Verdict, Violation};
use std::collections::BTreeMap;
use std::time::Duration;

/// What came of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The promises that were not kept.
    pub violations: Vec<Violation>,
    /// What two runs of one seed have in common.
    pub hash: u64,
    /// How much happened.
    pub events: u64,
    /// How often things of each kind happened.
    pub counts: BTreeMap<&'static str, u64>,
    /// Virtual time that passed.
    pub time: Duration,
    /// The story, line by line.
    pub story: Vec<String>,
}

impl Outcome {
    pub(crate) fn of(trace: &Trace, verdict: &Verdict) -> Self {
        Self {
            violations: verdict.violations(),
            hash: trace.hash(),
            events: trace.events(),
            counts: trace.counts(),
            time: trace.now(),
            story: trace.lines(),
        }
    }

    /// Whether every promise was kept.
    pub fn is_good(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether this promise was not kept.
    pub fn violates(&self, check: Check) -> bool {
        self.violations.iter().any(|it| it.check == check)
    }
}
