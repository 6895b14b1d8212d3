//! Rows of kinds with few columns: data, names, one or two fields.

use super::age::age;
use super::cells;
use kubist_api::apiregistration::v1::APIService;
use kubist_api::coordination::v1::Lease;
use kubist_api::core::v1::{ComponentStatus, ConfigMap, Namespace, Secret};
use kubist_api::node::v1::RuntimeClass;
use kubist_api::scheduling::v1::PriorityClass;
use kubist_apimachinery::Time;
use serde_json::Value;

pub(super) fn config_map(object: &ConfigMap, now: Time) -> Vec<Value> {
    let entries = object.data.len() + object.binary_data.len();
    cells![&*object.metadata.name, entries, age(&object.metadata, now)]
}

pub(super) fn secret(object: &Secret, now: Time) -> Vec<Value> {
    let meta = &object.metadata;
    cells![
        &*meta.name,
        &*object.type_,
        object.data.len(),
        age(meta, now)
    ]
}

pub(super) fn namespace(object: &Namespace, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        &*object.status.phase,
        age(&object.metadata, now)
    ]
}

pub(super) fn component_status(object: &ComponentStatus, _: Time) -> Vec<Value> {
    let healthy = object.conditions.iter().rfind(|it| it.type_ == "Healthy");
    let word = match healthy {
        None => "Unknown",
        Some(healthy) if healthy.status == "True" => "Healthy",
        Some(_) => "Unhealthy",
    };
    let (message, error) = healthy.map_or(("", ""), |it| (&*it.message, &*it.error));
    cells![&*object.metadata.name, word, message, error]
}

pub(super) fn lease(object: &Lease, now: Time) -> Vec<Value> {
    let holder = object.spec.holder_identity.as_deref().unwrap_or_default();
    cells![&*object.metadata.name, holder, age(&object.metadata, now)]
}

pub(super) fn priority_class(object: &PriorityClass, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        object.value,
        object.global_default,
        age(&object.metadata, now),
        object.preemption_policy.as_deref().unwrap_or_default(),
    ]
}

pub(super) fn runtime_class(object: &RuntimeClass, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        &*object.handler,
        age(&object.metadata, now)
    ]
}

pub(super) fn api_service(object: &APIService, now: Time) -> Vec<Value> {
    let service = object.spec.service.as_deref();
    let service = service.map(|it| format!("{}/{}", it.namespace, it.name));
    let available = object
        .status
        .conditions
        .iter()
        .find(|it| it.type_ == "Available");
    let status = available.map(|it| match &*it.status {
        "True" => "True".to_owned(),
        other => format!("{other} ({})", it.reason),
    });
    cells![
        &*object.metadata.name,
        service.unwrap_or_else(|| "Local".to_owned()),
        status.unwrap_or_else(|| "Unknown".to_owned()),
        age(&object.metadata, now),
    ]
}
