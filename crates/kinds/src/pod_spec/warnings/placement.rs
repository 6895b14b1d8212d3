//! Warnings about scheduling: node labels, affinities and topology spread.

use crate::shared::node_label_warnings::{deprecated, term};
use kubist_api::core::v1::{PodAffinityTerm, PodSpec};
use kubist_apimachinery::{FieldPath, LabelSelector};

pub(super) fn labels(found: &mut Vec<String>, spec: &PodSpec, path: &FieldPath) {
    for key in spec.node_selector.keys() {
        if let Some(message) = deprecated(key) {
            found.push(format!(
                "{}: {message}",
                path.child("nodeSelector").key(key)
            ));
        }
    }
    let affinity = spec
        .affinity
        .as_deref()
        .and_then(|it| it.node_affinity.as_deref());
    if let Some(affinity) = affinity {
        let path = path.child("affinity").child("nodeAffinity");
        let (required, preferred) = (
            affinity
                .required_during_scheduling_ignored_during_execution
                .as_deref(),
            &affinity.preferred_during_scheduling_ignored_during_execution,
        );
        let at = path
            .child("requiredDuringSchedulingIgnoredDuringExecution")
            .child("nodeSelectorTerms");
        let terms = required.into_iter().flat_map(|it| &it.node_selector_terms);
        for (index, it) in terms.enumerate() {
            term(found, it, false, &at.index(index));
        }
        let at = path.child("preferredDuringSchedulingIgnoredDuringExecution");
        for (index, it) in preferred.iter().enumerate() {
            term(
                found,
                &it.preference,
                true,
                &at.index(index).child("preference"),
            );
        }
    }
    for (index, it) in spec.topology_spread_constraints.iter().enumerate() {
        let path = path.child("topologySpreadConstraints").index(index);
        if let Some(message) = deprecated(&it.topology_key) {
            let (path, key) = (path.child("topologyKey"), &it.topology_key);
            found.push(format!("{path}: {key} is {message}"));
        }
        no_selector(found, it.label_selector.as_deref(), &path);
    }
}

/// Warns of a null selector, which selects nothing.
fn no_selector(found: &mut Vec<String>, selector: Option<&LabelSelector>, path: &FieldPath) {
    if selector.is_none() {
        let path = path.child("labelSelector");
        found.push(format!(
            "{path}: a null labelSelector results in matching no pod"
        ));
    }
}

pub(super) fn affinities(found: &mut Vec<String>, spec: &PodSpec, path: &FieldPath) {
    let Some(affinity) = spec.affinity.as_deref() else {
        return;
    };
    let mut terms = |name: &str, required: &[PodAffinityTerm], preferred: Vec<&PodAffinityTerm>| {
        let path = path.child(name);
        let at = path.child("requiredDuringSchedulingIgnoredDuringExecution");
        for (index, it) in required.iter().enumerate() {
            no_selector(found, it.label_selector.as_deref(), &at.index(index));
        }
        let at = path.child("preferredDuringSchedulingIgnoredDuringExecution");
        for (index, it) in preferred.into_iter().enumerate() {
            let at = at.index(index).child("podAffinityTerm");
            no_selector(found, it.label_selector.as_deref(), &at);
        }
    };
    if let Some(it) = affinity.pod_affinity.as_deref() {
        let preferred = &it.preferred_during_scheduling_ignored_during_execution;
        let preferred = preferred.iter().map(|it| &it.pod_affinity_term).collect();
        let required = &it.required_during_scheduling_ignored_during_execution;
        terms("podAffinity", required, preferred);
    }
    if let Some(it) = affinity.pod_anti_affinity.as_deref() {
        let preferred = &it.preferred_during_scheduling_ignored_during_execution;
        let preferred = preferred.iter().map(|it| &it.pod_affinity_term).collect();
        let required = &it.required_during_scheduling_ignored_during_execution;
        terms("podAntiAffinity", required, preferred);
    }
}
