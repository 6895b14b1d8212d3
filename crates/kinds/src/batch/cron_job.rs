//! CronJobs.

pub(crate) mod schedule;

use crate::batch::job;
use crate::pod_spec::defaults::default_pod_template;
use crate::pod_spec::template::Template;
use crate::pod_spec::{self, disabled_fields};
use crate::shared::fill;
use crate::shared::rules::{self, Errors};
use kubist_api::batch::v1::{CronJob, CronJobSpec, JobSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use kubist_registry::{
    ForKind, Generation, KindStrategy, MetadataUpdate, NameRule, RequestContext, StatusKeeps,
    Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct CronJobs;

/// The maximum name length. The names of its Jobs end with eleven characters for the time.
const NAME_LENGTH_MAX: usize = 52;

impl KindStrategy for CronJobs {
    type Kind = CronJob;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::ShortSubdomain(NAME_LENGTH_MAX),
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(CronJobsStatus))
    }
    fn apply_defaults(&self, object: &mut CronJob) {
        let spec = &mut object.spec;
        default_pod_template(&mut spec.job_template.spec.template);
        fill::text(&mut spec.concurrency_policy, "Allow");
        spec.suspend.get_or_insert(false);
        spec.successful_jobs_history_limit.get_or_insert(3);
        spec.failed_jobs_history_limit.get_or_insert(1);
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut CronJob) {
        let spec = &mut new.spec.job_template.spec.template.spec;
        disabled_fields::drop_from(spec, None);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut CronJob, old: &CronJob) {
        let old = &old.spec.job_template.spec.template.spec;
        let spec = &mut new.spec.job_template.spec.template.spec;
        disabled_fields::drop_from(spec, Some(old));
    }
    fn warnings(&self, new: &CronJob, old: Option<&CronJob>) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        let path = FieldPath::new("spec").child("jobTemplate");
        let path = path.child("spec").child("template");
        let template = &new.spec.job_template.spec.template;
        let mut found = pod_spec::warnings::of_named(meta, before, template, &path);
        if old.is_some() && new.spec.schedule.contains("TZ") {
            // This is upstream's path.
            found.push(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more \
                 details"
                    .to_owned(),
            );
        }
        found
    }
    fn validate(&self, new: &CronJob) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_spec(&mut errors, &new.spec, None, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(&self, new: &CronJob, old: &CronJob) -> Vec<FieldError> {
        let (mut errors, path) = (Vec::new(), FieldPath::new("spec"));
        check_spec(&mut errors, &new.spec, Some(&old.spec), &path);
        errors
    }
}

/// The `status` subresource of [`CronJobs`]. Upstream does not validate it.
#[derive(Debug)]
struct CronJobsStatus;

impl KindStrategy for CronJobsStatus {
    type Kind = CronJob;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Own,
        ..StrategyFacts::PLAIN
    };
}

fn check_spec(
    errors: &mut Errors,
    spec: &CronJobSpec,
    old: Option<&CronJobSpec>,
    path: &FieldPath,
) {
    let schedule_path = path.child("schedule");
    if spec.schedule.is_empty() {
        errors.push(FieldError::required(&schedule_path, ""));
    } else {
        let had_zone = old.is_some_and(|it| it.schedule.contains("TZ"));
        check_schedule(errors, spec, had_zone, &schedule_path);
    }
    rules::optional_non_negative(
        errors,
        spec.starting_deadline_seconds,
        &path.child("startingDeadlineSeconds"),
    );
    if old.is_none_or(|old| old.time_zone != spec.time_zone) {
        check_time_zone(errors, spec, &path.child("timeZone"));
    }
    let supported = ["Allow", "Forbid", "Replace"];
    let at = path.child("concurrencyPolicy");
    rules::word(errors, &spec.concurrency_policy, &supported, &at);
    let template = Template {
        new: &spec.job_template.spec.template,
        old: old.map(|it| &it.job_template.spec.template),
    };
    check_job(errors, &spec.job_template.spec, template, path);
    for (name, limit) in [
        (
            "successfulJobsHistoryLimit",
            spec.successful_jobs_history_limit,
        ),
        ("failedJobsHistoryLimit", spec.failed_jobs_history_limit),
    ] {
        rules::optional_non_negative(errors, limit, &path.child(name));
    }
}

/// Checks the Job template, whose selector must be generated.
fn check_job(errors: &mut Errors, job: &JobSpec, template: Template<'_>, path: &FieldPath) {
    let path = path.child("jobTemplate").child("spec");
    job::validation::check_spec(errors, job, template, &path);
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

/// Checks the schedule. A time zone in the schedule predates the `timeZone` field.
fn check_schedule(errors: &mut Errors, spec: &CronJobSpec, had_zone: bool, path: &FieldPath) {
    let schedule = &spec.schedule;
    if let Err(problem) = schedule::check(schedule) {
        errors.push(FieldError::invalid(path, schedule, problem));
    }
    if !schedule.contains("TZ") {
        return;
    }
    let detail = if !had_zone {
        "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
    } else if spec.time_zone.is_some() {
        "cannot use both timeZone field and TZ or CRON_TZ in schedule"
    } else {
        return;
    };
    errors.push(FieldError::invalid(path, schedule, detail));
}

fn check_time_zone(errors: &mut Errors, spec: &CronJobSpec, path: &FieldPath) {
    let Some(zone) = &spec.time_zone else {
        return;
    };
    let unknown = || {
        let shown = BadValue::json(zone);
        FieldError::invalid(path, shown, format!("unknown time zone {zone}"))
    };
    if zone.is_empty() {
        let detail = "timeZone must be nil or non-empty string";
        errors.push(FieldError::invalid(path, zone, detail));
        return;
    }
    if !zone.split('/').all(is_zone_part) {
        errors.push(unknown());
        return;
    }
    let local = zone.eq_ignore_ascii_case("local");
    if local {
        let detail = "timeZone must be an explicit time zone as defined in \
                      https://www.iana.org/time-zones";
        errors.push(FieldError::invalid(path, zone, detail));
    }
    if zone != "Local" && !schedule::is_zone(zone) {
        errors.push(unknown());
    }
}

/// Reports whether a string can be part of a time zone name.
fn is_zone_part(part: &str) -> bool {
    let allowed = |it: u8| it.is_ascii_alphanumeric() || b".-_+".contains(&it);
    (1..=14).contains(&part.len())
        && !matches!(part, "." | "..")
        && !part.starts_with('-')
        && part.bytes().all(allowed)
}
