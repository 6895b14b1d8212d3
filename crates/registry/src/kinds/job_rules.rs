//! What Jobs must satisfy.

use kubist_api::batch::v1::{Job, JobSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Selector, validate_label_selector};

use super::job::own_labels;
use super::pod_template_rules::check_template;
use super::rules::{self, Errors};
use super::{go_struct, job_policy_rules};

/// Completions of an indexed Job, and parallelism beside them, at most.
const INDEXED_MAX: i32 = 100_000;

/// Checks a new Job.
pub(super) fn check(job: &Job) -> Errors {
    let path = FieldPath::new("spec");
    let mut errors = generated_selector(job);
    check_spec(&mut errors, &job.spec, &path);
    let selector = job.spec.selector.as_deref();
    if let Some(selector) = selector.and_then(|it| Selector::try_from(it).ok()) {
        rules::template_matches(
            &mut errors,
            &selector,
            &job.spec.template,
            &path.child("template"),
        );
    }
    errors
}

/// Checks a change.
pub(super) fn check_update(new: &Job, old: &Job) -> Errors {
    let path = FieldPath::new("spec");
    let mut errors = check(new);
    let (now, before) = (&new.spec, &old.spec);
    let shown = |it: Option<i32>| it.map_or_else(BadValue::null, BadValue::from);
    // An elastic indexed Job may change both numbers together.
    let elastic = now.completion_mode.as_deref() == Some("Indexed")
        && now.completions == now.parallelism
        && before.completions.is_some() == now.completions.is_some();
    if !elastic {
        let path = path.child("completions");
        rules::immutable_value(
            &mut errors,
            now.completions,
            before.completions,
            &path,
            shown,
        );
    }
    let selector_path = path.child("selector");
    if now.selector != before.selector {
        let shown = now
            .selector
            .as_deref()
            .map_or_else(BadValue::null, |it| rules::shown(it));
        errors.push(FieldError::invalid(
            &selector_path,
            shown,
            "field is immutable",
        ));
    }
    template_stays(&mut errors, new, old, &path.child("template"));
    let mode = |spec: &JobSpec| spec.completion_mode.clone().unwrap_or_default();
    if mode(now) != mode(before) {
        let path = path.child("completionMode");
        errors.push(FieldError::invalid(&path, &mode(now), "field is immutable"));
    }
    let limit = (now.backoff_limit_per_index, before.backoff_limit_per_index);
    let path_limit = path.child("backoffLimitPerIndex");
    rules::immutable_value(&mut errors, limit.0, limit.1, &path_limit, shown);
    if now.managed_by != before.managed_by {
        let shown = now
            .managed_by
            .as_ref()
            .map_or_else(BadValue::null, BadValue::from);
        errors.push(FieldError::invalid(
            &path.child("managedBy"),
            shown,
            "field is immutable",
        ));
    }
    let policies = (&now.pod_failure_policy, &before.pod_failure_policy);
    let at = path.child("podFailurePolicy");
    rules::immutable_value(&mut errors, policies.0, policies.1, &at, |it| {
        it.as_deref()
            .map_or_else(BadValue::null, |it| go_struct::shown(it))
    });
    let policies = (&now.success_policy, &before.success_policy);
    let at = path.child("successPolicy");
    rules::immutable_value(&mut errors, policies.0, policies.1, &at, |it| {
        it.as_deref()
            .map_or_else(BadValue::null, |it| go_struct::shown(it))
    });
    errors
}

/// A Job that never started and is suspended may change where its Pods may run.
fn template_stays(errors: &mut Errors, new: &Job, old: &Job, path: &FieldPath) {
    let now = &new.spec.template;
    let mut before = old.spec.template.clone();
    let suspended = old.spec.suspend == Some(true) && old.status.start_time.is_none();
    if suspended {
        before
            .metadata
            .annotations
            .clone_from(&now.metadata.annotations);
        before.metadata.labels.clone_from(&now.metadata.labels);
        before
            .spec
            .node_selector
            .clone_from(&now.spec.node_selector);
        before.spec.affinity.clone_from(&now.spec.affinity);
        before.spec.tolerations.clone_from(&now.spec.tolerations);
        before
            .spec
            .scheduling_gates
            .clone_from(&now.spec.scheduling_gates);
        let pairs = before.spec.containers.iter_mut().zip(&now.spec.containers);
        pairs.for_each(|(before, now)| before.resources = now.resources.clone());
    }
    if old.spec.suspend == Some(true) {
        // Upstream compares the specs only, and names the field so.
        if before.spec != now.spec {
            let path = path.child("spec");
            let shown = go_struct::shown(&now.spec);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
    } else if before != *now {
        let shown = go_struct::pod_template(now);
        errors.push(FieldError::invalid(path, shown, "field is immutable"));
    }
}

/// Checks what a Job does, apart from how it finds its Pods.
pub(super) fn check_spec(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    for (name, value) in [
        ("parallelism", spec.parallelism.map(i64::from)),
        ("completions", spec.completions.map(i64::from)),
        ("activeDeadlineSeconds", spec.active_deadline_seconds),
        ("backoffLimit", spec.backoff_limit.map(i64::from)),
        (
            "ttlSecondsAfterFinished",
            spec.ttl_seconds_after_finished.map(i64::from),
        ),
        (
            "backoffLimitPerIndex",
            spec.backoff_limit_per_index.map(i64::from),
        ),
        ("maxFailedIndexes", spec.max_failed_indexes.map(i64::from)),
    ] {
        rules::optional_non_negative(errors, value, &path.child(name));
    }
    if spec.max_failed_indexes.is_some() && spec.backoff_limit_per_index.is_none() {
        let detail = "when maxFailedIndexes is specified";
        errors.push(FieldError::required(
            &path.child("backoffLimitPerIndex"),
            detail,
        ));
    }
    check_completion_mode(errors, spec, path);
    job_policy_rules::check(errors, spec, path);
    check_template(errors, &spec.template, &path.child("template"));
    let policy_path = path.child("template").child("spec").child("restartPolicy");
    match spec.template.spec.restart_policy.as_str() {
        "OnFailure" => {
            if spec.pod_failure_policy.is_some() {
                let detail = "only \"Never\" is supported when podFailurePolicy is specified";
                errors.push(FieldError::invalid(&policy_path, "OnFailure", detail));
            }
        }
        "Never" => {}
        "" | "Always" => {
            let detail = "valid values: \"OnFailure\", \"Never\"";
            errors.push(FieldError::required(&policy_path, detail));
        }
        other => {
            let supported = ["OnFailure", "Never"];
            errors.push(FieldError::not_supported(&policy_path, other, &supported));
        }
    }
    if let Some(policy) = &spec.pod_replacement_policy {
        let path = path.child("podReplacementPolicy");
        rules::one_of(errors, policy, &["Failed", "TerminatingOrFailed"], &path);
    }
}

fn check_completion_mode(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    let Some(mode) = &spec.completion_mode else {
        return;
    };
    if mode != "NonIndexed" && mode != "Indexed" {
        let path = path.child("completionMode");
        errors.push(FieldError::not_supported(
            &path,
            mode,
            &["NonIndexed", "Indexed"],
        ));
    }
    if mode == "Indexed" {
        if spec.completions.is_none() {
            let detail = "when completion mode is Indexed";
            errors.push(FieldError::required(&path.child("completions"), detail));
        }
        if let Some(value) = spec.parallelism.filter(|&it| it > INDEXED_MAX) {
            let detail = format!(
                "must be less than or equal to {INDEXED_MAX} when completion mode is Indexed"
            );
            errors.push(FieldError::invalid(
                &path.child("parallelism"),
                value,
                detail,
            ));
        }
        check_failed_indexes(errors, spec, path);
    } else if mode == "NonIndexed" {
        for (name, value) in [
            ("backoffLimitPerIndex", spec.backoff_limit_per_index),
            ("maxFailedIndexes", spec.max_failed_indexes),
        ] {
            if let Some(value) = value {
                let detail = "requires indexed completion mode";
                errors.push(FieldError::invalid(&path.child(name), value, detail));
            }
        }
    }
}

fn check_failed_indexes(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    let at = path.child("maxFailedIndexes");
    let Some(failed) = spec.max_failed_indexes else {
        return;
    };
    if spec.completions.is_some_and(|it| failed > it) {
        let detail = "must be less than or equal to completions";
        errors.push(FieldError::invalid(&at, failed, detail));
    }
    if failed > INDEXED_MAX {
        let detail = format!("must be less than or equal to {INDEXED_MAX}");
        errors.push(FieldError::invalid(&at, failed, detail));
    }
}

/// Without a selector of the user's own, the selector must be the one that was made.
fn generated_selector(job: &Job) -> Errors {
    let path = FieldPath::new("spec");
    let selector_path = path.child("selector");
    let mut errors = Vec::new();
    let Some(selector) = job.spec.selector.as_deref() else {
        errors.push(FieldError::required(&selector_path, ""));
        return errors;
    };
    errors.extend(validate_label_selector(selector, &selector_path, false));
    if job.spec.manual_selector == Some(true) {
        return errors;
    }
    let labels_path = path.child("template").child("metadata").child("labels");
    let labels = &job.spec.template.metadata.labels;
    for (key, value) in own_labels(job) {
        let path = labels_path.key(key);
        let detail = format!("must be '{value}'");
        match labels.get(key) {
            Some(found) if found == value => {}
            Some(_) => {
                let shown = BadValue::json(labels);
                errors.push(FieldError::invalid(&path, shown, detail));
            }
            None => errors.push(FieldError::required(&path, detail)),
        }
    }
    let expected = own_labels(job)[2];
    let generated = selector.match_expressions.is_empty()
        && selector.match_labels.len() == 1
        && selector.match_labels.get(expected.0) == Some(expected.1);
    if !generated {
        let detail = "`selector` not auto-generated";
        errors.push(FieldError::invalid(
            &selector_path,
            rules::shown(selector),
            detail,
        ));
    }
    errors
}
