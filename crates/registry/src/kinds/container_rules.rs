//! What containers must satisfy.

use kubist_api::core::v1::{
    Container, ContainerPort, EnvFromSource, PodSpec, VolumeDevice, VolumeMount,
};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use std::collections::BTreeSet;

use super::rules::{self, Errors};
use super::volume_rules::{Volumes, relative_path};
use super::{env_rules, pod_security_rules, probe_rules, resource_rules};

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Checks all containers of a Pod.
pub(super) fn check_all(errors: &mut Errors, spec: &PodSpec, volumes: &Volumes, path: &FieldPath) {
    let containers_path = path.child("containers");
    if spec.containers.is_empty() {
        errors.push(FieldError::required(&containers_path, ""));
    }
    let mut names = BTreeSet::new();
    for (index, container) in spec.containers.iter().enumerate() {
        let path = containers_path.index(index);
        check(errors, container, spec, volumes, &path);
        if !names.insert(container.name.clone()) {
            errors.push(FieldError::duplicate(&path.child("name"), &container.name));
        }
        probe_rules::check_container(errors, container, &path);
        check_restart(errors, container, &path);
    }
    host_ports_are_unique(errors, &spec.containers, &containers_path);
    let path = path.child("initContainers");
    for (index, container) in spec.init_containers.iter().enumerate() {
        let path = path.index(index);
        check(errors, container, spec, volumes, &path);
        if !container.name.is_empty() && !names.insert(container.name.clone()) {
            errors.push(FieldError::duplicate(&path.child("name"), &container.name));
        }
        check_init(errors, container, &path);
        host_ports_are_unique(errors, std::slice::from_ref(container), &path);
    }
}

/// Only init containers that go on beside the others may be probed.
fn check_init(errors: &mut Errors, container: &Container, path: &FieldPath) {
    if container.restart_policy.as_deref() == Some("Always") {
        probe_rules::check_container(errors, container, path);
    } else {
        check_restart(errors, container, path);
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
}

/// When a container by itself is started again.
fn check_restart(errors: &mut Errors, container: &Container, path: &FieldPath) {
    const RULES_MAX: usize = 20;
    const EXIT_CODES_MAX: usize = 255;
    let rules = &container.restart_policy_rules;
    let at = path.child("restartPolicy");
    match &container.restart_policy {
        Some(policy) => rules::one_of(errors, policy, &["Always", "Never", "OnFailure"], &at),
        None if rules.is_empty() => return,
        None => {
            let detail = "must specify restartPolicy when restart rules are used";
            errors.push(FieldError::required(&at, detail));
        }
    }
    let at = path.child("restartPolicyRules");
    if rules.len() > RULES_MAX {
        errors.push(FieldError::too_many(&at, Some(rules.len()), RULES_MAX));
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = at.index(index);
        let actions = ["Restart", "RestartAllContainers"];
        rules::one_of(errors, &rule.action, &actions, &path.child("action"));
        let path = path.child("exitCodes");
        let Some(codes) = &rule.exit_codes else {
            errors.push(FieldError::required(&path, "must be specified"));
            continue;
        };
        rules::one_of(
            errors,
            &codes.operator,
            &["In", "NotIn"],
            &path.child("operator"),
        );
        let count = codes.values.len();
        if count > EXIT_CODES_MAX {
            let path = path.child("values");
            errors.push(FieldError::too_many(&path, Some(count), EXIT_CODES_MAX));
        }
    }
}

fn check(
    errors: &mut Errors,
    container: &Container,
    spec: &PodSpec,
    volumes: &Volumes,
    path: &FieldPath,
) {
    if rules::required(errors, &container.name, &path.child("name")) {
        let path = path.child("name");
        rules::text(errors, &container.name, &path, validate_name::dns1123_label);
    }
    rules::required(errors, &container.image, &path.child("image"));
    check_ports(
        errors,
        &container.ports,
        spec.host_network,
        &path.child("ports"),
    );
    env_rules::check(errors, &container.env, volumes, &path.child("env"));
    check_env_from(errors, &container.env_from, &path.child("envFrom"));
    check_mounts(
        errors,
        &container.volume_mounts,
        volumes,
        &path.child("volumeMounts"),
    );
    check_devices(
        errors,
        &container.volume_devices,
        volumes,
        &path.child("volumeDevices"),
    );
    match container.image_pull_policy.as_str() {
        "" => errors.push(FieldError::required(&path.child("imagePullPolicy"), "")),
        policy => rules::one_of(
            errors,
            policy,
            &PULL_POLICIES,
            &path.child("imagePullPolicy"),
        ),
    }
    let resources = path.child("resources");
    resource_rules::check(errors, &container.resources, &resources);
    resource_rules::check_claims(
        errors,
        &container.resources,
        spec,
        &resources.child("claims"),
    );
    if let Some(context) = &container.security_context {
        pod_security_rules::check_container(errors, context, spec, &path.child("securityContext"));
    }
    match container.termination_message_policy.as_str() {
        "" => errors.push(FieldError::required(
            &path.child("terminationMessagePolicy"),
            "",
        )),
        policy => {
            let path = path.child("terminationMessagePolicy");
            rules::one_of(errors, policy, &["FallbackToLogsOnError", "File"], &path);
        }
    }
}

fn check_ports(errors: &mut Errors, ports: &[ContainerPort], host: bool, path: &FieldPath) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        if !port.name.is_empty() {
            let path = path.child("name");
            let problems = validate_name::port_name(&port.name);
            if problems.is_empty() && !names.insert(&port.name) {
                errors.push(FieldError::duplicate(&path, &port.name));
            }
            let wrong = |problem| FieldError::invalid(&path, &port.name, problem);
            errors.extend(problems.into_iter().map(wrong));
        }
        if port.container_port == 0 {
            errors.push(FieldError::required(&path.child("containerPort"), ""));
        } else {
            rules::port_number(errors, port.container_port, &path.child("containerPort"));
        }
        if port.host_port != 0 {
            rules::port_number(errors, port.host_port, &path.child("hostPort"));
        }
        match port.protocol.as_str() {
            "" => errors.push(FieldError::required(&path.child("protocol"), "")),
            protocol => rules::one_of(errors, protocol, &PROTOCOLS, &path.child("protocol")),
        }
        if host && port.host_port != 0 && port.host_port != port.container_port {
            let detail = "must match `containerPort` when `hostNetwork` is true";
            let at = path.child("hostPort");
            errors.push(FieldError::invalid(&at, port.host_port, detail));
        }
    }
}

fn host_ports_are_unique(errors: &mut Errors, containers: &[Container], path: &FieldPath) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (number, port) in container.ports.iter().enumerate() {
            if port.host_port == 0 {
                continue;
            }
            let key = format!("{}/{}/{}", port.protocol, port.host_ip, port.host_port);
            if !taken.insert(key.clone()) {
                let path = path
                    .index(index)
                    .child("ports")
                    .index(number)
                    .child("hostPort");
                errors.push(FieldError::duplicate(&path, &key));
            }
        }
    }
}

fn check_env_from(errors: &mut Errors, sources: &[EnvFromSource], path: &FieldPath) {
    for (index, source) in sources.iter().enumerate() {
        let path = path.index(index);
        if !source.prefix.is_empty() {
            let path = path.child("prefix");
            rules::text(
                errors,
                &source.prefix,
                &path,
                validate_name::relaxed_env_var_name,
            );
        }
        let map = source
            .config_map_ref
            .as_ref()
            .map(|it| ("configMapRef", &it.name));
        let secret = source.secret_ref.as_ref().map(|it| ("secretRef", &it.name));
        for (name, value) in map.into_iter().chain(secret) {
            let path = path.child(name).child("name");
            if rules::required(errors, value, &path) {
                rules::text(errors, value, &path, validate_name::dns1123_subdomain);
            }
        }
        match (map.is_some(), secret.is_some()) {
            (false, false) => {
                let detail = "must specify one of: `configMapRef` or `secretRef`";
                errors.push(FieldError::invalid(&path, "", detail));
            }
            (true, true) => {
                let detail = "may not have more than one field specified at a time";
                errors.push(FieldError::invalid(&path, "", detail));
            }
            _ => {}
        }
    }
}

fn check_mounts(errors: &mut Errors, mounts: &[VolumeMount], volumes: &Volumes, path: &FieldPath) {
    let mut places = BTreeSet::new();
    for (index, mount) in mounts.iter().enumerate() {
        if let Some(mode) = &mount.recursive_read_only {
            // Upstream's path has no index.
            let path = path.child("recursiveReadOnly");
            rules::one_of(errors, mode, &["Disabled", "Enabled", "IfPossible"], &path);
        }
        let path = path.index(index);
        rules::required(errors, &mount.name, &path.child("name"));
        if !volumes.contains(&mount.name) {
            errors.push(FieldError::not_found(&path.child("name"), &mount.name));
        }
        let at = path.child("mountPath");
        rules::required(errors, &mount.mount_path, &at);
        if !places.insert(&mount.mount_path) {
            errors.push(FieldError::invalid(
                &at,
                &mount.mount_path,
                "must be unique",
            ));
        }
        for (name, value) in [
            ("subPath", &mount.sub_path),
            ("subPathExpr", &mount.sub_path_expr),
        ] {
            if !value.is_empty() {
                relative_path(errors, value, &path.child(name));
            }
        }
        if !mount.sub_path.is_empty() && !mount.sub_path_expr.is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.push(FieldError::invalid(
                &path.child("subPathExpr"),
                &mount.sub_path_expr,
                detail,
            ));
        }
        if let Some(propagation) = &mount.mount_propagation {
            let supported = ["Bidirectional", "HostToContainer", "None"];
            let path = path.child("mountPropagation");
            rules::one_of(errors, propagation, &supported, &path);
        }
    }
}

fn check_devices(
    errors: &mut Errors,
    devices: &[VolumeDevice],
    volumes: &Volumes,
    path: &FieldPath,
) {
    let mut seen = BTreeSet::new();
    for (index, device) in devices.iter().enumerate() {
        let path = path.index(index);
        rules::required(errors, &device.name, &path.child("name"));
        if !volumes.contains(&device.name) {
            errors.push(FieldError::not_found(&path.child("name"), &device.name));
        }
        let at = path.child("devicePath");
        rules::required(errors, &device.device_path, &at);
        if !seen.insert(&device.device_path) {
            errors.push(FieldError::invalid(
                &at,
                &device.device_path,
                "must be unique",
            ));
        }
    }
}
