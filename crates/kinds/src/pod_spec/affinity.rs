//! Validation of affinities and of the label keys of spread constraints.

use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{
    Affinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodAffinityTerm, PodSpec,
    WeightedPodAffinityTerm,
};
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, LabelSelector, Str, validate_label_selector, validate_name,
};
use std::collections::{BTreeMap, BTreeSet};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Checks all affinities of a Pod.
pub(crate) fn check(
    errors: &mut Errors,
    affinity: &Affinity,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    if let Some(node) = &affinity.node_affinity {
        let path = path.child("nodeAffinity");
        if let Some(selector) = &node.required_during_scheduling_ignored_during_execution {
            let values = if subject.already(has_bad_node_values) {
                Values::Any
            } else {
                Values::OfLabels
            };
            check_terms(errors, selector, values, &path.child(REQUIRED));
        }
        let preferred = &node.preferred_during_scheduling_ignored_during_execution;
        for (index, term) in preferred.iter().enumerate() {
            let path = path.child(PREFERRED).index(index);
            check_weight(errors, term.weight, &path);
            let path = path.child("preference");
            check_node_term(errors, &term.preference, Values::Any, &path);
        }
    }
    let lenient = subject.already(has_bad_selectors);
    if let Some(pods) = &affinity.pod_affinity {
        let path = path.child("podAffinity");
        let required = &pods.required_during_scheduling_ignored_during_execution;
        let preferred = &pods.preferred_during_scheduling_ignored_during_execution;
        check_pods(errors, required, preferred, lenient, &path);
    }
    if let Some(pods) = &affinity.pod_anti_affinity {
        let path = path.child("podAntiAffinity");
        let required = &pods.required_during_scheduling_ignored_during_execution;
        let preferred = &pods.preferred_during_scheduling_ignored_during_execution;
        check_pods(errors, required, preferred, lenient, &path);
    }
}

/// Reports whether a required node affinity contains values that are not valid label values.
fn has_bad_node_values(spec: &PodSpec) -> bool {
    let node = spec.affinity.iter().flat_map(|it| &it.node_affinity);
    let required = node.flat_map(|it| &it.required_during_scheduling_ignored_during_execution);
    let terms = required.flat_map(|it| &it.node_selector_terms);
    let mut values = terms
        .flat_map(|it| &it.match_expressions)
        .flat_map(|it| &it.values);
    values.any(|it| !validate_name::label_value(it).is_empty())
}

/// Reports whether any Pod selector is invalid.
fn has_bad_selectors(spec: &PodSpec) -> bool {
    let mut errors = Vec::new();
    let mut look = |term: &PodAffinityTerm| {
        check_selectors(&mut errors, term, false, &FieldPath::new(""));
    };
    let Some(affinity) = &spec.affinity else {
        return false;
    };
    if let Some(pods) = &affinity.pod_affinity {
        let preferred = &pods.preferred_during_scheduling_ignored_during_execution;
        let required = &pods.required_during_scheduling_ignored_during_execution;
        let preferred = preferred.iter().map(|it| &it.pod_affinity_term);
        required.iter().chain(preferred).for_each(&mut look);
    }
    if let Some(pods) = &affinity.pod_anti_affinity {
        let preferred = &pods.preferred_during_scheduling_ignored_during_execution;
        let required = &pods.required_during_scheduling_ignored_during_execution;
        let preferred = preferred.iter().map(|it| &it.pod_affinity_term);
        required.iter().chain(preferred).for_each(&mut look);
    }
    !errors.is_empty()
}

fn check_pods(
    errors: &mut Errors,
    required: &[PodAffinityTerm],
    preferred: &[WeightedPodAffinityTerm],
    lenient: bool,
    path: &FieldPath,
) {
    for (index, term) in required.iter().enumerate() {
        check_pod_term(errors, term, lenient, &path.child(REQUIRED).index(index));
    }
    for (index, term) in preferred.iter().enumerate() {
        let path = path.child(PREFERRED).index(index);
        check_weight(errors, term.weight, &path);
        let path = path.child("podAffinityTerm");
        check_pod_term(errors, &term.pod_affinity_term, lenient, &path);
    }
}

fn check_weight(errors: &mut Errors, weight: i32, path: &FieldPath) {
    if !(1..=100).contains(&weight) {
        let path = path.child("weight");
        errors.push(FieldError::invalid(
            &path,
            weight,
            "must be in the range 1-100",
        ));
    }
}

fn check_pod_term(errors: &mut Errors, term: &PodAffinityTerm, lenient: bool, path: &FieldPath) {
    check_selectors(errors, term, lenient, path);
    for name in &term.namespaces {
        let path = path.child("namespace");
        rules::text(errors, name, &path, validate_name::dns1123_label);
    }
    let selector = term.label_selector.as_deref();
    check_keys(
        errors,
        &term.match_label_keys,
        &term.mismatch_label_keys,
        selector,
        path,
    );
    let path = path.child("topologyKey");
    if term.topology_key.is_empty() {
        errors.push(FieldError::required(&path, "can not be empty"));
    }
    let rule = validate_name::qualified_name;
    rules::text(errors, &term.topology_key, &path, rule);
}

fn check_selectors(errors: &mut Errors, term: &PodAffinityTerm, lenient: bool, path: &FieldPath) {
    for (name, selector) in [
        ("labelSelector", &term.label_selector),
        ("namespaceSelector", &term.namespace_selector),
    ] {
        if let Some(selector) = selector {
            errors.extend(validate_label_selector(
                selector,
                &path.child(name),
                lenient,
            ));
        }
    }
}

/// Checks `matchLabelKeys` and `mismatchLabelKeys`. The Pod's values of these labels are added to
/// the selector, which must not contain other requirements for them.
pub(crate) fn check_keys(
    errors: &mut Errors,
    equal: &[Str],
    different: &[Str],
    selector: Option<&LabelSelector>,
    path: &FieldPath,
) {
    let (equal_path, different_path) = (
        path.child("matchLabelKeys"),
        path.child("mismatchLabelKeys"),
    );
    for (keys, path) in [(equal, &equal_path), (different, &different_path)] {
        if selector.is_none() && !keys.is_empty() {
            let detail = "must not be specified when labelSelector is not set";
            errors.push(FieldError::forbidden(path, detail));
            continue;
        }
        for (index, key) in keys.iter().enumerate() {
            rules::text(
                errors,
                key,
                &path.index(index),
                validate_name::qualified_name,
            );
        }
    }
    if let Some(selector) = selector {
        let mut seen: BTreeSet<&Str> = selector.match_labels.keys().collect();
        let places: BTreeMap<&Str, usize> = equal.iter().zip(0..).collect();
        for expression in &selector.match_expressions {
            let key = &expression.key;
            let last = places.get(key).copied();
            if let Some(index) = last.filter(|_| seen.contains(key)) {
                // Upstream's path is an index without a list.
                let detail = "exists in both matchLabelKeys and labelSelector";
                errors.push(FieldError::invalid(&path.index(index), key, detail));
            }
            seen.insert(key);
        }
    }
    let different: BTreeSet<&Str> = different.iter().collect();
    for (index, key) in equal.iter().enumerate() {
        if different.contains(key) {
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            errors.push(FieldError::invalid(&equal_path.index(index), key, detail));
        }
    }
}

/// The values that a node requirement may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    /// Valid label values only.
    OfLabels,
    /// Any text.
    Any,
}

/// Checks a node selector, which must have terms.
pub(crate) fn check_node_selector(errors: &mut Errors, selector: &NodeSelector, path: &FieldPath) {
    check_terms(errors, selector, Values::OfLabels, path);
}

fn check_terms(errors: &mut Errors, selector: &NodeSelector, values: Values, path: &FieldPath) {
    let path = path.child("nodeSelectorTerms");
    if selector.node_selector_terms.is_empty() {
        let detail = "must have at least one node selector term";
        errors.push(FieldError::required(&path, detail));
    }
    for (index, term) in selector.node_selector_terms.iter().enumerate() {
        check_node_term(errors, term, values, &path.index(index));
    }
}

fn check_node_term(errors: &mut Errors, term: &NodeSelectorTerm, values: Values, path: &FieldPath) {
    for (index, requirement) in term.match_expressions.iter().enumerate() {
        let path = path.child("matchExpressions").index(index);
        check_requirement(errors, requirement, values, &path);
    }
    for (index, requirement) in term.match_fields.iter().enumerate() {
        check_field(errors, requirement, &path.child("matchFields").index(index));
    }
}

/// Checks a field requirement: nodes can be selected by name and by no other field.
fn check_field(errors: &mut Errors, requirement: &NodeSelectorRequirement, path: &FieldPath) {
    let (key, values) = (&requirement.key, &requirement.values);
    if !matches!(requirement.operator.as_str(), "In" | "NotIn") {
        let path = path.child("operator");
        let detail = "not a valid selector operator";
        let shown = BadValue::json(&requirement.operator);
        errors.push(FieldError::invalid(&path, shown, detail));
    } else if values.len() != 1 {
        let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field \
                      selector";
        errors.push(FieldError::required(&path.child("values"), detail));
    }
    if key != "metadata.name" {
        let detail = "not a valid field selector key";
        errors.push(FieldError::invalid(&path.child("key"), key, detail));
        return;
    }
    for (index, value) in values.iter().enumerate() {
        let path = path.child("values").index(index);
        rules::text(errors, value, &path, validate_name::dns1123_subdomain);
    }
}

fn check_requirement(
    errors: &mut Errors,
    requirement: &NodeSelectorRequirement,
    allowed: Values,
    path: &FieldPath,
) {
    let values = path.child("values");
    match requirement.operator.as_str() {
        "In" | "NotIn" => {
            if requirement.values.is_empty() {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(&values, detail));
            }
        }
        "Exists" | "DoesNotExist" => {
            if !requirement.values.is_empty() {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(&values, detail));
            }
        }
        "Gt" | "Lt" => {
            if requirement.values.len() != 1 {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.push(FieldError::required(&values, detail));
            }
        }
        other => {
            let detail = "not a valid selector operator";
            let shown = BadValue::json(other);
            errors.push(FieldError::invalid(&path.child("operator"), shown, detail));
        }
    }
    let path = path.child("key");
    rules::text(
        errors,
        &requirement.key,
        &path,
        validate_name::qualified_name,
    );
    if allowed == Values::OfLabels {
        for (index, value) in requirement.values.iter().enumerate() {
            rules::text(
                errors,
                value,
                &values.index(index),
                validate_name::label_value,
            );
        }
    }
}
