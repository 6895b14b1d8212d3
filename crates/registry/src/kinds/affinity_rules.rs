//! What affinities and spread constraints must satisfy.

use kubist_api::core::v1::{
    Affinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodAffinityTerm,
    TopologySpreadConstraint, WeightedPodAffinityTerm,
};
use kubist_apimachinery::{
    FieldError, FieldPath, LabelSelector, validate_label_selector, validate_name,
};

use super::rules::{self, Errors};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Checks all affinities of a Pod.
pub(super) fn check(errors: &mut Errors, affinity: &Affinity, path: &FieldPath) {
    if let Some(node) = &affinity.node_affinity {
        let path = path.child("nodeAffinity");
        if let Some(selector) = &node.required_during_scheduling_ignored_during_execution {
            check_node_selector(errors, selector, &path.child(REQUIRED));
        }
        let preferred = &node.preferred_during_scheduling_ignored_during_execution;
        for (index, term) in preferred.iter().enumerate() {
            let path = path.child(PREFERRED).index(index);
            check_weight(errors, term.weight, &path);
            check_node_term(errors, &term.preference, &path.child("preference"));
        }
    }
    if let Some(pods) = &affinity.pod_affinity {
        check_pods(
            errors,
            &pods.required_during_scheduling_ignored_during_execution,
            &pods.preferred_during_scheduling_ignored_during_execution,
            &path.child("podAffinity"),
        );
    }
    if let Some(pods) = &affinity.pod_anti_affinity {
        check_pods(
            errors,
            &pods.required_during_scheduling_ignored_during_execution,
            &pods.preferred_during_scheduling_ignored_during_execution,
            &path.child("podAntiAffinity"),
        );
    }
}

fn check_pods(
    errors: &mut Errors,
    required: &[PodAffinityTerm],
    preferred: &[WeightedPodAffinityTerm],
    path: &FieldPath,
) {
    for (index, term) in required.iter().enumerate() {
        check_pod_term(errors, term, &path.child(REQUIRED).index(index));
    }
    for (index, term) in preferred.iter().enumerate() {
        let path = path.child(PREFERRED).index(index);
        check_weight(errors, term.weight, &path);
        check_pod_term(
            errors,
            &term.pod_affinity_term,
            &path.child("podAffinityTerm"),
        );
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

fn check_pod_term(errors: &mut Errors, term: &PodAffinityTerm, path: &FieldPath) {
    for (name, selector) in [
        ("labelSelector", &term.label_selector),
        ("namespaceSelector", &term.namespace_selector),
    ] {
        check_selector(errors, selector.as_deref(), &path.child(name));
    }
    for name in &term.namespaces {
        let path = path.child("namespace");
        rules::text(errors, name, &path, validate_name::dns1123_label);
    }
    let path = path.child("topologyKey");
    if term.topology_key.is_empty() {
        errors.push(FieldError::required(&path, "can not be empty"));
    }
    rules::text(
        errors,
        &term.topology_key,
        &path,
        validate_name::qualified_name,
    );
}

fn check_selector(errors: &mut Errors, selector: Option<&LabelSelector>, path: &FieldPath) {
    if let Some(selector) = selector {
        errors.extend(validate_label_selector(selector, path, false));
    }
}

/// Checks a selector of nodes, which must have terms.
pub(super) fn check_node_selector(errors: &mut Errors, selector: &NodeSelector, path: &FieldPath) {
    let path = path.child("nodeSelectorTerms");
    if selector.node_selector_terms.is_empty() {
        let detail = "must have at least one node selector term";
        errors.push(FieldError::required(&path, detail));
    }
    for (index, term) in selector.node_selector_terms.iter().enumerate() {
        check_node_term(errors, term, &path.index(index));
    }
}

fn check_node_term(errors: &mut Errors, term: &NodeSelectorTerm, path: &FieldPath) {
    for (index, requirement) in term.match_expressions.iter().enumerate() {
        check_requirement(
            errors,
            requirement,
            &path.child("matchExpressions").index(index),
        );
    }
    for (index, requirement) in term.match_fields.iter().enumerate() {
        let path = path.child("matchFields").index(index);
        if requirement.key != "metadata.name" {
            let path = path.child("key");
            let detail = "not a valid field selector key";
            errors.push(FieldError::invalid(&path, &requirement.key, detail));
        }
        if !matches!(requirement.operator.as_str(), "In" | "NotIn") {
            let path = path.child("operator");
            let detail = "not a valid selector operator";
            errors.push(FieldError::invalid(&path, &requirement.operator, detail));
        }
    }
}

fn check_requirement(errors: &mut Errors, requirement: &NodeSelectorRequirement, path: &FieldPath) {
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
            errors.push(FieldError::invalid(&path.child("operator"), other, detail));
        }
    }
    let path = path.child("key");
    rules::text(
        errors,
        &requirement.key,
        &path,
        validate_name::qualified_name,
    );
}

/// Checks how Pods are to be spread.
pub(super) fn check_spread(
    errors: &mut Errors,
    all: &[TopologySpreadConstraint],
    path: &FieldPath,
) {
    for (index, constraint) in all.iter().enumerate() {
        let at = path.index(index);
        if constraint.max_skew <= 0 {
            let detail = "must be greater than zero";
            errors.push(FieldError::invalid(
                &at.child("maxSkew"),
                constraint.max_skew,
                detail,
            ));
        }
        let key_path = at.child("topologyKey");
        if constraint.topology_key.is_empty() {
            errors.push(FieldError::required(&key_path, "can not be empty"));
        } else {
            rules::text(
                errors,
                &constraint.topology_key,
                &key_path,
                validate_name::qualified_name,
            );
        }
        let when = &constraint.when_unsatisfiable;
        let supported = ["DoNotSchedule", "ScheduleAnyway"];
        rules::one_of(errors, when, &supported, &at.child("whenUnsatisfiable"));
        let same = |other: &&TopologySpreadConstraint| {
            other.topology_key == constraint.topology_key && other.when_unsatisfiable == *when
        };
        if all[index + 1..].iter().any(|other| same(&other)) {
            let shown = format!("{{{}, {when}}}", constraint.topology_key);
            let path = at.child("{topologyKey, whenUnsatisfiable}");
            errors.push(FieldError::duplicate(&path, &shown));
        }
        for (name, policy) in [
            ("nodeAffinityPolicy", &constraint.node_affinity_policy),
            ("nodeTaintsPolicy", &constraint.node_taints_policy),
        ] {
            if let Some(policy) = policy {
                rules::one_of(errors, policy, &["Honor", "Ignore"], &at.child(name));
            }
        }
        if !constraint.match_label_keys.is_empty() && constraint.label_selector.is_none() {
            let detail = "must not be specified when labelSelector is not set";
            errors.push(FieldError::forbidden(&at.child("matchLabelKeys"), detail));
        }
        check_selector(
            errors,
            constraint.label_selector.as_deref(),
            &at.child("labelSelector"),
        );
    }
}
