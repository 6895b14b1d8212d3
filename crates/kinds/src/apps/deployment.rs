//! Deployments.

use crate::pod_spec::defaults::default_pod_template;
use crate::pod_spec::template::Template;
use crate::pod_spec::{self, disabled_fields};
use crate::scale;
use crate::shared::fill;
use crate::shared::rules::{self, Errors};
use kubist_api::apps::v1::{Deployment, DeploymentSpec, DeploymentStrategy};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, IntOrString};
use kubist_registry::{
    ForKind, Generation, KindStrategy, RequestContext, StatusKeeps, Strategy, StrategyFacts,
};
use serde::Serialize;

#[derive(Debug)]
pub(crate) struct Deployments;

/// The value that upstream uses for an unset amount.
const ZERO: IntOrString = IntOrString::Int(0);

impl KindStrategy for Deployments {
    type Kind = Deployment;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::SpecAndAnnotations,
        status_keeps: StatusKeeps::Labels,
        complete_bookmark: |object| scale::set_replicas(object, 0),
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(DeploymentsStatus))
    }
    fn apply_defaults(&self, object: &mut Deployment) {
        let spec = &mut object.spec;
        default_pod_template(&mut spec.template);
        spec.replicas.get_or_insert(1);
        spec.revision_history_limit.get_or_insert(10);
        spec.progress_deadline_seconds.get_or_insert(600);
        fill::text(&mut spec.strategy.type_, "RollingUpdate");
        if spec.strategy.type_ == "RollingUpdate" {
            let rolling = spec.strategy.rolling_update.get_or_insert_default();
            rolling.max_unavailable.get_or_insert_with(|| "25%".into());
            rolling.max_surge.get_or_insert_with(|| "25%".into());
        } else if let Some(rolling) = &mut spec.strategy.rolling_update {
            // Upstream's internal type has numbers here that are always set.
            rolling.max_unavailable.get_or_insert_default();
            rolling.max_surge.get_or_insert_default();
        }
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut Deployment) {
        disabled_fields::drop_from(&mut new.spec.template.spec, None);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Deployment, old: &Deployment) {
        let old = &old.spec.template.spec;
        disabled_fields::drop_from(&mut new.spec.template.spec, Some(old));
    }
    fn warnings(&self, new: &Deployment, old: Option<&Deployment>) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        let path = pod_spec::warnings::template_path();
        pod_spec::warnings::of_named(meta, before, &new.spec.template, &path)
    }
    fn validate(&self, new: &Deployment) -> Vec<FieldError> {
        validate(new, None)
    }
    fn validate_update(&self, new: &Deployment, old: &Deployment) -> Vec<FieldError> {
        let mut errors = validate(new, Some(old));
        pod_spec::template::selector_is_immutable(
            &mut errors,
            new.spec.selector.as_deref(),
            old.spec.selector.as_deref(),
        );
        errors
    }
}

/// The `status` subresource of [`Deployments`].
#[derive(Debug)]
struct DeploymentsStatus;

impl KindStrategy for DeploymentsStatus {
    type Kind = Deployment;

    fn validate_update(&self, new: &Deployment, old: &Deployment) -> Vec<FieldError> {
        let status = &new.status;
        let path = FieldPath::new("status");
        let mut errors = Vec::new();
        for (name, value) in [
            ("observedGeneration", status.observed_generation),
            ("replicas", status.replicas.into()),
            ("updatedReplicas", status.updated_replicas.into()),
            ("readyReplicas", status.ready_replicas.into()),
            ("availableReplicas", status.available_replicas.into()),
            ("unavailableReplicas", status.unavailable_replicas.into()),
        ] {
            rules::non_negative(&mut errors, value, &path.child(name));
        }
        for (name, count) in [
            ("terminatingReplicas", status.terminating_replicas),
            ("collisionCount", status.collision_count),
        ] {
            rules::optional_non_negative(&mut errors, count, &path.child(name));
        }
        let over = |value, of, name: &str, detail: &str| {
            (value > of).then(|| FieldError::invalid(&path.child(name), value, detail.to_owned()))
        };
        let total = status.replicas;
        errors.extend(over(
            status.updated_replicas,
            total,
            "updatedReplicas",
            OVER_REPLICAS,
        ));
        errors.extend(over(
            status.ready_replicas,
            total,
            "readyReplicas",
            OVER_REPLICAS,
        ));
        errors.extend(over(
            status.available_replicas,
            total,
            "availableReplicas",
            OVER_REPLICAS,
        ));
        let ready = status.ready_replicas;
        errors.extend(over(
            status.available_replicas,
            ready,
            "availableReplicas",
            "cannot be greater than readyReplicas",
        ));
        let path = path.child("collisionCount");
        let before = old.status.collision_count;
        rules::not_decremented(&mut errors, status.collision_count, before, &path);
        errors
    }
}

const OVER_REPLICAS: &str = "cannot be greater than status.replicas";

fn validate(new: &Deployment, old: Option<&Deployment>) -> Vec<FieldError> {
    let (path, spec) = (FieldPath::new("spec"), &new.spec);
    let mut errors = Vec::new();
    rules::non_negative(
        &mut errors,
        spec.replicas.unwrap_or_default().into(),
        &path.child("replicas"),
    );
    let selector_path = path.child("selector");
    let selector = spec.selector.as_deref();
    rules::workload_selector(&mut errors, selector, &selector_path, "deployment");
    if let Some(selector) = rules::as_selector(&mut errors, selector, &selector_path) {
        let template = Template {
            new: &spec.template,
            old: old.map(|it| &it.spec.template),
        };
        let path = path.child("template");
        pod_spec::template::check(&mut errors, template, &selector, "ReplicaSet", &path);
    }
    check_strategy(&mut errors, &spec.strategy, &path.child("strategy"));
    rules::non_negative(
        &mut errors,
        spec.min_ready_seconds.into(),
        &path.child("minReadySeconds"),
    );
    rules::optional_non_negative(
        &mut errors,
        spec.revision_history_limit,
        &path.child("revisionHistoryLimit"),
    );
    check_deadline(&mut errors, spec, &path.child("progressDeadlineSeconds"));
    errors
}

fn check_deadline(errors: &mut Errors, spec: &DeploymentSpec, path: &FieldPath) {
    let Some(deadline) = spec.progress_deadline_seconds else {
        return;
    };
    rules::non_negative(errors, deadline.into(), path);
    if deadline <= spec.min_ready_seconds {
        let detail = "must be greater than minReadySeconds";
        errors.push(FieldError::invalid(path, deadline, detail));
    }
}

/// The strategy as error messages show it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShownStrategy<'a> {
    r#type: &'a str,
    rolling_update: Option<ShownRollingUpdate<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShownRollingUpdate<'a> {
    max_unavailable: Option<&'a IntOrString>,
    max_surge: Option<&'a IntOrString>,
}

fn check_strategy(errors: &mut Errors, strategy: &DeploymentStrategy, path: &FieldPath) {
    let rolling = strategy.rolling_update.as_deref();
    match strategy.type_.as_str() {
        "Recreate" => {
            if rolling.is_some() {
                errors.push(FieldError::forbidden(
                    &path.child("rollingUpdate"),
                    "may not be specified when strategy `type` is 'Recreate'",
                ));
            }
        }
        "RollingUpdate" => match rolling {
            None => errors.push(FieldError::required(
                &path.child("rollingUpdate"),
                "this should be defaulted and never be nil",
            )),
            Some(rolling) => check_rolling_update(
                errors,
                rolling.max_unavailable.as_ref(),
                rolling.max_surge.as_ref(),
                &path.child("rollingUpdate"),
            ),
        },
        other => {
            let shown = ShownStrategy {
                r#type: other,
                rolling_update: rolling.map(|it| ShownRollingUpdate {
                    max_unavailable: it.max_unavailable.as_ref().or(Some(&ZERO)),
                    max_surge: it.max_surge.as_ref().or(Some(&ZERO)),
                }),
            };
            let supported = ["Recreate", "RollingUpdate"];
            errors.push(FieldError::not_supported(
                path,
                BadValue::json(&shown),
                &supported,
            ));
        }
    }
}

fn check_rolling_update(
    errors: &mut Errors,
    max_unavailable: Option<&IntOrString>,
    max_surge: Option<&IntOrString>,
    path: &FieldPath,
) {
    let zero = IntOrString::default();
    let (unavailable, surge) = (max_unavailable.unwrap_or(&zero), max_surge.unwrap_or(&zero));
    let unavailable_path = path.child("maxUnavailable");
    rules::count_or_percent(errors, unavailable, &unavailable_path);
    rules::count_or_percent(errors, surge, &path.child("maxSurge"));
    if amount(unavailable) == 0 && amount(surge) == 0 {
        let shown = BadValue::json(unavailable);
        let detail = "may not be 0 when `maxSurge` is 0";
        errors.push(FieldError::invalid(&unavailable_path, shown, detail));
    }
    rules::at_most_all(errors, unavailable, &unavailable_path);
}

/// Returns the number, or the number before the percent sign.
pub(crate) fn amount(value: &IntOrString) -> i64 {
    rules::percent_of(value).unwrap_or_else(|| value.int_value())
}
