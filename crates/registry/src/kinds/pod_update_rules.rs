//! What may change in a Pod.

use kubist_api::core::v1::{ContainerStatus, Pod, PodSpec, Toleration};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str};

use super::rules::Errors;
use super::{go_struct, pod_spec_rules, text_diff};

const ONLY_THESE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
     `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
     additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set \
     to 1 if it was previously negative)";

/// Checks a change of the spec.
pub(super) fn check(new: &Pod, old: &Pod) -> Errors {
    let path = FieldPath::new("spec");
    let mut errors = Vec::new();
    pod_spec_rules::check(&mut errors, &new.spec, &path);
    let counts = |spec: &PodSpec| (spec.containers.len(), spec.init_containers.len());
    if counts(&new.spec).0 != counts(&old.spec).0 {
        let detail = "pod updates may not add or remove containers";
        errors.push(FieldError::forbidden(&path.child("containers"), detail));
    }
    if counts(&new.spec).1 != counts(&old.spec).1 {
        let detail = "pod updates may not add or remove containers";
        errors.push(FieldError::forbidden(&path.child("initContainers"), detail));
    }
    if !errors.is_empty() && counts(&new.spec) != counts(&old.spec) {
        return errors;
    }
    check_deadline(&mut errors, new, old, &path.child("activeDeadlineSeconds"));
    check_tolerations(
        &mut errors,
        &new.spec.tolerations,
        &old.spec.tolerations,
        &path.child("tolerations"),
    );
    check_gates(&mut errors, new, old, &path.child("schedulingGates"));
    let rest = without_changeable(&new.spec, &old.spec);
    if rest != old.spec {
        let before = go_struct::pod_spec(&old.spec);
        let diff = text_diff::json_diff(&before, &go_struct::pod_spec(&rest));
        errors.push(FieldError::forbidden(
            &path,
            format!("{ONLY_THESE}\n{diff}"),
        ));
    }
    errors
}

/// The new spec with everything that may change as it was.
fn without_changeable(new: &PodSpec, old: &PodSpec) -> PodSpec {
    let mut rest = new.clone();
    let containers = rest.containers.iter_mut().zip(&old.containers);
    let init = rest.init_containers.iter_mut().zip(&old.init_containers);
    for (container, before) in containers.chain(init) {
        container.image = before.image.clone();
    }
    rest.active_deadline_seconds = old.active_deadline_seconds;
    rest.tolerations.clone_from(&old.tolerations);
    rest.scheduling_gates.clone_from(&old.scheduling_gates);
    let was_negative = old
        .termination_grace_period_seconds
        .is_some_and(|it| it < 0);
    if was_negative && new.termination_grace_period_seconds == Some(1) {
        rest.termination_grace_period_seconds = old.termination_grace_period_seconds;
    }
    // Pods that wait for their gates may still be told where to run.
    if !old.scheduling_gates.is_empty() {
        let keeps = old
            .node_selector
            .iter()
            .all(|(key, value)| new.node_selector.get(key) == Some(value));
        if keeps {
            rest.node_selector.clone_from(&old.node_selector);
        }
        if old.affinity.is_none() {
            rest.affinity = None;
        }
    }
    rest
}

fn check_deadline(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) {
    let (now, before) = (
        new.spec.active_deadline_seconds,
        old.spec.active_deadline_seconds,
    );
    match (now, before) {
        (Some(now), Some(before)) if now > before => {
            let detail = format!("must be less than or equal to previous value {before}");
            errors.push(FieldError::invalid(path, now, detail));
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid(path, BadValue::null(), detail));
        }
        _ => {}
    }
}

fn check_tolerations(
    errors: &mut Errors,
    new: &[Toleration],
    old: &[Toleration],
    path: &FieldPath,
) {
    for before in old {
        let mut same = before.clone();
        let kept = new.iter().any(|now| {
            // How long it is tolerated may change.
            same.toleration_seconds = now.toleration_seconds;
            same == *now
        });
        if !kept {
            let detail = "existing toleration can not be modified except its tolerationSeconds";
            errors.push(FieldError::forbidden(path, detail));
            return;
        }
    }
}

fn check_gates(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) {
    let had: Vec<&Str> = old
        .spec
        .scheduling_gates
        .iter()
        .map(|it| &it.name)
        .collect();
    for gate in &new.spec.scheduling_gates {
        if !had.contains(&&gate.name) {
            let detail = "only deletion is allowed, but found new scheduling gate";
            let detail = format!("{detail} '{}'", gate.name);
            errors.push(FieldError::forbidden(path, detail));
        }
    }
}

/// Checks a change of the status.
pub(super) fn check_status(new: &Pod, old: &Pod) -> Errors {
    let path = FieldPath::new("status");
    let mut errors = Vec::new();
    if new.status.nominated_node_name != old.status.nominated_node_name
        && !new.status.nominated_node_name.is_empty()
    {
        super::rules::text(
            &mut errors,
            &new.status.nominated_node_name,
            &path.child("nominatedNodeName"),
            kubist_apimachinery::validate_name::dns1123_subdomain,
        );
    }
    check_restarts(
        &mut errors,
        &new.status.container_statuses,
        &old.status.container_statuses,
        &new.spec,
        &path.child("containerStatuses"),
    );
    errors
}

/// A container that ended, and is not restarted, stays ended.
fn check_restarts(
    errors: &mut Errors,
    now: &[ContainerStatus],
    before: &[ContainerStatus],
    spec: &PodSpec,
    path: &FieldPath,
) {
    if spec.restart_policy == "Always" {
        return;
    }
    for old in before {
        let Some(ended) = &old.state.terminated else {
            continue;
        };
        if ended.exit_code != 0 && spec.restart_policy == "OnFailure" {
            continue;
        }
        for (index, status) in now.iter().enumerate() {
            if status.name == old.name && status.state.terminated.is_none() {
                let path = path.index(index).child("state");
                let detail = "may not be transitioned to non-terminated state";
                errors.push(FieldError::forbidden(&path, detail));
            }
        }
    }
}
