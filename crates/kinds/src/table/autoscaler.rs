//! Rows of autoscalers: their metrics with current and target values.

use super::age::age;
use super::cells;
use super::listing::{FirstFew, text_or};
use kubist_api::autoscaling::v2::{
    HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus,
};
use kubist_apimachinery::{Quantity, Time};
use serde_json::Value;

/// The maximum number of metrics shown.
const METRICS_MAX: usize = 2;

pub(super) fn autoscaler(object: &HorizontalPodAutoscaler, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let target = &spec.scale_target_ref;
    let min = spec.min_replicas.map(|it| it.to_string());
    cells![
        &*object.metadata.name,
        format!("{}/{}", target.kind, target.name),
        metrics(object),
        min.unwrap_or_else(|| "<unset>".to_owned()),
        spec.max_replicas,
        object.status.current_replicas,
        age(&object.metadata, now),
    ]
}

fn metrics(autoscaler: &HorizontalPodAutoscaler) -> String {
    let mut list = FirstFew::new(METRICS_MAX);
    let current = &autoscaler.status.current_metrics;
    for (index, spec) in autoscaler.spec.metrics.iter().enumerate() {
        list.push(|| metric(spec, current.get(index)));
    }
    text_or(&list.cell(", "), "<none>").to_owned()
}

fn metric(spec: &MetricSpec, status: Option<&MetricStatus>) -> String {
    let found = match &*spec.type_ {
        "External" => spec.external.as_deref().map(|it| {
            let current = status.and_then(|it| it.external.as_deref());
            of_object(&it.target, current.map(|it| &it.current))
        }),
        "Object" => spec.object.as_deref().map(|it| {
            let current = status.and_then(|it| it.object.as_deref());
            of_object(&it.target, current.map(|it| &it.current))
        }),
        "Pods" => spec.pods.as_deref().map(|it| {
            let current = status.and_then(|it| it.pods.as_deref());
            let current = current.and_then(|it| it.current.average_value.as_ref());
            format!(
                "{}/{}",
                known(current),
                amount(it.target.average_value.as_ref())
            )
        }),
        "Resource" => spec.resource.as_deref().map(|it| {
            let current = status.and_then(|it| it.resource.as_deref());
            of_resource(&it.name, &it.target, current.map(|it| &it.current))
        }),
        "ContainerResource" => spec.container_resource.as_deref().map(|it| {
            let current = status.and_then(|it| it.container_resource.as_deref());
            of_resource(&it.name, &it.target, current.map(|it| &it.current))
        }),
        _ => None,
    };
    found.unwrap_or_else(|| "<unknown type>".to_owned())
}

fn of_object(target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    if target.average_value.is_some() {
        let current = current.and_then(|it| it.average_value.as_ref());
        return format!(
            "{}/{} (avg)",
            known(current),
            amount(target.average_value.as_ref())
        );
    }
    let current = current.and_then(|it| it.value.as_ref());
    format!("{}/{}", known(current), amount(target.value.as_ref()))
}

fn of_resource(name: &str, target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    if target.average_value.is_some() {
        let current = current.and_then(|it| it.average_value.as_ref());
        return format!(
            "{name}: {}/{}",
            known(current),
            amount(target.average_value.as_ref())
        );
    }
    let percent = |it: Option<i32>| it.map(|it| format!("{it}%"));
    let current = percent(current.and_then(|it| it.average_utilization));
    let current = current.unwrap_or_else(|| "<unknown>".to_owned());
    let target = percent(target.average_utilization).unwrap_or_else(|| "<auto>".to_owned());
    format!("{name}: {current}/{target}")
}

fn known(quantity: Option<&Quantity>) -> String {
    quantity.map_or_else(|| "<unknown>".to_owned(), ToString::to_string)
}

fn amount(quantity: Option<&Quantity>) -> String {
    quantity.map_or_else(|| "0".to_owned(), ToString::to_string)
}
