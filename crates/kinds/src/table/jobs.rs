//! Rows of Jobs and CronJobs.

use super::age::{age, human_duration, since};
use super::listing::bool_text;
use super::{cells, containers};
use kubist_api::batch::v1::{CronJob, Job};
use kubist_apimachinery::{Time, format_label_selector};
use serde_json::Value;

pub(super) fn job(object: &Job, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    cells![
        &*object.metadata.name,
        status(object),
        completions(object),
        duration(object, now),
        age(&object.metadata, now),
        containers::names(&spec.template.spec),
        containers::images(&spec.template.spec),
        format_label_selector(spec.selector.as_deref()),
    ]
}

fn status(job: &Job) -> &'static str {
    let is = |wanted: &str| {
        let mut conditions = job.status.conditions.iter();
        conditions.any(|it| it.type_ == wanted && it.status == "True")
    };
    if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if job.metadata.is_terminating() {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(job: &Job) -> String {
    let succeeded = job.status.succeeded;
    match (job.spec.completions, job.spec.parallelism) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, Some(parallelism @ 2..)) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn duration(job: &Job, now: Time) -> String {
    let end = job.status.completion_time.unwrap_or(now);
    job.status.start_time.map_or_else(String::new, |start| {
        human_duration(end.unix().saturating_sub(start.unix()))
    })
}

pub(super) fn cron_job(object: &CronJob, now: Time) -> Vec<Value> {
    let (spec, status) = (&object.spec, &object.status);
    let last = match status.last_schedule_time {
        None => "<none>".to_owned(),
        last => since(last, now),
    };
    let template = &spec.job_template.spec;
    cells![
        &*object.metadata.name,
        &*spec.schedule,
        spec.time_zone.as_deref().unwrap_or("<none>"),
        spec.suspend.map_or("<unset>", bool_text),
        status.active.len(),
        last,
        age(&object.metadata, now),
        containers::names(&template.template.spec),
        containers::images(&template.template.spec),
        format_label_selector(template.selector.as_deref()),
    ]
}
