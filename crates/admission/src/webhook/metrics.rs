//! `WebhookMetrics`: what is counted of calls of webhooks, under their names.

use super::call::Failure;
use crate::counted::{Counts, Times};
use kubist_apimachinery::Str;
use kubist_registry::admission::Operation;
use kubist_registry::metrics::HistogramState;
use std::time::Duration;

/// Upper bounds of the buckets of calls in seconds, as upstream.
const SECONDS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];
/// The same of match conditions.
const CONDITION_SECONDS: &[f64] = &[0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
/// The kind of what has match conditions.
const WEBHOOK: &str = "webhook";
/// The largest code that is counted apart, as upstream.
const CODE_MAX: u16 = 600;

/// What is counted of calls of webhooks. The labels of each metric are in the order of their names.
#[derive(Debug)]
pub struct WebhookMetrics {
    durations: Times<4>,
    requests: Counts<5>,
    rejections: Counts<5>,
    fail_open: Counts<2>,
    exclusions: Counts<4>,
    condition_errors: Counts<4>,
    condition_times: Times<4>,
}

impl Default for WebhookMetrics {
    fn default() -> Self {
        Self {
            durations: Times::new(SECONDS),
            requests: Counts::default(),
            rejections: Counts::default(),
            fail_open: Counts::default(),
            exclusions: Counts::default(),
            condition_errors: Counts::default(),
            condition_times: Times::new(CONDITION_SECONDS),
        }
    }
}

/// One call of a webhook, for metrics.
pub(super) struct Called<'a> {
    pub(super) name: &'a Str,
    /// Upstream's word for the kind of webhook.
    pub(super) kind: &'static str,
    pub(super) operation: Operation,
    pub(super) fails_open: bool,
    pub(super) took: Duration,
}

/// What the match conditions of a webhook said about a request, for metrics.
pub(super) struct Judged<'a> {
    pub(super) name: &'a Str,
    pub(super) is_mutating: bool,
    pub(super) operation: Operation,
    /// The request is not sent.
    pub(super) is_excluded: bool,
    /// Conditions that failed.
    pub(super) failures: u64,
    pub(super) took: Duration,
}

impl WebhookMetrics {
    /// Counts match conditions. As upstream, the times of those that are all true do not count, and
    /// validating webhooks have two types.
    pub(super) fn judged(&self, it: &Judged<'_>) {
        let labels = |validating: &str| {
            let kind = if it.is_mutating { "admit" } else { validating };
            let operation = it.operation.as_str();
            [
                WEBHOOK.into(),
                it.name.clone(),
                operation.into(),
                kind.into(),
            ]
        };
        if it.is_excluded {
            self.exclusions.add(labels("validate"));
        }
        for _ in 0..it.failures {
            self.condition_errors.add(labels("validating"));
        }
        if it.is_excluded || it.failures > 0 {
            self.condition_times.took(labels("validating"), it.took);
        }
    }

    /// Counts a call.
    pub(super) fn called<T>(&self, call: &Called<'_>, outcome: &Result<T, Failure>) {
        let (code, error_type) = match outcome {
            Ok(_) => (200, ""),
            Err(Failure::NotCalled { code, .. }) => (*code, "calling_webhook_error"),
            Err(Failure::Refused(status)) => {
                (u16::try_from(status.code).unwrap_or(CODE_MAX), "no_error")
            }
            Err(Failure::Broken(_)) => (0, "apiserver_internal_error"),
        };
        let is_ignored = call.fails_open && matches!(outcome, Err(Failure::NotCalled { .. }));
        let rejected = outcome.is_err() && !is_ignored;
        let code = Str::from(&*code.min(CODE_MAX).to_string());
        let (name, kind) = (call.name, Str::from(call.kind));
        let operation = Str::from(call.operation.as_str());
        let is_rejected = Str::from(if rejected { "true" } else { "false" });
        if rejected {
            self.rejections.add([
                error_type.into(),
                name.clone(),
                operation.clone(),
                code.clone(),
                kind.clone(),
            ]);
        }
        if is_ignored {
            self.fail_open.add([name.clone(), kind.clone()]);
        }
        self.requests.add([
            code,
            name.clone(),
            operation.clone(),
            is_rejected.clone(),
            kind.clone(),
        ]);
        let labels = [name.clone(), operation, is_rejected, kind];
        self.durations.took(labels, call.took);
    }

    /// Returns how long calls took, by `name`, `operation`, `rejected` and `type`.
    pub fn durations(&self) -> Vec<([Str; 4], HistogramState)> {
        self.durations.counted()
    }

    /// Returns the calls by `code`, `name`, `operation`, `rejected` and `type`.
    pub fn requests(&self) -> Vec<([Str; 5], u64)> {
        self.requests.counted()
    }

    /// Returns the requests that were rejected, by `error_type`, `name`, `operation`,
    /// `rejection_code` and `type`.
    pub fn rejections(&self) -> Vec<([Str; 5], u64)> {
        self.rejections.counted()
    }

    /// Returns the failed calls that let their requests pass, by `name` and `type`.
    pub fn fail_open(&self) -> Vec<([Str; 2], u64)> {
        self.fail_open.counted()
    }

    /// Returns the requests that match conditions excluded, by `kind`, `name`, `operation` and
    /// `type`.
    pub fn exclusions(&self) -> Vec<([Str; 4], u64)> {
        self.exclusions.counted()
    }

    /// Returns the match conditions that failed, by the same labels.
    pub fn condition_errors(&self) -> Vec<([Str; 4], u64)> {
        self.condition_errors.counted()
    }

    /// Returns how long match conditions took, by the same labels.
    pub fn condition_times(&self) -> Vec<([Str; 4], HistogramState)> {
        self.condition_times.counted()
    }
}
