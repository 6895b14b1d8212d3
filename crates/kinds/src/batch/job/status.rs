//! Validation of Job status updates.
//!
//! As upstream, most rules check only what changes. A stored status may break them, for example
//! after a change of the spec.

use crate::batch::job;
use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use kubist_api::batch::v1::{Job, JobStatus};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, Time};

/// The true conditions of a Job that the rules use.
#[derive(Clone, Copy, Debug)]
struct True {
    complete: bool,
    failed: bool,
    failure_target: bool,
    success_criteria: bool,
}

impl True {
    fn of(status: &JobStatus) -> Self {
        Self {
            complete: is(status, "Complete", "True"),
            failed: is(status, "Failed", "True"),
            failure_target: is(status, "FailureTarget", "True"),
            success_criteria: is(status, "SuccessCriteriaMet", "True"),
        }
    }

    fn finished(self) -> bool {
        self.complete || self.failed
    }
}

fn is(status: &JobStatus, kind: &str, value: &str) -> bool {
    let mut conditions = status.conditions.iter();
    conditions.any(|it| it.type_ == kind && it.status == value)
}

/// A change of a Job's status.
#[derive(Clone, Copy, Debug)]
struct Change<'a> {
    job: &'a Job,
    new: &'a JobStatus,
    old: &'a JobStatus,
    now: True,
    before: True,
}

impl Change<'_> {
    fn finished(&self) -> bool {
        self.now.finished() != self.before.finished()
    }

    fn complete(&self) -> bool {
        self.now.complete != self.before.complete
    }

    fn failed(&self) -> bool {
        self.now.failed != self.before.failed
    }

    fn start_time(&self) -> bool {
        self.new.start_time != self.old.start_time
    }

    fn completion_time(&self) -> bool {
        self.new.completion_time != self.old.completion_time
    }

    fn completed_indexes(&self) -> bool {
        self.new.completed_indexes != self.old.completed_indexes
    }

    fn failed_indexes(&self) -> bool {
        self.new.failed_indexes != self.old.failed_indexes
    }

    fn active(&self) -> bool {
        self.new.active != self.old.active
    }

    fn is_indexed(&self) -> bool {
        self.job.spec.completion_mode.as_deref() == Some("Indexed")
    }
}

/// Checks a change of the status.
pub(crate) fn check(new: &Job, old: &Job) -> Errors {
    let mut errors = Errors::new();
    let path = FieldPath::new("status");
    let change = Change {
        job: new,
        new: &new.status,
        old: &old.status,
        now: True::of(&new.status),
        before: True::of(&old.status),
    };
    check_numbers(&mut errors, &new.status, &path);
    check_uncounted(&mut errors, &new.status, &path);
    check_end(&mut errors, change, &path);
    check_finished(&mut errors, change, &path);
    check_indexes(&mut errors, change, &path);
    check_running(&mut errors, change, &path);
    check_success(&mut errors, change, &path.child("conditions"));
    check_steps(&mut errors, change, &path);
    errors
}

fn refuse(errors: &mut Errors, path: &FieldPath, detail: &'static str) {
    errors.push(FieldError::invalid(path, BadValue::omitted(), detail));
}

fn time(time: Option<Time>) -> BadValue {
    time.map_or_else(BadValue::null, |it| BadValue::json(&it))
}

fn check_numbers(errors: &mut Errors, status: &JobStatus, path: &FieldPath) {
    for (name, value) in [
        ("active", Some(status.active)),
        ("succeeded", Some(status.succeeded)),
        ("failed", Some(status.failed)),
        ("ready", status.ready),
        ("terminating", status.terminating),
    ] {
        rules::optional_non_negative(errors, value, &path.child(name));
    }
}

/// Checks that each uncounted Pod is listed once.
fn check_uncounted(errors: &mut Errors, status: &JobStatus, path: &FieldPath) {
    let Some(uncounted) = &status.uncounted_terminated_pods else {
        return;
    };
    let (succeeded, failed) = (&uncounted.succeeded, &uncounted.failed);
    let path = path.child("uncountedTerminatedPods");
    let paths = [path.child("succeeded"), path.child("failed")];
    let place = |at: usize| match at.checked_sub(succeeded.len()) {
        None => paths[0].index(at),
        Some(at) => paths[1].index(at),
    };
    let all = || succeeded.iter().chain(failed);
    let repeated = rules::repeats(all());
    for (index, uid) in all().enumerate() {
        if uid.is_empty() {
            let detail = "must not be empty";
            errors.push(FieldError::invalid(&place(index), uid, detail));
        } else if repeated[index] {
            errors.push(FieldError::duplicate(&place(index), uid));
        }
    }
}

/// Checks how a Job finishes: either complete or failed, with matching times.
fn check_end(errors: &mut Errors, change: Change<'_>, path: &FieldPath) {
    let (now, before, status) = (change.now, change.before, change.new);
    let conditions = path.child("conditions");
    if (change.complete() || change.failed()) && now.complete && now.failed {
        let detail = "cannot set Complete=True and Failed=true conditions";
        refuse(errors, &conditions, detail);
    }
    let target = now.failure_target != before.failure_target;
    if (change.complete() || target) && now.complete && now.failure_target {
        let detail = "cannot set Complete=True and FailureTarget=true conditions";
        refuse(errors, &conditions, detail);
    }
    let at = path.child("completionTime");
    let (start, end) = (status.start_time, status.completion_time);
    if change.complete() || change.completion_time() {
        if end.is_some() && !now.complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            errors.push(FieldError::invalid(&at, time(end), detail));
        }
        if end.is_none() && now.complete {
            let detail = "completionTime is required for Complete jobs";
            errors.push(FieldError::required(&at, detail));
        }
    }
    if (change.start_time() || change.completion_time())
        && start.is_some_and(|start| end.is_some_and(|end| end < start))
    {
        let detail = "must be equal to or after `startTime`";
        errors.push(FieldError::invalid(&at, time(end), detail));
    }
    if (change.failed() || change.failed_indexes()) && now.failed && !now.failure_target {
        let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
        refuse(errors, &conditions, detail);
    }
    let criteria = now.success_criteria != before.success_criteria;
    if (change.complete() || criteria) && now.complete && !now.success_criteria {
        let detail =
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        refuse(errors, &conditions, detail);
    }
}

/// Checks that a finished Job has no active or uncounted Pods.
fn check_finished(errors: &mut Errors, change: Change<'_>, path: &FieldPath) {
    let (status, spec) = (change.new, &change.job.spec);
    if !change.now.finished() {
        return;
    }
    if (change.finished() || change.active()) && status.active > 0 {
        let path = path.child("active");
        let detail = "active>0 is invalid for finished job";
        errors.push(FieldError::invalid(&path, status.active, detail));
    }
    let never_starts = spec.suspend == Some(true) && spec.completions == Some(0);
    if (change.finished() || change.start_time()) && status.start_time.is_none() && !never_starts {
        let detail = "startTime is required for finished job";
        errors.push(FieldError::required(&path.child("startTime"), detail));
    }
    let uncounted = &status.uncounted_terminated_pods;
    if let Some(pods) = uncounted
        && (change.finished() || *uncounted != change.old.uncounted_terminated_pods)
        && !(pods.failed.is_empty() && pods.succeeded.is_empty())
    {
        let path = path.child("uncountedTerminatedPods");
        let detail = "must be empty for finished job";
        errors.push(FieldError::invalid(
            &path,
            go_struct::shown(&**pods),
            detail,
        ));
    }
}

/// Checks index lists: only indexed Jobs have them, and `failedIndexes` requires a backoff limit
/// per index.
fn check_indexes(errors: &mut Errors, change: Change<'_>, path: &FieldPath) {
    let (status, spec) = (change.new, &change.job.spec);
    let completed = &status.completed_indexes;
    let completed_path = path.child("completedIndexes");
    let failed = status.failed_indexes.as_ref();
    let failed_path = path.child("failedIndexes");
    let limited = spec.backoff_limit_per_index.is_some();
    let mut parses = |name: &str, list: &Str, path: &FieldPath| {
        let problem = |most| job::indexes::problem(list, most);
        if let Some(problem) = spec.completions.and_then(problem) {
            let detail = format!("error parsing {name}: {problem}");
            errors.push(FieldError::invalid(path, list, detail));
        }
    };
    if change.completed_indexes() {
        parses("completedIndexes", completed, &completed_path);
    }
    if let Some(failed) = failed.filter(|_| change.failed_indexes() && limited) {
        parses("failedIndexes", failed, &failed_path);
    }
    if change.completed_indexes() && !completed.is_empty() && !change.is_indexed() {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.push(FieldError::invalid(&completed_path, completed, detail));
    }
    let Some(failed) = failed else {
        return;
    };
    if change.failed_indexes() && !limited {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.push(FieldError::invalid(&failed_path, failed, detail));
    }
    if change.failed_indexes() || change.completed_indexes() {
        let both = |most| job::indexes::overlap(completed, failed, most);
        if let Some(index) = spec.completions.and_then(both) {
            let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
            errors.push(FieldError::invalid(&failed_path, failed, detail));
        }
    }
}

/// Checks that finished Jobs have no terminating Pods, and that no more Pods are ready than active.
fn check_running(errors: &mut Errors, change: Change<'_>, path: &FieldPath) {
    let (status, old) = (change.new, change.old);
    let terminating = status.terminating.filter(|&it| it > 0);
    let changed = change.finished() || status.terminating != old.terminating;
    if let Some(count) = terminating.filter(|_| changed && change.now.finished()) {
        let path = path.child("terminating");
        let detail = "terminating>0 is invalid for finished job";
        errors.push(FieldError::invalid(&path, count, detail));
    }
    let ready = status.ready.filter(|&it| it > status.active);
    let changed = status.ready != old.ready || change.active();
    if let Some(count) = ready.filter(|_| changed) {
        let path = path.child("ready");
        let detail = "cannot set more ready pods than active";
        errors.push(FieldError::invalid(&path, count, detail));
    }
}

/// Checks the success criteria: a Job that met them does not fail, and a Job with a success policy
/// completes only by meeting them.
fn check_success(errors: &mut Errors, change: Change<'_>, path: &FieldPath) {
    let now = change.now;
    if now.success_criteria && now.failed {
        let detail = "cannot set SuccessCriteriaMet=True and Failed=true conditions";
        refuse(errors, path, detail);
    }
    if now.success_criteria && now.failure_target {
        let detail = "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions";
        refuse(errors, path, detail);
    }
    let has_policy = change.job.spec.success_policy.is_some();
    if has_policy && !now.success_criteria && now.complete {
        let detail =
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        refuse(errors, path, detail);
    }
}

/// Checks that terminal conditions, counters and the completion time are not reverted.
fn check_steps(errors: &mut Errors, change: Change<'_>, path: &FieldPath) {
    let (now, before) = (change.now, change.before);
    let (status, old, spec) = (change.new, change.old, &change.job.spec);
    let conditions = path.child("conditions");
    for (name, was, is) in [
        ("Failed", before.failed, now.failed),
        ("Complete", before.complete, now.complete),
        ("FailureTarget", before.failure_target, now.failure_target),
    ] {
        if was && !is {
            let detail = format!("cannot disable the terminal {name}=True condition");
            errors.push(FieldError::invalid(
                &conditions,
                BadValue::omitted(),
                detail,
            ));
        }
    }
    if status.failed < old.failed {
        let detail = "cannot decrease the failed counter";
        errors.push(FieldError::invalid(
            &path.child("failed"),
            status.failed,
            detail,
        ));
    }
    // An indexed Job with as many completions as parallelism can be scaled down.
    let shrinks = change.is_indexed() && spec.completions == spec.parallelism;
    if status.succeeded < old.succeeded && !shrinks {
        let path = path.child("succeeded");
        let detail = "cannot decrease the succeeded counter";
        errors.push(FieldError::invalid(&path, status.succeeded, detail));
    }
    let (end, ended) = (status.completion_time, old.completion_time);
    if end.is_some() && ended.is_some() && end != ended {
        let path = path.child("completionTime");
        errors.push(FieldError::invalid(&path, time(end), rules::IMMUTABLE));
    }
    let resumes = is(old, "Suspended", "True") && is(status, "Suspended", "False");
    let waits = spec.suspend == Some(true);
    if change.start_time() && old.start_time.is_some() && !resumes && !waits {
        let path = path.child("startTime");
        let detail = "field is immutable for unsuspended job once set";
        errors.push(FieldError::invalid(&path, time(status.start_time), detail));
    }
    if before.success_criteria && !now.success_criteria {
        let detail = "cannot disable the SuccessCriteriaMet=True condition";
        refuse(errors, &conditions, detail);
    }
    if before.complete && !before.success_criteria && now.success_criteria {
        let detail =
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        refuse(errors, &conditions, detail);
    }
}

#[cfg(test)]
mod tests;
