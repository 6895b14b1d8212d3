//! Restart policies of containers: after they exit, and when their resources change.

use crate::pod_spec::container::is_sidecar;
use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{Container, ContainerRestartRule, PodSpec};
use kubist_apimachinery::{FieldError, FieldPath};
use std::collections::BTreeSet;

/// The maximum number of rules of one container.
const RULES_MAX: usize = 20;
/// The maximum number of exit codes of one rule.
const EXIT_CODES_MAX: usize = 255;

const NO_POLICY: &str = "must specify restartPolicy when restart rules are used";

/// Checks the restart policy and rules of a regular container.
pub(crate) fn check_restart(errors: &mut Errors, container: &Container, path: &FieldPath) {
    let all = &container.restart_policy_rules;
    let at = path.child("restartPolicy");
    match &container.restart_policy {
        Some(policy) => rules::one_of(errors, policy, &["Always", "Never", "OnFailure"], &at),
        None if all.is_empty() => return,
        None => errors.push(FieldError::required(&at, NO_POLICY)),
    }
    let at = path.child("restartPolicyRules");
    if all.len() > RULES_MAX {
        errors.push(FieldError::too_many(&at, Some(all.len()), RULES_MAX));
    }
    for (index, rule) in all.iter().enumerate() {
        check_rule(errors, rule, &at.index(index));
    }
}

/// Checks the same of an init container. Without a policy, upstream ignores the rules.
pub(crate) fn check_initial_restart(errors: &mut Errors, container: &Container, path: &FieldPath) {
    if container.restart_policy.is_some() {
        check_restart(errors, container, path);
    } else if !container.restart_policy_rules.is_empty() {
        let path = path.child("restartPolicy");
        errors.push(FieldError::required(&path, NO_POLICY));
    }
}

fn check_rule(errors: &mut Errors, rule: &ContainerRestartRule, path: &FieldPath) {
    let actions = ["Restart", "RestartAllContainers"];
    rules::one_of(errors, &rule.action, &actions, &path.child("action"));
    let path = path.child("exitCodes");
    let Some(codes) = &rule.exit_codes else {
        errors.push(FieldError::required(&path, "must be specified"));
        return;
    };
    let at = path.child("operator");
    rules::one_of(errors, &codes.operator, &["In", "NotIn"], &at);
    let count = codes.values.len();
    if count > EXIT_CODES_MAX {
        let path = path.child("values");
        errors.push(FieldError::too_many(&path, Some(count), EXIT_CODES_MAX));
    }
}

/// Checks the resize policies of a container. Upstream's paths are mostly those of the list.
pub(crate) fn check_resize(
    errors: &mut Errors,
    container: &Container,
    spec: &PodSpec,
    path: &FieldPath,
) {
    let mut seen = BTreeSet::new();
    for (index, policy) in container.resize_policy.iter().enumerate() {
        let (resource, restart) = (&policy.resource_name, &policy.restart_policy);
        if !seen.insert(resource) {
            errors.push(FieldError::duplicate(&path.index(index), resource));
        }
        rules::word(errors, resource, &["cpu", "memory"], path);
        rules::word(errors, restart, &["NotRequired", "RestartContainer"], path);
        if spec.restart_policy == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.push(FieldError::invalid(path, restart, detail));
        }
    }
}

/// Checks that an init container which is not a sidecar is never restarted for a resize.
pub(crate) fn check_initial_resize(
    errors: &mut Errors,
    container: &Container,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let restarts = |it: &Container| {
        let mut policies = it.resize_policy.iter();
        policies.any(|it| it.restart_policy == "RestartContainer")
    };
    let had = |old: &PodSpec| {
        let mut initial = old.init_containers.iter();
        initial.any(|it| !is_sidecar(it) && restarts(it))
    };
    if !restarts(container) || subject.already(had) {
        return;
    }
    for (index, policy) in container.resize_policy.iter().enumerate() {
        if policy.restart_policy == "RestartContainer" {
            let path = path
                .child("resizePolicy")
                .index(index)
                .child("restartPolicy");
            let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            errors.push(FieldError::invalid(&path, &policy.restart_policy, detail));
        }
    }
}
