//! CronJobs.

use crate::{Generation, KindStrategy, NameRule, StatusKeeps};
use kubist_api::batch::v1::{CronJob, CronJobSpec};
use kubist_apimachinery::{FieldError, FieldPath};

use super::cron_schedule;
use super::fill;
use super::job_rules;
use super::pod_defaults::default_pod_template;
use super::rules::{self, Errors};

#[derive(Debug)]
pub(super) struct CronJobs;

/// Eleven characters of a Job's name are the time.
const NAME_LENGTH_MAX: usize = 52;

impl KindStrategy for CronJobs {
    type Kind = CronJob;

    fn apply_defaults(&self, object: &mut CronJob) {
        let spec = &mut object.spec;
        default_pod_template(&mut spec.job_template.spec.template);
        fill::text(&mut spec.concurrency_policy, "Allow");
        spec.suspend.get_or_insert(false);
        spec.successful_jobs_history_limit.get_or_insert(3);
        spec.failed_jobs_history_limit.get_or_insert(1);
    }
    fn validate(&self, new: &CronJob) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_spec(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
    fn name_rule(&self) -> NameRule {
        NameRule::ShortSubdomain(NAME_LENGTH_MAX)
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
}

fn check_spec(errors: &mut Errors, spec: &CronJobSpec, path: &FieldPath) {
    let schedule_path = path.child("schedule");
    if spec.schedule.is_empty() {
        errors.push(FieldError::required(&schedule_path, ""));
    } else if let Err(problem) = check_schedule(spec) {
        errors.push(FieldError::invalid(&schedule_path, &spec.schedule, problem));
    }
    rules::optional_non_negative(
        errors,
        spec.starting_deadline_seconds,
        &path.child("startingDeadlineSeconds"),
    );
    let path_policy = path.child("concurrencyPolicy");
    match spec.concurrency_policy.as_str() {
        "" => errors.push(FieldError::required(&path_policy, "")),
        policy => rules::one_of(
            errors,
            policy,
            &["Allow", "Forbid", "Replace"],
            &path_policy,
        ),
    }
    check_time_zone(errors, spec, &path.child("timeZone"));
    for (name, limit) in [
        (
            "successfulJobsHistoryLimit",
            spec.successful_jobs_history_limit,
        ),
        ("failedJobsHistoryLimit", spec.failed_jobs_history_limit),
    ] {
        rules::optional_non_negative(errors, limit, &path.child(name));
    }
    let job = &spec.job_template.spec;
    let path = path.child("jobTemplate").child("spec");
    job_rules::check_spec(errors, job, &path);
    if job.selector.is_some() {
        let detail = "`selector` will be auto-generated";
        let shown = job
            .selector
            .as_deref()
            .map(|it| rules::shown(it))
            .unwrap_or_default();
        errors.push(FieldError::invalid(&path.child("selector"), shown, detail));
    }
    if job.manual_selector == Some(true) {
        let path = path.child("manualSelector");
        errors.push(FieldError::not_supported(&path, true, &["nil", "false"]));
    }
}

fn check_schedule(spec: &CronJobSpec) -> Result<(), String> {
    if spec.schedule.contains("TZ") {
        let has_field = spec.time_zone.is_some();
        return Err(if has_field {
            "cannot use both timeZone field and TZ or CRON_TZ in schedule".to_owned()
        } else {
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead".to_owned()
        });
    }
    cron_schedule::check(&spec.schedule)
}

fn check_time_zone(errors: &mut Errors, spec: &CronJobSpec, path: &FieldPath) {
    let Some(zone) = &spec.time_zone else {
        return;
    };
    if zone.is_empty() {
        let detail = "timeZone must be nil or non-empty string";
        errors.push(FieldError::invalid(path, zone, detail));
    } else if zone.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in \
                      https://www.iana.org/time-zones";
        errors.push(FieldError::invalid(path, zone, detail));
    } else if jiff::tz::TimeZone::get(zone).is_err() {
        errors.push(FieldError::invalid(
            path,
            zone,
            format!("unknown time zone {zone}"),
        ));
    }
}
