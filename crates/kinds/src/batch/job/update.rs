//! Validation of Job updates.

use crate::batch::job;
use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use kubist_api::batch::v1::{Job, JobSpec};
use kubist_api::core::v1::{Affinity, Container, PodTemplateSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};

/// Checks the update of a Job. The new Job must be valid by itself.
pub(crate) fn check(new: &Job, old: &Job) -> Errors {
    let path = FieldPath::new("spec");
    let mut errors = Errors::new();
    // Upstream checks the spec again.
    job::validation::check_own_spec(&mut errors, new, Some(old));
    let (now, before) = (&new.spec, &old.spec);
    completions_stay(&mut errors, now, before, &path.child("completions"));
    let number = |it: Option<i32>| it.map_or_else(BadValue::null, BadValue::from);
    let at = path.child("selector");
    let selectors = (now.selector.as_deref(), before.selector.as_deref());
    rules::immutable_value(&mut errors, selectors.0, selectors.1, &at, |it| {
        it.map_or_else(BadValue::null, |it| rules::shown(it))
    });
    template_stays(&mut errors, new, old, &path.child("template"));
    let text = |it: Option<&str>| it.map_or_else(BadValue::null, BadValue::from);
    let word = |it: Option<&str>| it.map_or_else(BadValue::null, BadValue::json);
    let modes = (
        now.completion_mode.as_deref(),
        before.completion_mode.as_deref(),
    );
    let at = path.child("completionMode");
    rules::immutable_value(&mut errors, modes.0, modes.1, &at, word);
    let policies = (&now.pod_failure_policy, &before.pod_failure_policy);
    let at = path.child("podFailurePolicy");
    rules::immutable_value(&mut errors, policies.0, policies.1, &at, |it| {
        it.as_deref()
            .map_or_else(BadValue::null, |it| go_struct::shown(it))
    });
    let limits = (now.backoff_limit_per_index, before.backoff_limit_per_index);
    let at = path.child("backoffLimitPerIndex");
    rules::immutable_value(&mut errors, limits.0, limits.1, &at, number);
    let managers = (now.managed_by.as_deref(), before.managed_by.as_deref());
    let at = path.child("managedBy");
    rules::immutable_value(&mut errors, managers.0, managers.1, &at, text);
    let policies = (&now.success_policy, &before.success_policy);
    let at = path.child("successPolicy");
    rules::immutable_value(&mut errors, policies.0, policies.1, &at, |it| {
        it.as_deref()
            .map_or_else(BadValue::null, |it| go_struct::shown(it))
    });
    errors
}

/// Checks completions. Those of an indexed Job may change if parallelism is equal.
fn completions_stay(errors: &mut Errors, now: &JobSpec, before: &JobSpec, path: &FieldPath) {
    let number = |it: Option<i32>| it.map_or_else(BadValue::null, BadValue::from);
    let (completions, was) = (now.completions, before.completions);
    if now.completion_mode.as_deref() != Some("Indexed") {
        rules::immutable_value(errors, completions, was, path, number);
    } else if completions.is_some() && completions != was && completions != now.parallelism {
        let detail = "can only be modified in tandem with spec.parallelism";
        errors.push(FieldError::invalid(path, number(completions), detail));
    }
}

/// Checks the template. A suspended Job without Pods may change scheduling fields and resources.
fn template_stays(errors: &mut Errors, new: &Job, old: &Job, path: &FieldPath) {
    let now = &new.spec.template;
    let mut before = old.spec.template.clone();
    if is_idle(old) {
        copy_scheduling_fields(&mut before, now);
        copy_resources(&mut before.spec.containers, &now.spec.containers);
        copy_resources(&mut before.spec.init_containers, &now.spec.init_containers);
        // Upstream compares the specs only, and reports this field.
        if before.spec != now.spec {
            let path = path.child("spec");
            let shown = go_struct::shown_pod_spec(&now.spec);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
    } else if before != *now {
        let shown = go_struct::pod_template(now);
        errors.push(FieldError::invalid(path, shown, "field is immutable"));
    }
}

/// Reports whether a Job is suspended and has no Pods.
fn is_idle(job: &Job) -> bool {
    let mut conditions = job.status.conditions.iter();
    let stopped = conditions.any(|it| it.type_ == "Suspended" && it.status == "True");
    let waits = job.status.start_time.is_none() || stopped;
    job.spec.suspend == Some(true) && waits && job.status.active == 0
}

fn copy_scheduling_fields(before: &mut PodTemplateSpec, now: &PodTemplateSpec) {
    let (spec, now_spec) = (&mut before.spec, &now.spec);
    match (&mut spec.affinity, &now_spec.affinity) {
        (Some(before), None) => {
            before.node_affinity = None;
            if **before == Affinity::default() {
                spec.affinity = None;
            }
        }
        (None, Some(now)) => {
            spec.affinity = Some(Box::new(Affinity {
                node_affinity: now.node_affinity.clone(),
                ..Affinity::default()
            }));
        }
        (Some(before), Some(now)) => before.node_affinity.clone_from(&now.node_affinity),
        (None, None) => {}
    }
    spec.node_selector.clone_from(&now_spec.node_selector);
    spec.tolerations.clone_from(&now_spec.tolerations);
    spec.scheduling_gates.clone_from(&now_spec.scheduling_gates);
    let (metadata, now) = (&mut before.metadata, &now.metadata);
    metadata.annotations.clone_from(&now.annotations);
    metadata.labels.clone_from(&now.labels);
}

fn copy_resources(before: &mut [Container], now: &[Container]) {
    if before.len() != now.len() {
        return;
    }
    for (before, now) in before.iter_mut().zip(now) {
        if before.name == now.name {
            before.resources = now.resources.clone();
        }
    }
}
