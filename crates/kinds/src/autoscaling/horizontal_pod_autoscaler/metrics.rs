//! Validation of the metrics of HorizontalPodAutoscalers.

use crate::shared;
use crate::shared::rules::{self, Errors};
use kubist_api::autoscaling::v2::{
    ContainerResourceMetricSource, CrossVersionObjectReference, ExternalMetricSource,
    MetricIdentifier, MetricSpec, MetricTarget, ObjectMetricSource, PodsMetricSource,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Quantity, validate_name};

const METRICS: [&str; 5] = [
    "ContainerResource",
    "External",
    "Object",
    "Pods",
    "Resource",
];

/// Checks one metric. If it has several sources, only the first is checked.
pub(crate) fn check(errors: &mut Errors, metric: &MetricSpec, any_version: bool, path: &FieldPath) {
    let at = path.child("type");
    let kind = metric.type_.as_str();
    if kind.is_empty() {
        let detail = "must specify a metric source type";
        errors.push(FieldError::required(&at, detail));
    }
    let is_known = METRICS.contains(&kind);
    if !is_known {
        errors.push(FieldError::not_supported(&at, kind, &METRICS));
    }
    let sources = [
        ("object", metric.object.is_some()),
        ("external", metric.external.is_some()),
        ("pods", metric.pods.is_some()),
        ("resource", metric.resource.is_some()),
        ("containerResource", metric.container_resource.is_some()),
    ];
    let present: Vec<&str> = sources
        .iter()
        .filter_map(|(name, is_set)| is_set.then_some(*name))
        .collect();
    if let Some(first) = present.first() {
        check_source(errors, metric, first, &path.child(first));
        if let ("object", Some(source), false) = (*first, &metric.object, any_version) {
            let version = &source.described_object.api_version;
            let path = path.child("object").child("describedObject");
            if let Some(problem) = version_problem(version) {
                let path = path.child("apiVersion");
                errors.push(FieldError::invalid(&path, version, problem));
            }
        }
    }
    let expected = match kind {
        "ContainerResource" => "containerResource",
        "External" => "external",
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        _ => "",
    };
    if !is_known {
        // Upstream checks this twice.
        errors.push(FieldError::not_supported(&at, kind, &METRICS));
    } else if !present.contains(&expected) {
        let detail = "must populate information for the given metric source";
        errors.push(FieldError::required(&path.child(expected), detail));
    }
    if present.len() != 1 {
        for other in present.iter().filter(|it| **it != expected) {
            let detail = "must populate the given metric source only";
            errors.push(FieldError::forbidden(&path.child(other), detail));
        }
    }
}

fn check_source(errors: &mut Errors, metric: &MetricSpec, which: &str, path: &FieldPath) {
    match which {
        "object" => metric
            .object
            .iter()
            .for_each(|it| check_object(errors, it, path)),
        "external" => metric
            .external
            .iter()
            .for_each(|it| check_external(errors, it, path)),
        "pods" => metric
            .pods
            .iter()
            .for_each(|it| check_pods(errors, it, path)),
        "resource" => metric.resource.iter().for_each(|it| {
            resource_name(errors, &it.name, &path.child("name"));
            utilization(errors, &it.target, &path.child("target"));
        }),
        _ => metric
            .container_resource
            .iter()
            .for_each(|it| check_container(errors, it, path)),
    }
}

fn check_object(errors: &mut Errors, source: &ObjectMetricSource, path: &FieldPath) {
    let at = path.child("describedObject");
    check_reference(errors, &source.described_object, &at);
    check_identifier(errors, &source.metric, &path.child("metric"));
    let at = path.child("target");
    check_target(errors, &source.target, &at);
    if source.target.value.is_none() && source.target.average_value.is_none() {
        let detail = "must set either a target value or averageValue";
        errors.push(FieldError::required(&at.child("averageValue"), detail));
    }
}

/// Checks that a reference has a kind and a name.
pub(crate) fn check_reference(
    errors: &mut Errors,
    object: &CrossVersionObjectReference,
    path: &FieldPath,
) {
    for (name, value) in [("kind", &object.kind), ("name", &object.name)] {
        let path = path.child(name);
        if rules::required(errors, value, &path) {
            rules::text(errors, value, &path, rules::path_segment);
        }
    }
}

/// Returns the problem of an `apiVersion`, with or without a group. An empty one is valid.
pub(crate) fn version_problem(api_version: &str) -> Option<String> {
    let slashes = api_version.bytes().filter(|it| *it == b'/').count();
    let fits = slashes < 2 || api_version == "/";
    (!fits).then(|| format!("unexpected GroupVersion string: {api_version}"))
}

fn check_external(errors: &mut Errors, source: &ExternalMetricSource, path: &FieldPath) {
    check_identifier(errors, &source.metric, &path.child("metric"));
    let at = path.child("target");
    check_target(errors, &source.target, &at);
    match (&source.target.value, &source.target.average_value) {
        (None, None) => {
            let detail = "must set either a target value for metric or a per-pod target";
            errors.push(FieldError::required(&at.child("averageValue"), detail));
        }
        (Some(_), Some(_)) => {
            let detail = "may not set both a target value for metric and a per-pod target";
            errors.push(FieldError::forbidden(&at.child("value"), detail));
        }
        _ => {}
    }
}

fn check_pods(errors: &mut Errors, source: &PodsMetricSource, path: &FieldPath) {
    check_identifier(errors, &source.metric, &path.child("metric"));
    let at = path.child("target");
    check_target(errors, &source.target, &at);
    if source.target.average_value.is_none() {
        let detail = "must specify a positive target averageValue";
        errors.push(FieldError::required(&at.child("averageValue"), detail));
    }
}

fn check_container(errors: &mut Errors, source: &ContainerResourceMetricSource, path: &FieldPath) {
    let at = path.child("name");
    if resource_name(errors, &source.name, &at) {
        shared::resources::check_container_name(errors, &source.name, &at);
    }
    let at = path.child("container");
    if source.container.is_empty() {
        errors.push(FieldError::required(&at, "must specify a container"));
    } else {
        rules::text(errors, &source.container, &at, validate_name::dns1123_label);
    }
    utilization(errors, &source.target, &path.child("target"));
}

fn resource_name(errors: &mut Errors, name: &str, path: &FieldPath) -> bool {
    if name.is_empty() {
        errors.push(FieldError::required(path, "must specify a resource name"));
    }
    !name.is_empty()
}

/// Checks the target of a resource metric: a utilization or an average value.
fn utilization(errors: &mut Errors, target: &MetricTarget, path: &FieldPath) {
    check_target(errors, target, path);
    match (target.average_utilization, &target.average_value) {
        (None, None) => {
            let detail = "must set either a target raw value or a target utilization";
            errors.push(FieldError::required(
                &path.child("averageUtilization"),
                detail,
            ));
        }
        (Some(_), Some(_)) => {
            let detail = "may not set both a target raw value and a target utilization";
            errors.push(FieldError::forbidden(&path.child("averageValue"), detail));
        }
        _ => {}
    }
}

fn check_identifier(errors: &mut Errors, metric: &MetricIdentifier, path: &FieldPath) {
    let path = path.child("name");
    if metric.name.is_empty() {
        errors.push(FieldError::required(&path, "must specify a metric name"));
    } else {
        rules::text(errors, &metric.name, &path, rules::path_segment);
    }
}

fn check_target(errors: &mut Errors, target: &MetricTarget, path: &FieldPath) {
    let at = path.child("type");
    let kind = target.type_.as_str();
    if kind.is_empty() {
        let detail = "must specify a metric target type";
        errors.push(FieldError::required(&at, detail));
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        let detail = "must be either Utilization, Value, or AverageValue";
        errors.push(FieldError::invalid(&at, BadValue::json(kind), detail));
    }
    for (name, value) in [
        ("value", &target.value),
        ("averageValue", &target.average_value),
    ] {
        let is_none = |it: &&Quantity| it.signum() <= 0;
        if let Some(value) = value.as_ref().filter(is_none) {
            let path = path.child(name);
            errors.push(FieldError::invalid(&path, value.text(), "must be positive"));
        }
    }
    if let Some(percent) = target.average_utilization.filter(|&it| it < 1) {
        let path = path.child("averageUtilization");
        let detail = "must be greater than 0";
        errors.push(FieldError::invalid(&path, percent, detail));
    }
}
