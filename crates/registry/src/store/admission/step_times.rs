//! `StepTimes`: how long plugins took, by step, operation and outcome.

use super::operation::Operation;
use crate::metrics::{Histogram, HistogramState};
use std::time::Duration;

/// Upper bounds of the buckets of durations of plugins in seconds, as upstream.
pub const ADMISSION_SECONDS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5];

/// A step of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "admission has two steps")]
pub enum Step {
    /// Objects are changed.
    Admit,
    /// Objects are judged.
    Validate,
}

impl Step {
    /// Returns the word in metrics: `admit` or `validate`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Validate => "validate",
        }
    }
}

const STEPS: [Step; 2] = [Step::Admit, Step::Validate];
const OPERATIONS: [Operation; 4] = [
    Operation::Create,
    Operation::Update,
    Operation::Delete,
    Operation::Connect,
];

/// How long one plugin took, or all of them together. Counting takes no lock.
#[derive(Debug)]
pub struct StepTimes([Histogram; STEPS.len() * OPERATIONS.len() * 2]);

impl Default for StepTimes {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Histogram::new(ADMISSION_SECONDS)))
    }
}

impl StepTimes {
    pub(super) fn took(&self, step: Step, operation: Operation, rejected: bool, took: Duration) {
        let at = (step as usize * OPERATIONS.len() + operation as usize) * 2;
        self.0[at + usize::from(rejected)].observe(took);
    }

    /// Returns what was counted: step, operation, whether requests were rejected, and the times.
    pub fn counted(&self) -> impl Iterator<Item = (Step, Operation, bool, HistogramState)> {
        let all = STEPS.iter().flat_map(|step| {
            let operations = OPERATIONS.iter();
            operations.flat_map(|it| [(*step, *it, false), (*step, *it, true)])
        });
        let counted = all
            .zip(&self.0)
            .map(|((step, operation, rejected), times)| (step, operation, rejected, times.state()));
        counted.filter(|(.., times)| times.count() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_is_counted_apart() {
        let times = StepTimes::default();
        let took = Duration::from_millis(10);
        for step in STEPS {
            for operation in OPERATIONS {
                times.took(step, operation, false, took);
                times.took(step, operation, true, took);
            }
        }
        times.took(Step::Validate, Operation::Connect, true, took);
        let counted: Vec<_> = times.counted().collect();
        assert_eq!(counted.len(), 16);
        let (step, operation, rejected, state) = &counted[15];
        assert_eq!(
            (*step, *operation, *rejected, state.count()),
            (Step::Validate, Operation::Connect, true, 2)
        );
        assert!(counted[..15].iter().all(|it| it.3.count() == 1));
    }
}
