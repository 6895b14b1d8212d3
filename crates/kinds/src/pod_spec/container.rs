//! Validation of containers.

use crate::pod_spec::container_resources::{self, Level};
use crate::pod_spec::pod_context::PodContext;
use crate::pod_spec::{self, container_policy, container_ports, ephemeral_containers};
use crate::shared::rules::{self, Errors};
use crate::volume;
use kubist_api::core::v1::Container;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use std::collections::BTreeSet;

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// Checks all containers of a Pod.
pub(crate) fn check_all(errors: &mut Errors, pod: PodContext<'_>, path: &FieldPath) {
    check_usual(errors, pod, &path.child("containers"));
    check_initial(errors, pod, &path.child("initContainers"));
    ephemeral_containers::check(errors, pod, &path.child("ephemeralContainers"));
}

fn check_usual(errors: &mut Errors, pod: PodContext<'_>, list: &FieldPath) {
    let containers = &pod.spec.containers;
    if containers.is_empty() {
        errors.push(FieldError::required(list, ""));
        return;
    }
    let mut names = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = list.index(index);
        check(errors, container, pod, &path);
        if !names.insert(&container.name) {
            errors.push(FieldError::duplicate(&path.child("name"), &container.name));
        }
        pod_spec::probe::check_container(errors, container, pod.spec, &path);
        container_policy::check_restart(errors, container, &path);
    }
    container_ports::host_ports_are_unique(errors, containers, list);
}

fn check_initial(errors: &mut Errors, pod: PodContext<'_>, list: &FieldPath) {
    let usual = pod.spec.containers.iter();
    let mut names: BTreeSet<_> = usual.map(|it| &it.name).collect();
    for (index, container) in pod.spec.init_containers.iter().enumerate() {
        let path = list.index(index);
        check(errors, container, pod, &path);
        container_policy::check_initial_restart(errors, container, &path);
        if names.contains(&container.name) {
            errors.push(FieldError::duplicate(&path.child("name"), &container.name));
        } else if !container.name.is_empty() {
            names.insert(&container.name);
        }
        // Init containers run one after the other. Upstream's path is always that of the first.
        container_ports::host_ports_are_unique(errors, std::slice::from_ref(container), list);
        if is_sidecar(container) {
            pod_spec::probe::check_container(errors, container, pod.spec, &path);
        } else {
            has_no_hooks(errors, container, &path);
            container_policy::check_initial_resize(errors, container, pod.subject, &path);
        }
    }
}

/// Reports whether an init container is a sidecar, which keeps running beside the regular ones.
pub(crate) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// Checks that only sidecars among the init containers have probes and hooks.
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

/// Checks the rules that apply to every container.
pub(crate) fn check(
    errors: &mut Errors,
    container: &Container,
    pod: PodContext<'_>,
    path: &FieldPath,
) {
    let PodContext { spec, volumes, .. } = pod;
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
    container_ports::check(errors, &container.ports, &path.child("ports"));
    pod_spec::env::check(errors, &container.env, &path.child("env"));
    pod_spec::env::check_from(errors, &container.env_from, &path.child("envFrom"));
    volume::mounts::check(errors, container, volumes, path);
    let at = path.child("imagePullPolicy");
    rules::word(errors, &container.image_pull_policy, &PULL_POLICIES, &at);
    let at = path.child("resources");
    container_resources::check(errors, &container.resources, Level::Container, pod, &at);
    container_policy::check_resize(errors, container, spec, &path.child("resizePolicy"));
    if let Some(context) = &container.security_context {
        pod_spec::security::check_container(errors, context, spec, &path.child("securityContext"));
    }
}

/// Checks the image. Only for Pods, because template images may be replaced later.
pub(crate) fn has_plain_image(errors: &mut Errors, container: &Container, path: &FieldPath) {
    if container.image.trim() != container.image.as_str() {
        let path = path.child("image");
        let detail = "must not have leading or trailing whitespace";
        errors.push(FieldError::invalid(&path, &container.image, detail));
    }
}
