//! `PolicyMetrics`: what is counted of policies, under their names.

use crate::counted::Times;
use kubist_apimachinery::Str;
use kubist_registry::metrics::HistogramState;
use std::time::Duration;

/// Upper bounds of the buckets of evaluations in seconds, as upstream.
const SECONDS: &[f64] = &[0.000_000_5, 0.001, 0.01, 0.1, 1.0];

/// What is counted of policies. The labels of each metric are in the order of their names.
#[derive(Debug)]
pub struct PolicyMetrics {
    validating: Times<4>,
    mutating: Times<3>,
}

impl Default for PolicyMetrics {
    fn default() -> Self {
        Self {
            validating: Times::new(SECONDS),
            mutating: Times::new(SECONDS),
        }
    }
}

/// An expression of a policy that was evaluated.
#[derive(Clone, Copy)]
pub(super) struct Evaluated<'a> {
    pub(super) policy: &'a Str,
    pub(super) binding: &'a Str,
    pub(super) error_type: &'static str,
    pub(super) took: Duration,
}

impl PolicyMetrics {
    /// Counts what a validating policy says, with the action that is taken.
    pub(super) fn validated(&self, it: Evaluated<'_>, action: &'static str) {
        let labels = [
            action.into(),
            it.error_type.into(),
            it.policy.clone(),
            it.binding.clone(),
        ];
        self.validating.took(labels, it.took);
    }

    /// Counts a step of a mutating policy.
    pub(super) fn mutated(&self, it: Evaluated<'_>) {
        let labels = [it.error_type.into(), it.policy.clone(), it.binding.clone()];
        self.mutating.took(labels, it.took);
    }

    /// Returns the violations of validating policies and how long their expressions took, by
    /// `enforcement_action`, `error_type`, `policy` and `policy_binding`.
    pub fn validating(&self) -> Vec<([Str; 4], HistogramState)> {
        self.validating.counted()
    }

    /// Returns the steps of mutating policies and how long they took, by `error_type`, `policy` and
    /// `policy_binding`.
    pub fn mutating(&self) -> Vec<([Str; 3], HistogramState)> {
        self.mutating.counted()
    }
}

/// Returns upstream's word for why an expression failed, by its message.
pub(super) fn error_type(message: &str) -> &'static str {
    if message.starts_with("compilation") {
        "compile_error"
    } else if message.starts_with("validation failed due to running out of cost budget") {
        "out_of_budget"
    } else {
        "invalid_error"
    }
}
