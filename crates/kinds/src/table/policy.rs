//! Rows of disruption budgets, quotas and flow control.

use super::age::age;
use super::cells;
use super::listing::joined;
use kubist_api::core::v1::ResourceQuota;
use kubist_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use kubist_api::policy::v1::PodDisruptionBudget;
use kubist_apimachinery::{IntOrString, Time};
use serde_json::Value;

pub(super) fn disruption_budget(object: &PodDisruptionBudget, now: Time) -> Vec<Value> {
    let number = |it: &Option<IntOrString>| match it {
        Some(number) => number.to_string(),
        None => "N/A".to_owned(),
    };
    cells![
        &*object.metadata.name,
        number(&object.spec.min_available),
        number(&object.spec.max_unavailable),
        object.status.disruptions_allowed,
        age(&object.metadata, now),
    ]
}

pub(super) fn resource_quota(object: &ResourceQuota, now: Time) -> Vec<Value> {
    let (hard, used) = (&object.status.hard, &object.status.used);
    let shown = |limits: bool| {
        let some = hard
            .iter()
            .filter(|(name, _)| name.starts_with("limits") == limits);
        let texts = some.map(|(name, hard)| {
            let used = used
                .get(name)
                .map_or_else(|| "0".to_owned(), ToString::to_string);
            format!("{name}: {used}/{hard}")
        });
        joined(texts, ", ")
    };
    cells![
        &*object.metadata.name,
        shown(false),
        shown(true),
        age(&object.metadata, now)
    ]
}

pub(super) fn flow_schema(object: &FlowSchema, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let distinguisher = spec
        .distinguisher_method
        .as_deref()
        .map_or("<none>", |it| &*it.type_);
    let dangling = object
        .status
        .conditions
        .iter()
        .find(|it| it.type_ == "Dangling");
    cells![
        &*object.metadata.name,
        &*spec.priority_level_configuration.name,
        spec.matching_precedence,
        distinguisher,
        age(&object.metadata, now),
        dangling.map_or("?", |it| &*it.status),
    ]
}

pub(super) fn priority_level(object: &PriorityLevelConfiguration, now: Time) -> Vec<Value> {
    let none = || Value::from("<none>");
    let limited = object.spec.limited.as_deref();
    let shares = limited.map(|it| Value::from(it.nominal_concurrency_shares.unwrap_or_default()));
    let queuing = limited.and_then(|it| it.limit_response.queuing.as_deref());
    let number = |value: Option<i32>| value.map_or_else(none, Value::from);
    cells![
        &*object.metadata.name,
        &*object.spec.type_,
        shares.unwrap_or_else(none),
        number(queuing.map(|it| it.queues)),
        number(queuing.map(|it| it.hand_size)),
        number(queuing.map(|it| it.queue_length_limit)),
        age(&object.metadata, now),
    ]
}
