//! Validation of Pod updates.

use crate::core::pod;
use crate::pod_spec::{self, tolerations};
use crate::shared::rules::{self, Errors};
use crate::shared::{go_struct, text_diff};
use kubist_api::core::v1::{Pod, PodSpec, Toleration};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const ONLY_THESE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
     `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
     additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set \
     to 1 if it was previously negative)";

/// Checks a change of the spec and the annotations.
pub(crate) fn check(new: &Pod, old: &Pod) -> Errors {
    let path = FieldPath::new("spec");
    let mut errors = Vec::new();
    pod::validation::check(&mut errors, new, Some(old));
    let annotations = FieldPath::new("metadata").child("annotations");
    pod_spec::annotations::check_update(&mut errors, new, old, &annotations);
    for (name, now, before) in [
        ("containers", &new.spec.containers, &old.spec.containers),
        (
            "initContainers",
            &new.spec.init_containers,
            &old.spec.init_containers,
        ),
    ] {
        if now.len() != before.len() {
            let detail = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(&path.child(name), detail));
            return errors;
        }
        // Upstream checks images a second time.
        let path = path.child(name);
        for (index, container) in now.iter().enumerate() {
            let path = path.index(index);
            rules::required(&mut errors, &container.image, &path.child("image"));
            pod_spec::container::has_plain_image(&mut errors, container, &path);
        }
    }
    let at = path.child("activeDeadlineSeconds");
    if check_deadline(&mut errors, new, old, &at).is_break() {
        return errors;
    }
    let at = path.child("tolerations");
    tolerations_stay(
        &mut errors,
        &new.spec.tolerations,
        &old.spec.tolerations,
        &at,
    );
    check_gates(&mut errors, new, old, &path.child("schedulingGates"));
    let mut rest = without_changeable(&new.spec, &old.spec);
    if !old.spec.scheduling_gates.is_empty() {
        pod_spec::gates::check(&mut errors, &mut rest, &old.spec, &path);
    }
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

/// Returns the new spec with all mutable fields as in the old one.
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
    let seconds = old.termination_grace_period_seconds;
    let was_negative = seconds.is_some_and(|it| it < 0);
    if was_negative && new.termination_grace_period_seconds == Some(1) {
        rest.termination_grace_period_seconds = seconds;
    }
    rest
}

/// Checks the deadline, which may be set or shortened. If it is invalid, upstream skips the
/// remaining checks.
fn check_deadline(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) -> ControlFlow<()> {
    const SECONDS_MAX: i64 = 0x7fff_ffff;
    let before = old.spec.active_deadline_seconds;
    let Some(now) = new.spec.active_deadline_seconds else {
        if before.is_some() {
            let detail = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid(path, BadValue::null(), detail));
        }
        return ControlFlow::Continue(());
    };
    let problems = validate_name::in_range(now, 0, SECONDS_MAX);
    if !problems.is_empty() {
        let wrong = |it| FieldError::invalid(path, now, it);
        errors.extend(problems.into_iter().map(wrong));
        return ControlFlow::Break(());
    }
    if before.is_some_and(|before| before < now) {
        let detail = "must be less than or equal to previous value";
        errors.push(FieldError::invalid(path, now, detail));
        return ControlFlow::Break(());
    }
    ControlFlow::Continue(())
}

fn tolerations_stay(errors: &mut Errors, new: &[Toleration], old: &[Toleration], path: &FieldPath) {
    // The toleration seconds may change.
    let lasting = |it: &Toleration| {
        let parts = [&it.key, &it.operator, &it.value, &it.effect];
        parts.map(Str::clone)
    };
    let kept: BTreeSet<[Str; 4]> = new.iter().map(lasting).collect();
    for before in old {
        if !kept.contains(&lasting(before)) {
            let detail = "existing toleration can not be modified except its tolerationSeconds";
            errors.push(FieldError::forbidden(path, detail));
            return;
        }
    }
    // A second check, as upstream.
    let mut all = old.iter();
    let compares = all.any(|it| matches!(it.operator.as_str(), "Lt" | "Gt"));
    tolerations::check(errors, new, compares, path);
}

fn check_gates(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) {
    let (now, before) = (&new.spec.scheduling_gates, &old.spec.scheduling_gates);
    let before: BTreeSet<&Str> = before.iter().map(|it| &it.name).collect();
    // Among several with one name, upstream reports the last.
    let mut again = rules::repeats(now.iter().rev().map(|it| &it.name));
    again.reverse();
    for (index, gate) in now.iter().enumerate() {
        let name = &gate.name;
        if !again[index] && !before.contains(name) {
            let path = path.index(index).child("name");
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
}
