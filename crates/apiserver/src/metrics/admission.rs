//! Metrics of admission, under upstream's names: of plugins, steps, webhooks and policies.
//!
//! A plugin is counted for the requests that it takes part in. Upstream's summaries of steps are
//! left out: their histograms say the same.

use super::exposition::Family;
use kubist_admission::{PolicyMetrics, WebhookMetrics};
use kubist_apimachinery::Str;
use kubist_registry::admission::AdmissionChain;
use kubist_registry::metrics::HistogramState;
use prometheus::proto::MetricFamily;

const OF_STEP: &[&str] = &["operation", "rejected", "type"];
const OF_PLUGIN: &[&str] = &["name", "operation", "rejected", "type"];
const OF_CALL: &[&str] = &["code", "name", "operation", "rejected", "type"];
const OF_REJECTION: &[&str] = &["error_type", "name", "operation", "rejection_code", "type"];
const OF_WEBHOOK: &[&str] = &["name", "type"];
const OF_CONDITION: &[&str] = &["kind", "name", "operation", "type"];
const OF_CHECK: &[&str] = &[
    "enforcement_action",
    "error_type",
    "policy",
    "policy_binding",
];
const OF_MUTATION: &[&str] = &["error_type", "policy", "policy_binding"];

/// Returns the families of the plugins of a registry.
pub(super) fn of_chain(chain: &AdmissionChain) -> Vec<MetricFamily> {
    let mut steps = Family::histogram(
        "apiserver_admission_step_admission_duration_seconds",
        "How long all admission plugins took together, by step",
        OF_STEP,
    );
    for (step, operation, rejected, times) in chain.step_times().counted() {
        let labels = [operation.as_str(), word(rejected), step.as_str()];
        steps.observed(&labels, &times);
    }
    let mut plugins = Family::histogram(
        "apiserver_admission_controller_admission_duration_seconds",
        "How long an admission plugin took, by step",
        OF_PLUGIN,
    );
    for (name, times) in chain.plugin_times() {
        for (step, operation, rejected, times) in times.counted() {
            let labels = [name, operation.as_str(), word(rejected), step.as_str()];
            plugins.observed(&labels, &times);
        }
    }
    finished([steps, plugins])
}

/// Returns the families of webhooks.
pub(crate) fn of_webhooks(of: &WebhookMetrics) -> Vec<MetricFamily> {
    let mut took = Family::histogram(
        "apiserver_admission_webhook_admission_duration_seconds",
        "How long calls of admission webhooks took",
        OF_PLUGIN,
    );
    for (labels, times) in of.durations() {
        took.observed(&texts(&labels), &times);
    }
    let mut requests = Family::counter(
        "apiserver_admission_webhook_request_total",
        "Calls of admission webhooks by the code of the answer",
        OF_CALL,
    );
    for (labels, count) in of.requests() {
        requests.count(&texts(&labels), count);
    }
    let mut rejections = Family::counter(
        "apiserver_admission_webhook_rejection_count",
        "Requests that were rejected by admission webhooks, or because of them",
        OF_REJECTION,
    );
    for (labels, count) in of.rejections() {
        rejections.count(&texts(&labels), count);
    }
    let mut fail_open = Family::counter(
        "apiserver_admission_webhook_fail_open_count",
        "Calls of admission webhooks that failed, and let their requests pass",
        OF_WEBHOOK,
    );
    for (labels, count) in of.fail_open() {
        fail_open.count(&texts(&labels), count);
    }
    let [exclusions, errors, times] = of_conditions(of);
    finished([
        took, requests, rejections, fail_open, exclusions, errors, times,
    ])
}

/// Returns the families of match conditions.
fn of_conditions(of: &WebhookMetrics) -> [Family; 3] {
    let mut exclusions = Family::counter(
        "apiserver_admission_match_condition_exclusions_total",
        "Requests that match conditions kept from webhooks",
        OF_CONDITION,
    );
    for (labels, count) in of.exclusions() {
        exclusions.count(&texts(&labels), count);
    }
    let mut errors = Family::counter(
        "apiserver_admission_match_condition_evaluation_errors_total",
        "Match conditions of webhooks that failed",
        OF_CONDITION,
    );
    for (labels, count) in of.condition_errors() {
        errors.count(&texts(&labels), count);
    }
    let mut times = Family::histogram(
        "apiserver_admission_match_condition_evaluation_seconds",
        "How long match conditions took that were not all true",
        OF_CONDITION,
    );
    for (labels, state) in of.condition_times() {
        times.observed(&texts(&labels), &state);
    }
    [exclusions, errors, times]
}

/// Returns the families of policies.
pub(crate) fn of_policies(of: &PolicyMetrics) -> Vec<MetricFamily> {
    let mut checks = Family::counter(
        "apiserver_validating_admission_policy_check_total",
        "Violations and failures of validating policies, by what follows from them",
        OF_CHECK,
    );
    let mut checking = Family::histogram(
        "apiserver_validating_admission_policy_check_duration_seconds",
        "How long the expressions of these took",
        OF_CHECK,
    );
    both(of.validating(), &mut checks, &mut checking);
    let mut mutations = Family::counter(
        "apiserver_mutating_admission_policy_check_total",
        "Steps of mutating policies",
        OF_MUTATION,
    );
    let mut mutating = Family::histogram(
        "apiserver_mutating_admission_policy_check_duration_seconds",
        "How long the steps of mutating policies took",
        OF_MUTATION,
    );
    both(of.mutating(), &mut mutations, &mut mutating);
    finished([checks, checking, mutations, mutating])
}

/// Adds durations, and how many there are, to two families.
fn both<const N: usize>(
    all: Vec<([Str; N], HistogramState)>,
    counts: &mut Family,
    times: &mut Family,
) {
    for (labels, state) in all {
        let labels = texts(&labels);
        counts.count(&labels, state.count());
        times.observed(&labels, &state);
    }
}

fn texts<const N: usize>(labels: &[Str; N]) -> [&str; N] {
    labels.each_ref().map(|it| &**it)
}

fn word(rejected: bool) -> &'static str {
    if rejected { "true" } else { "false" }
}

fn finished<const N: usize>(families: [Family; N]) -> Vec<MetricFamily> {
    families.into_iter().filter_map(Family::finish).collect()
}
