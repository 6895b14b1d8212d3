//! The conditions of a Job, as `kubectl wait` and `kubectl get jobs` read them.

use kubist_api::batch::v1::{Job, JobCondition};
use kubist_apimachinery::Time;

pub(crate) const COMPLETE: &str = "Complete";
pub(crate) const FAILED: &str = "Failed";
/// The Job will fail, as soon as its Pods have ended.
pub(super) const FAILURE_TARGET: &str = "FailureTarget";
/// The Job will be complete, as soon as its Pods have ended.
pub(super) const SUCCESS_CRITERIA_MET: &str = "SuccessCriteriaMet";
pub(super) const SUSPENDED: &str = "Suspended";

pub(crate) fn new(
    type_: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Time,
) -> JobCondition {
    JobCondition {
        type_: type_.into(),
        status: status.into(),
        last_probe_time: Some(now),
        last_transition_time: Some(now),
        reason: reason.into(),
        message: message.into(),
    }
}

pub(super) fn find<'a>(conditions: &'a [JobCondition], type_: &str) -> Option<&'a JobCondition> {
    conditions.iter().find(|it| it.type_ == *type_)
}

/// Adds or updates a condition; reports whether anything changed. One that was never true is not
/// added as false.
pub(super) fn set(conditions: &mut Vec<JobCondition>, new: JobCondition) -> bool {
    let known = conditions.iter_mut().find(|it| it.type_ == new.type_);
    match known {
        Some(known) => {
            let text =
                |it: &JobCondition| (it.status.clone(), it.reason.clone(), it.message.clone());
            let changed = text(known) != text(&new);
            if changed {
                *known = new;
            }
            changed
        }
        None if new.status == "False" => false,
        None => {
            conditions.push(new);
            true
        }
    }
}

/// Returns how a Job has ended, `Complete` or `Failed`; none while it goes on.
pub(crate) fn ending(job: &Job) -> Option<&JobCondition> {
    let mut conditions = job.status.conditions.iter();
    conditions.find(|it| {
        let is_end = matches!(it.type_.as_str(), COMPLETE | FAILED);
        is_end && it.status == "True"
    })
}
