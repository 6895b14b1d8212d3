//! Validation of topology spread constraints.

use crate::pod_spec::affinity::check_keys;
use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{PodSpec, TopologySpreadConstraint};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_label_selector, validate_name};
use std::collections::BTreeSet;

const NOT_POSITIVE: &str = "must be greater than zero";

/// Checks all constraints.
pub(crate) fn check(
    errors: &mut Errors,
    all: &[TopologySpreadConstraint],
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let bad_keys = subject.already(|old| any(old, keys));
    let bad_selectors = subject.already(|old| any(old, selector));
    let places = all
        .iter()
        .map(|it| (&it.topology_key, &it.when_unsatisfiable));
    // Among several constraints with one key, the last is not reported as a duplicate.
    let mut repeated = rules::repeats(places.rev());
    repeated.reverse();
    for (index, constraint) in all.iter().enumerate() {
        let path = path.index(index);
        check_placing(errors, constraint, repeated[index], &path);
        check_domains(errors, constraint, &path.child("minDomains"));
        for (name, policy) in [
            ("nodeAffinityPolicy", &constraint.node_affinity_policy),
            ("nodeTaintsPolicy", &constraint.node_taints_policy),
        ] {
            if let Some(policy) = policy {
                rules::one_of(errors, policy, &["Honor", "Ignore"], &path.child(name));
            }
        }
        if bad_keys {
            older_keys(errors, constraint, &path.child("matchLabelKeys"));
        } else {
            keys(errors, constraint, &path);
        }
        if !bad_selectors {
            selector(errors, constraint, &path);
        }
    }
}

fn any(spec: &PodSpec, rule: impl Fn(&mut Errors, &TopologySpreadConstraint, &FieldPath)) -> bool {
    let mut errors = Vec::new();
    for constraint in &spec.topology_spread_constraints {
        rule(&mut errors, constraint, &FieldPath::new(""));
    }
    !errors.is_empty()
}

fn check_placing(
    errors: &mut Errors,
    constraint: &TopologySpreadConstraint,
    is_repeated: bool,
    path: &FieldPath,
) {
    if constraint.max_skew <= 0 {
        let path = path.child("maxSkew");
        errors.push(FieldError::invalid(
            &path,
            constraint.max_skew,
            NOT_POSITIVE,
        ));
    }
    let (key, when) = (&constraint.topology_key, &constraint.when_unsatisfiable);
    if key.is_empty() {
        let path = path.child("topologyKey");
        errors.push(FieldError::required(&path, "can not be empty"));
    }
    let supported = ["DoNotSchedule", "ScheduleAnyway"];
    rules::one_of(errors, when, &supported, &path.child("whenUnsatisfiable"));
    if is_repeated {
        let shown = format!("{{{key}, {when}}}");
        let path = path.child("{topologyKey, whenUnsatisfiable}");
        errors.push(FieldError::duplicate(&path, &shown));
    }
}

/// Checks `minDomains`, which requires `DoNotSchedule`.
fn check_domains(errors: &mut Errors, constraint: &TopologySpreadConstraint, path: &FieldPath) {
    let Some(domains) = constraint.min_domains else {
        return;
    };
    if domains <= 0 {
        errors.push(FieldError::invalid(path, domains, NOT_POSITIVE));
    }
    let when = &constraint.when_unsatisfiable;
    if when != "DoNotSchedule" {
        let detail =
            format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}");
        errors.push(FieldError::invalid(path, domains, detail));
    }
}

fn keys(errors: &mut Errors, constraint: &TopologySpreadConstraint, path: &FieldPath) {
    let selector = constraint.label_selector.as_deref();
    check_keys(errors, &constraint.match_label_keys, &[], selector, path);
}

/// Checks upstream's older rules for label keys, from before they were added to selectors.
fn older_keys(errors: &mut Errors, constraint: &TopologySpreadConstraint, path: &FieldPath) {
    let (all, selector) = (&constraint.match_label_keys, &constraint.label_selector);
    if selector.is_none() && !all.is_empty() {
        let detail = "must not be specified when labelSelector is not set";
        errors.push(FieldError::forbidden(path, detail));
    }
    let selected: BTreeSet<&Str> = selector
        .iter()
        .flat_map(|it| {
            let expressions = it.match_expressions.iter().map(|it| &it.key);
            it.match_labels.keys().chain(expressions)
        })
        .collect();
    for (index, key) in all.iter().enumerate() {
        let path = path.index(index);
        rules::text(errors, key, &path, validate_name::qualified_name);
        if selected.contains(key) {
            let detail = "exists in both matchLabelKeys and labelSelector";
            errors.push(FieldError::invalid(&path, key, detail));
        }
    }
}

fn selector(errors: &mut Errors, constraint: &TopologySpreadConstraint, path: &FieldPath) {
    if let Some(selector) = &constraint.label_selector {
        let path = path.child("labelSelector");
        errors.extend(validate_label_selector(selector, &path, false));
    }
}
