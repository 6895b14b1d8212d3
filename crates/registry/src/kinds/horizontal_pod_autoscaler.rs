//! HorizontalPodAutoscalers, which are stored as of version 2.

use crate::{Generation, KindStrategy, StatusKeeps};
use kubist_api::autoscaling::v2::{
    HPAScalingPolicy, HPAScalingRules, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec,
    MetricSpec, MetricTarget, ResourceMetricSource,
};
use kubist_apimachinery::{FieldError, FieldPath};

use super::rules::{self, Errors};
use super::{fill, metric_rules, resource_rules};

#[derive(Debug)]
pub(super) struct HorizontalPodAutoscalers;

/// Percent of what is requested.
const CPU_UTILIZATION: i32 = 80;
/// Seconds over which a policy counts.
const PERIOD: i32 = 15;
/// And at most.
const PERIOD_MAX: i32 = 1_800;

impl KindStrategy for HorizontalPodAutoscalers {
    type Kind = HorizontalPodAutoscaler;

    fn apply_defaults(&self, object: &mut HorizontalPodAutoscaler) {
        let spec = &mut object.spec;
        spec.min_replicas.get_or_insert(1);
        if spec.metrics.is_empty() {
            spec.metrics.push(cpu_metric());
        }
        let Some(behavior) = &mut spec.behavior else {
            return;
        };
        let up = behavior.scale_up.get_or_insert_default();
        up.stabilization_window_seconds.get_or_insert(0);
        fill_rules(up, &[("Pods", 4), ("Percent", 100)]);
        let down = behavior.scale_down.get_or_insert_default();
        fill_rules(down, &[("Percent", 100)]);
    }
    fn validate(&self, new: &HorizontalPodAutoscaler) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn generation(&self) -> Generation {
        Generation::None
    }
}

fn cpu_metric() -> MetricSpec {
    MetricSpec {
        type_: "Resource".into(),
        resource: Some(Box::new(ResourceMetricSource {
            name: "cpu".into(),
            target: MetricTarget {
                type_: "Utilization".into(),
                average_utilization: Some(CPU_UTILIZATION),
                ..MetricTarget::default()
            },
        })),
        ..MetricSpec::default()
    }
}

fn fill_rules(rules: &mut HPAScalingRules, policies: &[(&str, i32)]) {
    fill::option(&mut rules.select_policy, "Max");
    if rules.policies.is_empty() {
        rules
            .policies
            .extend(policies.iter().map(|(kind, value)| HPAScalingPolicy {
                type_: (*kind).into(),
                value: *value,
                period_seconds: PERIOD,
            }));
    }
}

fn check(errors: &mut Errors, spec: &HorizontalPodAutoscalerSpec, path: &FieldPath) {
    let min = spec.min_replicas.unwrap_or_default();
    if spec.min_replicas.is_some() && min < 1 {
        let path = path.child("minReplicas");
        errors.push(FieldError::invalid(
            &path,
            min,
            "must be greater than or equal to 1",
        ));
    }
    let at = path.child("maxReplicas");
    if spec.max_replicas < 1 {
        errors.push(FieldError::required(&at, "must be set and greater than 0"));
    }
    if spec.min_replicas.is_some() && spec.max_replicas < min {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(&at, spec.max_replicas, detail));
    }
    check_target(errors, spec, &path.child("scaleTargetRef"));
    let metrics = path.child("metrics");
    for (index, metric) in spec.metrics.iter().enumerate() {
        metric_rules::check(errors, metric, &metrics.index(index));
    }
    if let Some(behavior) = &spec.behavior {
        let path = path.child("behavior");
        for (name, rules) in [
            ("scaleUp", &behavior.scale_up),
            ("scaleDown", &behavior.scale_down),
        ] {
            if let Some(rules) = rules {
                check_rules(errors, rules, &path.child(name));
            }
        }
    }
}

fn check_target(errors: &mut Errors, spec: &HorizontalPodAutoscalerSpec, path: &FieldPath) {
    let target = &spec.scale_target_ref;
    rules::required(errors, &target.kind, &path.child("kind"));
    rules::required(errors, &target.name, &path.child("name"));
    if target.api_version.is_empty()
        || !target.api_version.contains('/') && target.kind != "ReplicationController"
    {
        let detail = "apiVersion must specify API group";
        errors.push(FieldError::invalid(
            &path.child("apiVersion"),
            &target.api_version,
            detail,
        ));
    }
}

fn check_rules(errors: &mut Errors, scaling: &HPAScalingRules, path: &FieldPath) {
    if let Some(seconds) = scaling.stabilization_window_seconds {
        let path = path.child("stabilizationWindowSeconds");
        rules::non_negative(errors, seconds.into(), &path);
        if seconds > 3600 {
            let detail = "must be less than or equal to 3600";
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
    }
    if let Some(policy) = &scaling.select_policy {
        let path = path.child("selectPolicy");
        rules::one_of(errors, policy, &["Disabled", "Max", "Min"], &path);
    }
    if let Some(tolerance) = &scaling.tolerance {
        resource_rules::non_negative(errors, tolerance, &path.child("tolerance"));
    }
    for (index, policy) in scaling.policies.iter().enumerate() {
        let path = path.child("policies").index(index);
        rules::one_of(
            errors,
            &policy.type_,
            &["Percent", "Pods"],
            &path.child("type"),
        );
        for (name, value) in [
            ("value", policy.value),
            ("periodSeconds", policy.period_seconds),
        ] {
            if value <= 0 {
                let path = path.child(name);
                errors.push(FieldError::invalid(
                    &path,
                    value,
                    "must be greater than zero",
                ));
            }
            if name == "periodSeconds" && value > PERIOD_MAX {
                let detail = format!("must be less than or equal to {PERIOD_MAX}");
                errors.push(FieldError::invalid(&path.child(name), value, detail));
            }
        }
    }
}
