//! Plans for every policy, limit and deadline.

use super::*;
use crate::kind::{CronJobSpec, CronJobStatus};
use kubist::api::batch::v1::{JobCondition, JobTemplateSpec};

fn at(minute: &str) -> Time {
    let text = format!("2026-01-01T{minute}Z");
    text.parse().expect(minute)
}

/// Every five minutes, created at midnight.
fn cron() -> CronJob {
    let spec = CronJobSpec {
        schedule: "*/5 * * * *".to_owned(),
        starting_deadline_seconds: None,
        concurrency_policy: ConcurrencyPolicy::Allow,
        suspend: false,
        job_template: JobTemplateSpec::default(),
        successful_jobs_history_limit: 3,
        failed_jobs_history_limit: 1,
    };
    let mut cron = CronJob::new("backup", spec);
    cron.metadata.creation_timestamp = Some(at("00:00:00"));
    cron
}

fn job(name: &str, time: &str, end: Option<&str>) -> Job {
    let mut job = Job::default();
    job.metadata.name = name.into();
    let time = at(time).to_string();
    let annotations = &mut job.metadata.annotations;
    annotations.insert(SCHEDULED_AT.into(), time.into());
    let conditions = end.into_iter().map(|end| JobCondition {
        type_: end.into(),
        status: CONDITION_TRUE.into(),
        ..JobCondition::default()
    });
    job.status.conditions = conditions.collect();
    job
}

fn planned(cron: &CronJob, jobs: &[Job], now: &str) -> Plan {
    let jobs: Vec<&Job> = jobs.iter().collect();
    plan(cron, &jobs, at(now)).expect("the schedule is one")
}

#[test]
fn a_job_starts_when_its_time_has_come_and_only_once() {
    let mut cron = cron();
    let plan = planned(&cron, &[], "00:04:59");
    assert_eq!((plan.start, plan.next), (None, Some(at("00:05:00"))));
    let plan = planned(&cron, &[], "00:05:00");
    assert_eq!(plan.start, Some(at("00:05:00")));
    assert_eq!(plan.next, Some(at("00:10:00")));
    // Known by the Job itself, or by the status when the Job is gone.
    let started = [job("a", "00:05:00", None)];
    assert_eq!(planned(&cron, &started, "00:06:00").start, None);
    cron.status = Some(CronJobStatus {
        last_schedule_time: Some(at("00:05:00")),
        ..CronJobStatus::default()
    });
    assert_eq!(planned(&cron, &[], "00:06:00").start, None);
    assert_eq!(planned(&cron, &[], "00:10:30").start, Some(at("00:10:00")));
}

#[test]
fn of_times_that_were_missed_only_the_newest_starts() {
    let plan = planned(&cron(), &[], "23:59:00");
    assert_eq!(plan.start, Some(at("23:55:00")));
}

#[test]
fn a_job_that_is_too_late_does_not_start() {
    let mut cron = cron();
    cron.spec.starting_deadline_seconds = Some(60);
    assert_eq!(planned(&cron, &[], "00:06:00").start, Some(at("00:05:00")));
    let late = planned(&cron, &[], "00:06:01");
    assert_eq!((late.start, late.next), (None, Some(at("00:10:00"))));
    cron.spec.starting_deadline_seconds = Some(i64::MAX);
    assert_eq!(planned(&cron, &[], "00:06:01").start, Some(at("00:05:00")));
}

#[test]
fn a_running_job_is_joined_waited_for_or_replaced() {
    let jobs = [
        job("a", "00:05:00", None),
        job("b", "00:05:00", Some("Failed")),
    ];
    let mut cron = cron();
    for (policy, start, deleted) in [
        (ConcurrencyPolicy::Allow, true, &[][..]),
        (ConcurrencyPolicy::Forbid, false, &[]),
        (ConcurrencyPolicy::Replace, true, &["a"]),
    ] {
        cron.spec.concurrency_policy = policy;
        let plan = planned(&cron, &jobs, "00:10:00");
        assert_eq!(plan.start.is_some(), start, "{policy:?}");
        assert_eq!(plan.delete, deleted, "{policy:?}");
    }
    // One that was held back starts when the other ends, and its time is not over.
    cron.spec.concurrency_policy = ConcurrencyPolicy::Forbid;
    let ended = [job("a", "00:05:00", Some("Complete"))];
    assert_eq!(
        planned(&cron, &ended, "00:13:00").start,
        Some(at("00:10:00"))
    );
}

#[test]
fn the_oldest_finished_jobs_go_also_while_it_is_suspended() {
    let mut cron = cron();
    cron.spec.suspend = true;
    cron.spec.successful_jobs_history_limit = 1;
    cron.spec.failed_jobs_history_limit = 0;
    let jobs = [
        job("new", "00:15:00", Some("Complete")),
        job("old", "00:05:00", Some("Complete")),
        job("bad", "00:10:00", Some("Failed")),
        job("running", "00:00:00", None),
    ];
    let plan = planned(&cron, &jobs, "00:30:00");
    assert_eq!(plan.delete, ["old", "bad"]);
    assert_eq!((plan.start, plan.next), (None, None));
}

#[test]
fn a_schedule_that_is_none_is_an_error_unless_suspended() {
    let mut cron = cron();
    cron.spec.schedule = "soon".to_owned();
    let error = plan(&cron, &[], at("00:05:00")).expect_err("it is none");
    assert!(error.to_string().contains("\"soon\""), "{error}");
    cron.spec.suspend = true;
    assert_eq!(planned(&cron, &[], "00:05:00"), Plan::default());
}
