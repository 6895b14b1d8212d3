//! Validation of ephemeral containers, in addition to the rules for all containers.

use crate::pod_spec::pod_context::PodContext;
use crate::pod_spec::{self, any_container};
use crate::shared::rules::Errors;
use kubist_api::core::v1::{EphemeralContainer, ResourceRequirements};
use kubist_apimachinery::{FieldError, FieldPath};
use std::collections::BTreeSet;

const UNSUPPORTED: &str = "cannot be set for an Ephemeral Container";

/// Checks all ephemeral containers, including those of templates, where another rule forbids them.
pub(crate) fn check(errors: &mut Errors, pod: PodContext<'_>, list: &FieldPath) {
    let spec = pod.spec;
    let others = spec.containers.iter().chain(&spec.init_containers);
    let others: BTreeSet<_> = others.map(|it| &it.name).collect();
    let mut names = others.clone();
    for (index, container) in spec.ephemeral_containers.iter().enumerate() {
        let path = list.index(index);
        let common = any_container::from_ephemeral(container);
        pod_spec::container::check(errors, &common, pod, &path);
        pod_spec::container::has_plain_image(errors, &common, &path);
        if !names.insert(&container.name) {
            errors.push(FieldError::duplicate(&path.child("name"), &container.name));
        }
        let target = &container.target_container_name;
        if !target.is_empty() && !others.contains(target) {
            let path = path.child("targetContainerName");
            errors.push(FieldError::not_found(&path, target));
        }
        check_unsupported_fields(errors, container, &path);
    }
}

/// Checks that fields which ephemeral containers do not support are unset.
fn check_unsupported_fields(errors: &mut Errors, container: &EphemeralContainer, path: &FieldPath) {
    for (field, set) in [
        ("ports", !container.ports.is_empty()),
        (
            "resources",
            container.resources != ResourceRequirements::default(),
        ),
        ("resizePolicy", !container.resize_policy.is_empty()),
        ("restartPolicy", container.restart_policy.is_some()),
        (
            "restartPolicyRules",
            !container.restart_policy_rules.is_empty(),
        ),
        ("livenessProbe", container.liveness_probe.is_some()),
        ("readinessProbe", container.readiness_probe.is_some()),
        ("startupProbe", container.startup_probe.is_some()),
        ("lifecycle", container.lifecycle.is_some()),
    ] {
        if set {
            errors.push(FieldError::forbidden(&path.child(field), UNSUPPORTED));
        }
    }
    for (index, mount) in container.volume_mounts.iter().enumerate() {
        let path = path.child("volumeMounts").index(index);
        for (field, text) in [
            ("subPath", &mount.sub_path),
            ("subPathExpr", &mount.sub_path_expr),
        ] {
            if !text.is_empty() {
                errors.push(FieldError::forbidden(&path.child(field), UNSUPPORTED));
            }
        }
    }
}
