//! DaemonSets.

use crate::apps::deployment::amount;
use crate::pod_spec::defaults::default_pod_template;
use crate::pod_spec::template::Template;
use crate::pod_spec::{self, disabled_fields};
use crate::shared::rules::{self, Errors};
use crate::shared::{fill, go_struct};
use kubist_api::apps::v1::{DaemonSet, DaemonSetSpec};
use kubist_apimachinery::{FieldError, FieldPath, IntOrString, Status};
use kubist_registry::{
    Admission, BoxFuture, ForKind, Generation, KindStrategy, RequestContext, StatusKeeps, Strategy,
    StrategyFacts,
};
use std::any::Any;

#[derive(Debug)]
pub(crate) struct DaemonSets;

/// The annotation that counts template changes. It is older than `metadata.generation`.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

impl KindStrategy for DaemonSets {
    type Kind = DaemonSet;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        complete_bookmark: |object| {
            let object: &mut dyn Any = object;
            if let Some(object) = object.downcast_mut() {
                set_template_generation(object, 0);
            }
        },
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(DaemonSetsStatus))
    }
    fn apply_defaults(&self, object: &mut DaemonSet) {
        let spec = &mut object.spec;
        default_pod_template(&mut spec.template);
        fill::text(&mut spec.update_strategy.type_, "RollingUpdate");
        if spec.update_strategy.type_ == "RollingUpdate" {
            let rolling = spec.update_strategy.rolling_update.get_or_insert_default();
            rolling.max_unavailable.get_or_insert(IntOrString::Int(1));
            rolling.max_surge.get_or_insert(IntOrString::Int(0));
        } else if let Some(rolling) = &mut spec.update_strategy.rolling_update {
            // Upstream's internal type has numbers here that are always set.
            rolling.max_unavailable.get_or_insert_default();
            rolling.max_surge.get_or_insert_default();
        }
        spec.revision_history_limit.get_or_insert(10);
        // Upstream's internal type always has the number, so clients own it.
        if !object
            .metadata
            .annotations
            .contains_key(TEMPLATE_GENERATION)
        {
            set_template_generation(object, 0);
        }
    }
    fn admit<'a>(
        &'a self,
        _: &'a Admission<'a>,
        new: &'a mut DaemonSet,
        _: Option<&'a DaemonSet>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(std::future::ready(generation_is_a_number(new)))
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut DaemonSet) {
        disabled_fields::drop_from(&mut new.spec.template.spec, None);
        let generation = template_generation(new);
        set_template_generation(new, generation.max(1));
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut DaemonSet, old: &DaemonSet) {
        let before = &old.spec.template.spec;
        disabled_fields::drop_from(&mut new.spec.template.spec, Some(before));
        let changed = new.spec.template != old.spec.template;
        set_template_generation(new, template_generation(old) + i64::from(changed));
    }
    fn warnings(&self, new: &DaemonSet, old: Option<&DaemonSet>) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        let path = pod_spec::warnings::template_path();
        match old {
            // Upstream compares the template only, not the rest of the spec.
            Some(old) if old.spec.template == new.spec.template => Vec::new(),
            _ => pod_spec::warnings::of_changed(meta, before, &new.spec.template, &path),
        }
    }
    fn validate(&self, new: &DaemonSet) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_spec(&mut errors, &new.spec, None, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(&self, new: &DaemonSet, old: &DaemonSet) -> Vec<FieldError> {
        let mut errors = Vec::new();
        pod_spec::template::selector_is_immutable(
            &mut errors,
            new.spec.selector.as_deref(),
            old.spec.selector.as_deref(),
        );
        let path = FieldPath::new("spec");
        check_spec(&mut errors, &new.spec, Some(&old.spec), &path);
        errors
    }
}

/// The `status` subresource of [`DaemonSets`].
#[derive(Debug)]
struct DaemonSetsStatus;

impl KindStrategy for DaemonSetsStatus {
    type Kind = DaemonSet;

    fn prepare_for_update(&self, _: &RequestContext, new: &mut DaemonSet, old: &DaemonSet) {
        // Upstream has it in the spec, which does not change here.
        set_template_generation(new, template_generation(old));
    }
    fn validate_update(&self, new: &DaemonSet, old: &DaemonSet) -> Vec<FieldError> {
        let (path, status) = (FieldPath::new("status"), &new.status);
        let mut errors = Vec::new();
        for (name, count) in [
            ("currentNumberScheduled", status.current_number_scheduled),
            ("numberMisscheduled", status.number_misscheduled),
            ("desiredNumberScheduled", status.desired_number_scheduled),
            ("numberReady", status.number_ready),
            ("updatedNumberScheduled", status.updated_number_scheduled),
            ("numberAvailable", status.number_available),
            ("numberUnavailable", status.number_unavailable),
        ] {
            rules::non_negative(&mut errors, count.into(), &path.child(name));
        }
        let at = path.child("observedGeneration");
        rules::non_negative(&mut errors, status.observed_generation, &at);
        let at = path.child("collisionCount");
        let (now, before) = (status.collision_count, old.status.collision_count);
        rules::optional_non_negative(&mut errors, now, &at);
        rules::not_decremented(&mut errors, now, before, &at);
        errors
    }
}

/// Refuses an object whose annotation is not a number. Upstream decodes the annotation into a
/// field.
fn generation_is_a_number(object: &DaemonSet) -> Result<(), Status> {
    let text = object.metadata.annotations.get(TEMPLATE_GENERATION);
    match text.filter(|it| it.parse::<i64>().is_err()) {
        None => Ok(()),
        Some(text) => Err(Status::bad_request(format!(
            "DaemonSet in version \"v1\" cannot be handled as a DaemonSet: strconv.ParseInt: \
             parsing {text:?}: invalid syntax"
        ))),
    }
}

fn template_generation(object: &DaemonSet) -> i64 {
    let text = object.metadata.annotations.get(TEMPLATE_GENERATION);
    text.and_then(|it| it.parse().ok()).unwrap_or_default()
}

fn set_template_generation(object: &mut DaemonSet, generation: i64) {
    let text = generation.to_string().into();
    object
        .metadata
        .annotations
        .insert(TEMPLATE_GENERATION.into(), text);
}

fn check_spec(
    errors: &mut Errors,
    spec: &DaemonSetSpec,
    old: Option<&DaemonSetSpec>,
    path: &FieldPath,
) {
    let (selector, at) = (spec.selector.as_deref(), path.child("selector"));
    if let Some(selector) = selector {
        rules::workload_selector(errors, Some(selector), &at, "daemonset");
    }
    let selector = rules::as_selector(&mut Vec::new(), selector, &at);
    if let Some(selector) = selector {
        rules::template_matches(errors, &selector, &spec.template, &path.child("template"));
    }
    let template = Template {
        new: &spec.template,
        old: old.map(|it| &it.template),
    };
    let at = path.child("template");
    pod_spec::template::check_template(errors, template, &at);
    pod_spec::template::check_runs_permanently(errors, &spec.template, "DaemonSet", &at);
    rules::non_negative(
        errors,
        spec.min_ready_seconds.into(),
        &path.child("minReadySeconds"),
    );
    check_update_strategy(errors, spec, &path.child("updateStrategy"));
    let limit = spec.revision_history_limit;
    rules::optional_non_negative(errors, limit, &path.child("revisionHistoryLimit"));
}

fn check_update_strategy(errors: &mut Errors, spec: &DaemonSetSpec, path: &FieldPath) {
    let strategy = &spec.update_strategy;
    match strategy.type_.as_str() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let path = path.child("rollingUpdate");
            let Some(rolling) = &strategy.rolling_update else {
                errors.push(FieldError::required(&path, ""));
                return;
            };
            let zero = IntOrString::default();
            let unavailable = rolling.max_unavailable.as_ref().unwrap_or(&zero);
            let surge = rolling.max_surge.as_ref().unwrap_or(&zero);
            check_rolling_update(errors, unavailable, surge, &path);
        }
        _ => {
            let supported = ["RollingUpdate", "OnDelete"];
            let shown = go_struct::shown(strategy);
            errors.push(FieldError::not_supported(path, shown, &supported));
        }
    }
}

fn check_rolling_update(
    errors: &mut Errors,
    unavailable: &IntOrString,
    surge: &IntOrString,
    path: &FieldPath,
) {
    let (at, surge_at) = (path.child("maxUnavailable"), path.child("maxSurge"));
    rules::count_or_percent(errors, unavailable, &at);
    rules::at_most_all(errors, unavailable, &at);
    rules::count_or_percent(errors, surge, &surge_at);
    rules::at_most_all(errors, surge, &surge_at);
    let has_unavailable = amount(unavailable) != 0;
    let has_surge = amount(surge) != 0;
    if has_unavailable && has_surge {
        let shown = kubist_apimachinery::BadValue::json(surge);
        let detail = "may not be set when maxUnavailable is non-zero";
        errors.push(FieldError::invalid(&surge_at, shown, detail));
    } else if !has_unavailable && !has_surge {
        let detail = "cannot be 0 when maxSurge is 0";
        errors.push(FieldError::required(&at, detail));
    }
}
