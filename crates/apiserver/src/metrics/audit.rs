//! Metrics of audit, under upstream's names.

use super::exposition::Family;
use crate::audit::counters::AuditCounters;
use prometheus::proto::MetricFamily;

/// Returns the families of a server with an audit policy.
pub(crate) fn families(of: &AuditCounters) -> Vec<MetricFamily> {
    let mut events = Family::counter(
        "apiserver_audit_event_total",
        "Audit events that were passed to the backends",
        &[],
    );
    events.count(&[], of.events());
    let mut errors = Family::counter(
        "apiserver_audit_error_total",
        "Audit events that were lost, by what lost them",
        &["plugin"],
    );
    for (plugin, lost) in of.errors() {
        errors.count(&[plugin], lost);
    }
    let mut levels = Family::counter(
        "apiserver_audit_level_total",
        "Requests by the level of the audit policy",
        &["level"],
    );
    for (level, requests) in of.levels() {
        levels.count_some(&[level], requests);
    }
    let mut rejected = Family::counter(
        "apiserver_audit_requests_rejected_total",
        "Requests that were refused because their audit event could not be written",
        &[],
    );
    rejected.count(&[], of.rejected_requests());
    let families = [events, errors, levels, rejected];
    families.into_iter().filter_map(Family::finish).collect()
}
