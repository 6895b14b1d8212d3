//! Tests of Job status updates, with upstream's error texts.

use super::*;
use kubist_api::batch::v1::{JobCondition, UncountedTerminatedPods};

fn at(text: &str) -> Time {
    text.parse().expect("a time")
}

const START: &str = "2020-01-02T03:04:05Z";

fn status(conditions: &[&str]) -> JobStatus {
    let condition = |kind: &&str| JobCondition {
        type_: (*kind).into(),
        status: "True".into(),
        ..JobCondition::default()
    };
    JobStatus {
        conditions: conditions.iter().map(condition).collect(),
        ..JobStatus::default()
    }
}

fn started(conditions: &[&str]) -> JobStatus {
    JobStatus {
        start_time: Some(at(START)),
        ..status(conditions)
    }
}

fn step(old: JobStatus, new: JobStatus) -> Vec<String> {
    let mut before = Job::default();
    before.spec.completions = Some(3);
    before.status = old;
    let mut now = before.clone();
    now.status = new;
    problems(&now, &before)
}

fn problems(new: &Job, old: &Job) -> Vec<String> {
    check(new, old).iter().map(ToString::to_string).collect()
}

#[test]
fn a_job_completes_with_its_criteria_and_a_time() {
    assert_eq!(
        step(JobStatus::default(), started(&["Complete"])),
        [
            "status.completionTime: Required value: completionTime is required for Complete jobs",
            "status.conditions: Invalid value: cannot set Complete=True condition without the \
             SuccessCriteriaMet=true condition",
        ]
    );
    let mut fine = started(&["SuccessCriteriaMet", "Complete"]);
    fine.completion_time = Some(at(START));
    assert_eq!(step(JobStatus::default(), fine.clone()), [""; 0]);
    let mut early = fine.clone();
    early.completion_time = Some(at("2019-01-01T00:00:00Z"));
    assert_eq!(
        step(JobStatus::default(), early),
        [
            "status.completionTime: Invalid value: \"2019-01-01T00:00:00Z\": must be equal to or \
             after `startTime`"
        ]
    );
    fine.start_time = None;
    assert_eq!(
        step(JobStatus::default(), fine),
        ["status.startTime: Required value: startTime is required for finished job"]
    );
    let mut only_time = started(&[]);
    only_time.completion_time = Some(at(START));
    assert_eq!(
        step(JobStatus::default(), only_time),
        [format!(
            "status.completionTime: Invalid value: \"{START}\": cannot set completionTime when \
             there is no Complete=True condition"
        )]
    );
}

#[test]
fn a_job_fails_after_it_was_meant_to() {
    assert_eq!(
        step(JobStatus::default(), started(&["Failed"])),
        [
            "status.conditions: Invalid value: cannot set Failed=True condition without the \
             FailureTarget=true condition"
        ]
    );
    let both = started(&["FailureTarget", "Failed"]);
    assert_eq!(step(JobStatus::default(), both.clone()), [""; 0]);
    let disable = "status.conditions: Invalid value: cannot disable the terminal";
    assert_eq!(
        step(both, started(&[])),
        [
            format!("{disable} Failed=True condition"),
            format!("{disable} FailureTarget=True condition"),
        ]
    );
    // A stored status may break a rule if the broken field does not change.
    let stored = started(&["Failed"]);
    let mut counted = stored.clone();
    counted.failed = 1;
    assert_eq!(step(stored, counted), [""; 0]);
}

#[test]
fn pods_wait_to_be_counted_once() {
    let mut new = status(&[]);
    new.uncounted_terminated_pods = Some(Box::new(UncountedTerminatedPods {
        succeeded: vec!["a".into(), "a".into()],
        failed: vec!["".into(), "a".into()],
    }));
    let at = "status.uncountedTerminatedPods";
    assert_eq!(
        step(JobStatus::default(), new),
        [
            format!("{at}.succeeded[1]: Duplicate value: \"a\""),
            format!("{at}.failed[0]: Invalid value: \"\": must not be empty"),
            format!("{at}.failed[1]: Duplicate value: \"a\""),
        ]
    );
}

#[test]
fn nothing_of_a_finished_job_runs() {
    let mut new = started(&["FailureTarget", "Failed"]);
    new.active = 1;
    new.terminating = Some(2);
    new.uncounted_terminated_pods = Some(Box::new(UncountedTerminatedPods {
        succeeded: vec!["a".into()],
        failed: Vec::new(),
    }));
    assert_eq!(
        step(JobStatus::default(), new),
        [
            "status.active: Invalid value: 1: active>0 is invalid for finished job",
            "status.uncountedTerminatedPods: Invalid value: {\"Succeeded\":[\"a\"],\"Failed\":\
             null}: must be empty for finished job",
            "status.terminating: Invalid value: 2: terminating>0 is invalid for finished job",
        ]
    );
}

#[test]
fn only_indexed_jobs_list_indexes() {
    let mut new = started(&[]);
    new.completed_indexes = "0-1,5".into();
    new.failed_indexes = Some("x".into());
    new.ready = Some(3);
    assert_eq!(
        step(JobStatus::default(), new),
        [
            "status.completedIndexes: Invalid value: \"0-1,5\": error parsing completedIndexes: \
             too large index: \"5\"",
            "status.completedIndexes: Invalid value: \"0-1,5\": cannot set non-empty \
             completedIndexes when non-indexed completion mode",
            "status.failedIndexes: Invalid value: \"x\": cannot set non-null failedIndexes when \
             backoffLimitPerIndex is null",
            "status.ready: Invalid value: 3: cannot set more ready pods than active",
        ]
    );
    let mut old = Job::default();
    old.spec.completions = Some(3);
    old.spec.completion_mode = Some("Indexed".into());
    old.spec.backoff_limit_per_index = Some(1);
    let mut new = old.clone();
    new.status.completed_indexes = "0-1".into();
    new.status.failed_indexes = Some("1".into());
    assert_eq!(
        problems(&new, &old),
        [
            "status.failedIndexes: Invalid value: \"1\": failedIndexes and completedIndexes \
             overlap at index: 1"
        ]
    );
}

#[test]
fn counters_and_times_stay() {
    let mut old = started(&["SuccessCriteriaMet", "Complete"]);
    old.completion_time = Some(at(START));
    (old.succeeded, old.failed) = (2, 2);
    let mut new = old.clone();
    (new.succeeded, new.failed) = (1, 1);
    new.start_time = Some(at("2020-01-01T00:00:00Z"));
    new.completion_time = Some(at("2020-01-03T00:00:00Z"));
    assert_eq!(
        step(old, new),
        [
            "status.failed: Invalid value: 1: cannot decrease the failed counter",
            "status.succeeded: Invalid value: 1: cannot decrease the succeeded counter",
            "status.completionTime: Invalid value: \"2020-01-03T00:00:00Z\": field is immutable",
            "status.startTime: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable for \
             unsuspended job once set",
        ]
    );
}
