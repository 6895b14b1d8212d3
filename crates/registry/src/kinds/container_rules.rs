//! What containers must satisfy.

use kubist_api::core::v1::{Container, PodSpec};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use std::collections::BTreeSet;

use super::pod_subject::PodSubject;
use super::resource_rules::{self, Level};
use super::rules::{self, Errors};
use super::volume_rules::Volumes;
use super::{
    container_policy_rules, container_port_rules, env_rules, ephemeral_container_rules,
    pod_security_rules, probe_rules, volume_mount_rules,
};

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// The Pod or template around a container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) spec: &'a PodSpec,
    pub(super) subject: &'a PodSubject<'a>,
    pub(super) volumes: &'a Volumes,
}

/// Checks all containers of a Pod.
pub(super) fn check_all(errors: &mut Errors, around: Around<'_>, path: &FieldPath) {
    check_usual(errors, around, &path.child("containers"));
    check_initial(errors, around, &path.child("initContainers"));
    ephemeral_container_rules::check(errors, around, &path.child("ephemeralContainers"));
}

fn check_usual(errors: &mut Errors, around: Around<'_>, list: &FieldPath) {
    let containers = &around.spec.containers;
    if containers.is_empty() {
        errors.push(FieldError::required(list, ""));
        return;
    }
    let mut names = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = list.index(index);
        check(errors, container, around, &path);
        if !names.insert(&container.name) {
            errors.push(FieldError::duplicate(&path.child("name"), &container.name));
        }
        probe_rules::check_container(errors, container, around.spec, &path);
        container_policy_rules::check_restart(errors, container, &path);
    }
    container_port_rules::host_ports_are_unique(errors, containers, list);
}

fn check_initial(errors: &mut Errors, around: Around<'_>, list: &FieldPath) {
    let usual = around.spec.containers.iter();
    let mut names: BTreeSet<_> = usual.map(|it| &it.name).collect();
    for (index, container) in around.spec.init_containers.iter().enumerate() {
        let path = list.index(index);
        check(errors, container, around, &path);
        container_policy_rules::check_initial_restart(errors, container, &path);
        if names.contains(&container.name) {
            errors.push(FieldError::duplicate(&path.child("name"), &container.name));
        } else if !container.name.is_empty() {
            names.insert(&container.name);
        }
        // They run one after the other. Upstream's path is always that of the first.
        container_port_rules::host_ports_are_unique(errors, std::slice::from_ref(container), list);
        if is_sidecar(container) {
            probe_rules::check_container(errors, container, around.spec, &path);
        } else {
            has_no_hooks(errors, container, &path);
            container_policy_rules::check_initial_resize(errors, container, around.subject, &path);
        }
    }
}

/// Whether an initial container goes on beside the usual ones.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// Only initial containers that go on beside the others may be probed.
fn has_no_hooks(errors: &mut Errors, container: &Container, path: &FieldPath) {
    for (name, present) in [
        ("lifecycle", container.lifecycle.is_some()),
        ("livenessProbe", container.liveness_probe.is_some()),
        ("readinessProbe", container.readiness_probe.is_some()),
        ("startupProbe", container.startup_probe.is_some()),
    ] {
        if present {
            let detail = "may not be set for init containers without restartPolicy=Always";
            errors.push(FieldError::forbidden(&path.child(name), detail));
        }
    }
}

/// What any container must satisfy.
pub(super) fn check(
    errors: &mut Errors,
    container: &Container,
    around: Around<'_>,
    path: &FieldPath,
) {
    let Around { spec, volumes, .. } = around;
    if rules::required(errors, &container.name, &path.child("name")) {
        let path = path.child("name");
        rules::text(errors, &container.name, &path, validate_name::dns1123_label);
    }
    rules::required(errors, &container.image, &path.child("image"));
    let supported = ["File", "FallbackToLogsOnError"];
    let at = path.child("terminationMessagePolicy");
    rules::word(
        errors,
        &container.termination_message_policy,
        &supported,
        &at,
    );
    container_port_rules::check(errors, &container.ports, &path.child("ports"));
    env_rules::check(errors, &container.env, &path.child("env"));
    env_rules::check_from(errors, &container.env_from, &path.child("envFrom"));
    volume_mount_rules::check(errors, container, volumes, path);
    let at = path.child("imagePullPolicy");
    rules::word(errors, &container.image_pull_policy, &PULL_POLICIES, &at);
    let at = path.child("resources");
    resource_rules::check(errors, &container.resources, Level::Container, around, &at);
    container_policy_rules::check_resize(errors, container, spec, &path.child("resizePolicy"));
    if let Some(context) = &container.security_context {
        pod_security_rules::check_container(errors, context, spec, &path.child("securityContext"));
    }
}

/// Of Pods only, as templates may hold what is replaced later.
pub(super) fn has_plain_image(errors: &mut Errors, container: &Container, path: &FieldPath) {
    if container.image.trim() != container.image.as_str() {
        let path = path.child("image");
        let detail = "must not have leading or trailing whitespace";
        errors.push(FieldError::invalid(&path, &container.image, detail));
    }
}
