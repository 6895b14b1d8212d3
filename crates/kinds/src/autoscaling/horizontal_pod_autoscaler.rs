//! HorizontalPodAutoscalers, stored in version 2.

pub(crate) mod metrics;

use crate::convert::AUTOSCALER_ANNOTATIONS;
use crate::shared::rules::{self, Errors};
use crate::shared::{self, fill};
use kubist_api::autoscaling::v2::{
    HPAScalingPolicy, HPAScalingRules, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec,
    MetricSpec, MetricTarget, ResourceMetricSource,
};
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{ForKind, Generation, KindStrategy, StatusKeeps, Strategy, StrategyFacts};

#[derive(Debug)]
pub(crate) struct HorizontalPodAutoscalers;

/// The default target in percent of the requested CPU.
const CPU_UTILIZATION: i32 = 80;
/// The default period of a policy in seconds.
const PERIOD: i32 = 15;
/// The maximum period of a policy in seconds.
const PERIOD_MAX: i32 = 1_800;

impl KindStrategy for HorizontalPodAutoscalers {
    type Kind = HorizontalPodAutoscaler;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::None,
        status_keeps: StatusKeeps::Nothing,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(HorizontalPodAutoscalersStatus))
    }
    fn apply_defaults(&self, object: &mut HorizontalPodAutoscaler) {
        // v2 has fields for these values, so the annotations are not used.
        for annotation in AUTOSCALER_ANNOTATIONS {
            object.metadata.annotations.remove(annotation);
        }
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
        check(&mut errors, new, None, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(
        &self,
        new: &HorizontalPodAutoscaler,
        old: &HorizontalPodAutoscaler,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(&mut errors, new, Some(old), &FieldPath::new("spec"));
        errors
    }
}

/// The `status` subresource of [`HorizontalPodAutoscalers`].
#[derive(Debug)]
struct HorizontalPodAutoscalersStatus;

impl KindStrategy for HorizontalPodAutoscalersStatus {
    type Kind = HorizontalPodAutoscaler;

    fn validate_update(
        &self,
        new: &HorizontalPodAutoscaler,
        _: &HorizontalPodAutoscaler,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let (path, status) = (FieldPath::new("status"), &new.status);
        for (name, count) in [
            ("currentReplicas", status.current_replicas),
            ("desiredReplicas", status.desired_replicas),
        ] {
            rules::non_negative(&mut errors, count.into(), &path.child(name));
        }
        errors
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

fn check(
    errors: &mut Errors,
    new: &HorizontalPodAutoscaler,
    old: Option<&HorizontalPodAutoscaler>,
    path: &FieldPath,
) {
    let spec = &new.spec;
    let old = old.map(|old| &old.spec);
    // An autoscaler that already scales to zero may continue to do so.
    let least = i32::from(old.and_then(|old| old.min_replicas) != Some(0));
    if let Some(min) = spec.min_replicas.filter(|&min| min < least) {
        let detail = format!("must be greater than or equal to {least}");
        let path = path.child("minReplicas");
        errors.push(FieldError::invalid(&path, min, detail));
    }
    let at = path.child("maxReplicas");
    let max = spec.max_replicas;
    if max == 0 {
        errors.push(FieldError::required(&at, "must be set and greater than 0"));
    } else if max < 0 {
        let detail = "must be greater than or equal to 1";
        errors.push(FieldError::invalid(&at, max, detail));
    }
    if spec.min_replicas.is_some_and(|min| max < min) {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(&at, max, detail));
    }
    check_target(errors, spec, old, &path.child("scaleTargetRef"));
    check_metrics(errors, spec, old, &path.child("metrics"));
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

fn check_metrics(
    errors: &mut Errors,
    spec: &HorizontalPodAutoscalerSpec,
    old: Option<&HorizontalPodAutoscalerSpec>,
    path: &FieldPath,
) {
    // If one was invalid already, others may be too.
    let of_objects = |it: &MetricSpec| match &it.object {
        Some(source) if it.type_ == "Object" => {
            metrics::version_problem(&source.described_object.api_version).is_some()
        }
        _ => false,
    };
    let any_version = old.is_some_and(|old| old.metrics.iter().any(of_objects));
    for (index, metric) in spec.metrics.iter().enumerate() {
        metrics::check(errors, metric, any_version, &path.index(index));
    }
    let of_others = |it: &MetricSpec| matches!(&*it.type_, "Object" | "External");
    if spec.min_replicas == Some(0) && !spec.metrics.iter().any(of_others) {
        let detail = "must specify at least one Object or External metric to support scaling to \
                      zero replicas";
        errors.push(FieldError::forbidden(path, detail));
    }
}

fn check_target(
    errors: &mut Errors,
    spec: &HorizontalPodAutoscalerSpec,
    old: Option<&HorizontalPodAutoscalerSpec>,
    path: &FieldPath,
) {
    let target = &spec.scale_target_ref;
    metrics::check_reference(errors, target, path);
    let is_same = |old: &HorizontalPodAutoscalerSpec| {
        let old = &old.scale_target_ref;
        old.api_version == target.api_version && old.kind == target.kind
    };
    if old.is_some_and(is_same) {
        return;
    }
    let no_group = !target.api_version.contains('/') && target.kind != "ReplicationController";
    let problem = metrics::version_problem(&target.api_version);
    let problem =
        problem.or_else(|| no_group.then(|| "apiVersion must specify API group".to_owned()));
    if let Some(problem) = problem {
        let path = path.child("apiVersion");
        errors.push(FieldError::invalid(&path, &target.api_version, problem));
    }
}

fn check_rules(errors: &mut Errors, scaling: &HPAScalingRules, path: &FieldPath) {
    if let Some(seconds) = scaling.stabilization_window_seconds {
        let path = path.child("stabilizationWindowSeconds");
        if seconds < 0 {
            let detail = "must be greater than or equal to zero";
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
        if seconds > 3600 {
            let detail = "must be less than or equal to 3600";
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
    }
    if let Some(policy) = &scaling.select_policy {
        let path = path.child("selectPolicy");
        rules::one_of(errors, policy, &["Disabled", "Max", "Min"], &path);
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
    if let Some(tolerance) = &scaling.tolerance {
        shared::resources::non_negative(errors, tolerance, &path.child("tolerance"));
    }
}
