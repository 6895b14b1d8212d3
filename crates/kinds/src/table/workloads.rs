//! Rows of workload controllers: Deployments, ReplicaSets, StatefulSets, DaemonSets and others.

use super::age::age;
use super::listing::{labels, selector};
use super::{cells, containers};
use kubist_api::apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet};
use kubist_api::core::v1::{PodTemplate, ReplicationController};
use kubist_apimachinery::{Time, format_label_selector};
use serde_json::Value;

pub(super) fn deployment(object: &Deployment, now: Time) -> Vec<Value> {
    let (spec, status) = (&object.spec, &object.status);
    let desired = spec.replicas.unwrap_or_default();
    cells![
        &*object.metadata.name,
        format!("{}/{desired}", status.ready_replicas),
        status.updated_replicas,
        status.available_replicas,
        age(&object.metadata, now),
        containers::names(&spec.template.spec),
        containers::images(&spec.template.spec),
        selector(spec.selector.as_deref()),
    ]
}

pub(super) fn replica_set(object: &ReplicaSet, now: Time) -> Vec<Value> {
    let (spec, status) = (&object.spec, &object.status);
    cells![
        &*object.metadata.name,
        spec.replicas.unwrap_or_default(),
        status.replicas,
        status.ready_replicas,
        age(&object.metadata, now),
        containers::names(&spec.template.spec),
        containers::images(&spec.template.spec),
        format_label_selector(spec.selector.as_deref()),
    ]
}

pub(super) fn replication_controller(object: &ReplicationController, now: Time) -> Vec<Value> {
    let (spec, status) = (&object.spec, &object.status);
    let template = spec.template.as_deref().map(|it| &it.spec);
    cells![
        &*object.metadata.name,
        spec.replicas.unwrap_or_default(),
        status.replicas,
        status.ready_replicas,
        age(&object.metadata, now),
        template.map(containers::names).unwrap_or_default(),
        template.map(containers::images).unwrap_or_default(),
        labels(&spec.selector),
    ]
}

pub(super) fn stateful_set(object: &StatefulSet, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let desired = spec.replicas.unwrap_or_default();
    cells![
        &*object.metadata.name,
        format!("{}/{desired}", object.status.ready_replicas),
        age(&object.metadata, now),
        containers::names(&spec.template.spec),
        containers::images(&spec.template.spec),
    ]
}

pub(super) fn daemon_set(object: &DaemonSet, now: Time) -> Vec<Value> {
    let (spec, status) = (&object.spec, &object.status);
    cells![
        &*object.metadata.name,
        status.desired_number_scheduled,
        status.current_number_scheduled,
        status.number_ready,
        status.updated_number_scheduled,
        status.number_available,
        labels(&spec.template.spec.node_selector),
        age(&object.metadata, now),
        containers::names(&spec.template.spec),
        containers::images(&spec.template.spec),
        format_label_selector(spec.selector.as_deref()),
    ]
}

pub(super) fn pod_template(object: &PodTemplate, _: Time) -> Vec<Value> {
    let template = &object.template;
    cells![
        &*object.metadata.name,
        containers::names(&template.spec),
        containers::images(&template.spec),
        labels(&template.metadata.labels),
    ]
}

pub(super) fn controller_revision(object: &ControllerRevision, now: Time) -> Vec<Value> {
    let controller = object.metadata.controller().map(|owner| {
        let kind = owner.kind.to_lowercase();
        match owner.api_version.split_once('/') {
            Some((group, _)) => format!("{kind}.{group}/{}", owner.name),
            None => format!("{kind}/{}", owner.name),
        }
    });
    cells![
        &*object.metadata.name,
        controller.unwrap_or_else(|| "<none>".to_owned()),
        object.revision,
        age(&object.metadata, now),
    ]
}
