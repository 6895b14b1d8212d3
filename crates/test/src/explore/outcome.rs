//! `Outcome`: what came of one run.

use crate::explore::hub::Hub;
use crate::explore::normal::Normal;
use crate::explore::plan::Measured;
use crate::explore::problem::Problem;
use crate::story::{Entry, What};

/// What came of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) problem: Option<Problem>,
    /// Equal for runs in which the same happened.
    pub(crate) digest: u64,
    pub(crate) end: Normal,
    pub(crate) measured: Vec<Measured>,
    /// How many faults of the plan have struck.
    pub(crate) struck: u64,
    /// Empty unless everything was kept.
    pub(crate) entries: Vec<Entry>,
}

impl Outcome {
    pub(crate) fn failed(problem: Problem) -> Self {
        Self {
            problem: Some(problem),
            ..Self::default()
        }
    }

    pub(crate) fn of(hub: &Hub, measured: Vec<Measured>, end: Normal) -> Self {
        let ledger = hub.ledger.lock();
        let mut entries = hub.trace.entries();
        // Who wrote is known only from the answer.
        for entry in &mut entries {
            if let What::Wrote {
                client, revision, ..
            } = &mut entry.what
            {
                *client = ledger.writer(*revision);
            }
        }
        Self {
            problem: hub.problem(),
            digest: hub.trace.digest(),
            end,
            measured,
            struck: hub.faults_struck(),
            entries,
        }
    }

    /// Returns how many writes the controllers made.
    pub(crate) fn writes(&self) -> u64 {
        self.measured.iter().map(|it| it.writes).sum()
    }
}
