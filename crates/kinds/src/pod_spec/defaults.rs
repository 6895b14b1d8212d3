//! Upstream's defaults for Pods and Pod templates.

use crate::pod_spec;
use crate::shared::{fill, image};
use crate::volume;
use kubist_api::core::v1::{
    Container, EnvVar, EphemeralContainer, HTTPGetAction, Lifecycle, LifecycleHandler, Pod, PodIP,
    PodSpec, PodStatus, PodTemplateSpec, Probe, ResourceRequirements,
};
use kubist_apimachinery::Str;
use std::collections::BTreeMap;

/// The default grace period between the termination signal and the kill, in seconds.
const TERMINATION_GRACE_PERIOD: i64 = 30;

/// Fills in a Pod: its spec, and the defaults that apply to Pods but not to templates.
pub(crate) fn default_pod(pod: &mut Pod) {
    agree_on_addresses(&mut pod.status);
    round_status(&mut pod.status);
    let spec = &mut pod.spec;
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        requests_from_limits(&mut container.resources);
    }
    pod_spec::resources::fill_in(spec);
    spec.enable_service_links.get_or_insert(true);
    if spec.host_network {
        for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
            for port in &mut container.ports {
                fill::number(&mut port.host_port, port.container_port);
            }
        }
    }
    let seconds = &mut spec.termination_grace_period_seconds;
    // A negative grace period means one second.
    if seconds.is_some_and(|seconds| seconds < 0) {
        *seconds = Some(1);
    }
    default_pod_spec(spec);
}

/// Synchronizes the single address of older clients with the list of newer ones; the single one
/// wins.
fn agree_on_addresses(status: &mut PodStatus) {
    let first = status.pod_ips.first().map(|it| it.ip.clone());
    if status.pod_ip.is_empty() {
        status.pod_ip = first.unwrap_or_default();
    } else if first.as_ref() != Some(&status.pod_ip) {
        status.pod_ips = vec![PodIP {
            ip: status.pod_ip.clone(),
        }];
    }
}

fn round_status(status: &mut PodStatus) {
    fill::round(&mut status.allocated_resources);
    let own = status.resources.iter_mut();
    let lists = [
        &mut status.init_container_statuses,
        &mut status.container_statuses,
        &mut status.ephemeral_container_statuses,
    ];
    let containers = lists.into_iter().flatten();
    let used = containers.flat_map(|it| {
        fill::round(&mut it.allocated_resources);
        it.resources.iter_mut()
    });
    for resources in own.chain(used) {
        fill::round(&mut resources.limits);
        fill::round(&mut resources.requests);
    }
}

/// Fills in the template of a workload.
pub(crate) fn default_pod_template(template: &mut PodTemplateSpec) {
    default_pod_spec(&mut template.spec);
}

fn default_pod_spec(spec: &mut PodSpec) {
    fill::text(&mut spec.dns_policy, "ClusterFirst");
    fill::text(&mut spec.restart_policy, "Always");
    fill::text(&mut spec.scheduler_name, "default-scheduler");
    spec.termination_grace_period_seconds
        .get_or_insert(TERMINATION_GRACE_PERIOD);
    spec.security_context.get_or_insert_default();
    fill::round(&mut spec.overhead);
    if let Some(resources) = &mut spec.resources {
        fill::round(&mut resources.limits);
        fill::round(&mut resources.requests);
    }
    // The older field mirrors the newer one.
    if spec.service_account_name.is_empty() {
        spec.service_account_name = spec.service_account.clone();
    }
    spec.service_account = spec.service_account_name.clone();
    for volume in &mut spec.volumes {
        volume::defaults::default_volume(volume);
    }
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        default_container(container);
    }
    for container in &mut spec.ephemeral_containers {
        default_ephemeral_container(container);
    }
}

/// Regular and ephemeral containers have the same fields in two types.
macro_rules! default_container {
    ($container:expr) => {{
        let container = $container;
        fill::round(&mut container.resources.limits);
        fill::round(&mut container.resources.requests);
        fill::text(
            &mut container.image_pull_policy,
            image::pull_policy(&container.image),
        );
        fill::text(
            &mut container.termination_message_path,
            "/dev/termination-log",
        );
        fill::text(&mut container.termination_message_policy, "File");
        for port in &mut container.ports {
            fill::text(&mut port.protocol, "TCP");
        }
        container.env.iter_mut().for_each(default_env);
        let probes = [
            &mut container.liveness_probe,
            &mut container.readiness_probe,
            &mut container.startup_probe,
        ];
        probes
            .into_iter()
            .flatten()
            .for_each(|probe| default_probe(probe));
        if let Some(lifecycle) = &mut container.lifecycle {
            default_lifecycle(lifecycle);
        }
    }};
}

fn default_container(container: &mut Container) {
    default_container!(container);
}

fn default_ephemeral_container(container: &mut EphemeralContainer) {
    default_container!(container);
}

fn default_env(variable: &mut EnvVar) {
    let Some(source) = &mut variable.value_from else {
        return;
    };
    if let Some(field) = &mut source.field_ref {
        fill::text(&mut field.api_version, "v1");
    }
    if let Some(file) = &mut source.file_key_ref {
        file.optional.get_or_insert(false);
    }
}

fn default_probe(probe: &mut Probe) {
    fill::number(&mut probe.timeout_seconds, 1);
    fill::number(&mut probe.period_seconds, 10);
    fill::number(&mut probe.success_threshold, 1);
    fill::number(&mut probe.failure_threshold, 3);
    if let Some(http) = &mut probe.http_get {
        default_http_get(http);
    }
    if let Some(grpc) = &mut probe.grpc {
        fill::option(&mut grpc.service, "");
    }
}

fn default_lifecycle(lifecycle: &mut Lifecycle) {
    let handlers = [&mut lifecycle.post_start, &mut lifecycle.pre_stop];
    for handler in handlers.into_iter().flatten() {
        let LifecycleHandler {
            http_get: Some(http),
            ..
        } = &mut **handler
        else {
            continue;
        };
        default_http_get(http);
    }
}

fn default_http_get(action: &mut HTTPGetAction) {
    fill::text(&mut action.path, "/");
    fill::text(&mut action.scheme, "HTTP");
}

/// Sets missing requests to the limits.
fn requests_from_limits(resources: &mut ResourceRequirements) {
    for (name, limit) in &resources.limits {
        if !resources.requests.contains_key(name) {
            resources.requests.insert(name.clone(), limit.clone());
        }
    }
}

/// Copies the template's labels to an object without labels.
pub(crate) fn labels_from_template(labels: &mut BTreeMap<Str, Str>, template: &PodTemplateSpec) {
    if labels.is_empty() {
        labels.clone_from(&template.metadata.labels);
    }
}
