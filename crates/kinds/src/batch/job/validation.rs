//! Validation of Jobs.

use crate::batch::job::{self, own_labels};
use crate::pod_spec::template::{Template, check_template};
use crate::shared::rules::{self, Errors};
use kubist_api::batch::v1::{Job, JobSpec};
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, Selector, validate_label_selector, validate_name,
};

/// The maximum number of completions and the maximum parallelism of an indexed Job. Above it, the
/// limits for Jobs with a backoff limit per index are stricter.
const INDEXED_MAX: i32 = 100_000;
/// The maximum parallelism and the maximum number of failed indexes of such a Job.
const LARGE_MAX: i32 = 10_000;
/// The maximum length of the `managedBy` field in characters.
const MANAGER_LENGTH_MAX: usize = 63;

/// Checks a Job. `old` is the stored one on update.
pub(crate) fn check(job: &Job, old: Option<&Job>) -> Errors {
    let mut errors = generated_selector(job, old);
    check_own_spec(&mut errors, job, old);
    check_pod_names(&mut errors, job);
    errors
}

/// Checks the spec of a Job, with its selector.
pub(crate) fn check_own_spec(errors: &mut Errors, job: &Job, old: Option<&Job>) {
    let path = FieldPath::new("spec");
    let template = Template {
        new: &job.spec.template,
        old: old.map(|it| &it.spec.template),
    };
    check_spec(errors, &job.spec, template, &path);
    check_selector(errors, &job.spec, &path);
}

/// Checks that the selector matches the template, whether it is generated or not.
fn check_selector(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    let at = path.child("selector");
    let selector = if let Some(selector) = spec.selector.as_deref() {
        errors.extend(validate_label_selector(selector, &at, false));
        Selector::try_from(selector).ok()
    } else {
        errors.push(FieldError::required(&at, ""));
        Some(Selector::nothing())
    };
    if let Some(selector) = selector {
        let path = path.child("template");
        rules::template_matches(errors, &selector, &spec.template, &path);
    }
}

/// Checks the name of an indexed Job. Each Pod is named after its index, and the name must be a
/// valid host name.
fn check_pod_names(errors: &mut Errors, job: &Job) {
    let indexed = job.spec.completion_mode.as_deref() == Some("Indexed");
    let completions = job.spec.completions.filter(|&it| indexed && it > 0);
    if let Some(completions) = completions {
        let name = &job.metadata.name;
        let last = format!("{name}-{}", completions - 1);
        if !validate_name::dns1123_label(&last).is_empty() {
            let path = FieldPath::new("metadata").child("name");
            let detail = format!("will not able to create pod with invalid DNS label: {last}");
            errors.push(FieldError::invalid(&path, name, detail));
        }
    }
}

/// Checks the spec of a Job without its selector.
pub(crate) fn check_spec(
    errors: &mut Errors,
    spec: &JobSpec,
    template: Template<'_>,
    path: &FieldPath,
) {
    check_numbers(errors, spec, path);
    if let Some(manager) = &spec.managed_by {
        let path = path.child("managedBy");
        rules::domain_prefixed_path(errors, manager, &path);
        if manager.len() > MANAGER_LENGTH_MAX {
            errors.push(FieldError::too_long(&path, MANAGER_LENGTH_MAX));
        }
    }
    check_completion_mode(errors, spec, path);
    job::policies::check(errors, spec, path);
    check_replacement(errors, spec, &path.child("podReplacementPolicy"));
    check_template(errors, template, &path.child("template"));
    let at = path.child("template").child("spec").child("restartPolicy");
    check_restart_policy(errors, spec, &at);
}

fn check_numbers(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
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
}

/// Checks the Pod replacement policy.
fn check_replacement(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    let supported: &[&str] = if spec.pod_failure_policy.is_some() {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    if let Some(policy) = &spec.pod_replacement_policy {
        rules::one_of(errors, policy, supported, path);
    }
}

fn check_restart_policy(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    match spec.template.spec.restart_policy.as_str() {
        "OnFailure" => {
            if spec.pod_failure_policy.is_some() {
                let detail = "only \"Never\" is supported when podFailurePolicy is specified";
                errors.push(FieldError::invalid(path, "OnFailure", detail));
            }
        }
        "Never" => {}
        "" | "Always" => {
            let detail = "valid values: \"OnFailure\", \"Never\"";
            errors.push(FieldError::required(path, detail));
        }
        other => {
            let supported = ["OnFailure", "Never"];
            errors.push(FieldError::not_supported(path, other, &supported));
        }
    }
}

fn check_completion_mode(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    let mode = spec.completion_mode.as_deref().unwrap_or("NonIndexed");
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
        check_large(errors, spec, path);
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

/// Checks the stricter limits of Jobs with many indexes and a backoff limit per index.
fn check_large(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    let large = spec.completions.is_some_and(|it| it > INDEXED_MAX);
    if !large || spec.backoff_limit_per_index.is_none() {
        return;
    }
    let failed = path.child("maxFailedIndexes");
    if spec.max_failed_indexes.is_none() {
        let detail = format!("must be specified when completions is above {INDEXED_MAX}");
        errors.push(FieldError::required(&failed, detail));
    }
    for (value, path) in [
        (spec.parallelism, path.child("parallelism")),
        (spec.max_failed_indexes, failed),
    ] {
        if let Some(value) = value.filter(|&it| it > LARGE_MAX) {
            let detail = format!(
                "must be less than or equal to {LARGE_MAX} when completions are above \
                 {INDEXED_MAX} and used with backoff limit per index"
            );
            errors.push(FieldError::invalid(&path, value, detail));
        }
    }
}

/// Checks a generated selector: the template has the generated labels, and the selector selects
/// them. Older templates have only the unprefixed labels.
fn generated_selector(job: &Job, old: Option<&Job>) -> Errors {
    let mut errors = Vec::new();
    let Some(selector) = job.spec.selector.as_deref() else {
        return errors;
    };
    if job.spec.manual_selector == Some(true) {
        return errors;
    }
    let path = FieldPath::new("spec");
    let labels_path = path.child("template").child("metadata").child("labels");
    let labels = &job.spec.template.metadata.labels;
    let expected = own_labels(job);
    let prefixed = old.is_none_or(|old| {
        let before = &old.spec.template.metadata.labels;
        let mut prefixed = expected[2..].iter();
        prefixed.all(|(key, _)| before.contains_key(*key))
    });
    let expected = if prefixed {
        &expected[..]
    } else {
        &expected[..2]
    };
    for &(key, value) in expected {
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
    let expected = expected
        .iter()
        .map(|&(key, value)| (key.into(), value.clone()));
    let expected = expected.collect();
    if Selector::try_from(selector).is_ok_and(|it| !it.matches_labels(&expected)) {
        let detail = "`selector` not auto-generated";
        let path = path.child("selector");
        errors.push(FieldError::invalid(&path, rules::shown(selector), detail));
    }
    errors
}
