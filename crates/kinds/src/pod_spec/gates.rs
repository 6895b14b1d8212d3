//! Validation of updates to a gated Pod: its node selection may only become narrower.

use crate::shared::go_struct;
use crate::shared::rules::Errors;
use kubist_api::core::v1::{Affinity, NodeAffinity, NodeSelectorTerm, PodSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};

/// Checks the changed node selection, and resets it in `rest` to the old one.
pub(crate) fn check(errors: &mut Errors, rest: &mut PodSpec, old: &PodSpec, path: &FieldPath) {
    let (now, before) = (&rest.node_selector, &old.node_selector);
    if before
        .iter()
        .any(|(key, value)| now.get(key) != Some(value))
    {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        let shown = if now.is_empty() {
            BadValue::null()
        } else {
            BadValue::json(now)
        };
        let path = path.child("nodeSelector");
        errors.push(FieldError::invalid(&path, shown, detail));
    }
    rest.node_selector.clone_from(before);
    let before = node_affinity(old);
    if node_affinity(rest) == before {
        return;
    }
    let path = path.child("affinity").child("nodeAffinity");
    only_adds(errors, node_affinity(rest), before, &path);
    let before = before.cloned().map(Box::new);
    match &mut rest.affinity {
        Some(now) if old.affinity.is_none() && has_only_node_affinity(now) => rest.affinity = None,
        Some(now) => now.node_affinity = before,
        None => {
            rest.affinity = Some(Box::new(Affinity {
                node_affinity: before,
                ..Affinity::default()
            }));
        }
    }
}

fn node_affinity(spec: &PodSpec) -> Option<&NodeAffinity> {
    spec.affinity.as_deref()?.node_affinity.as_deref()
}

fn has_only_node_affinity(affinity: &Affinity) -> bool {
    affinity.pod_affinity.is_none() && affinity.pod_anti_affinity.is_none()
}

fn terms(affinity: Option<&NodeAffinity>) -> &[NodeSelectorTerm] {
    let required = affinity.and_then(|it| {
        it.required_during_scheduling_ignored_during_execution
            .as_deref()
    });
    required.map_or(&[], |it| &it.node_selector_terms)
}

/// Checks that the number of terms stays the same and that each keeps its requirements.
fn only_adds(
    errors: &mut Errors,
    now: Option<&NodeAffinity>,
    before: Option<&NodeAffinity>,
    path: &FieldPath,
) {
    let (now, before) = (terms(now), terms(before));
    let path = path
        .child("requiredDuringSchedulingIgnoredDuringExecution")
        .child("nodeSelectorTerms");
    if !before.is_empty() && before.len() != now.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.push(FieldError::invalid(
            &path,
            go_struct::shown_list(now),
            detail,
        ));
        return;
    }
    for (index, (now, before)) in now.iter().zip(before).enumerate() {
        if !keeps(now, before) {
            let detail = "only additions are allowed (no mutations or deletions)";
            let shown = go_struct::shown(now);
            errors.push(FieldError::invalid(&path.index(index), shown, detail));
        }
    }
}

fn keeps(now: &NodeSelectorTerm, before: &NodeSelectorTerm) -> bool {
    // An empty term selects nothing and cannot become one that selects something.
    if *before == NodeSelectorTerm::default() {
        return now == before;
    }
    now.match_expressions.starts_with(&before.match_expressions)
        && now.match_fields.starts_with(&before.match_fields)
}
