//! `Plan`: what is to be done for a `CronJob` at a time. It decides, and does nothing.

use crate::kind::{ConcurrencyPolicy, CronJob};
use crate::schedule::{Schedule, ScheduleError};
use kubist::api::batch::v1::Job;
use kubist::apimachinery::{CONDITION_TRUE, Str, Time};

/// The annotation of Jobs with the time for which they were started.
pub(crate) const SCHEDULED_AT: &str = "batch.example.com/scheduled-at";

/// What is to be done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Plan {
    /// Finished Jobs beyond the limits, and running ones that are replaced.
    pub(crate) delete: Vec<Str>,
    /// The time of the Job to start.
    pub(crate) start: Option<Time>,
    /// When to plan again, if nothing changes before.
    pub(crate) next: Option<Time>,
    /// The time by the schedule of the newest Job, with the one to start.
    pub(crate) last_schedule_time: Option<Time>,
}

/// How a Job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    Failed,
}

/// Returns how a Job has ended; none while it runs.
pub(crate) fn ending(job: &Job) -> Option<Ending> {
    let mut conditions = job.status.conditions.iter();
    conditions.find_map(|it| match &*it.type_ {
        "Complete" if it.status == CONDITION_TRUE => Some(Ending::Complete),
        "Failed" if it.status == CONDITION_TRUE => Some(Ending::Failed),
        _ => None,
    })
}

/// Returns the time for which a Job was started.
pub(crate) fn scheduled_at(job: &Job) -> Option<Time> {
    job.metadata.annotations.get(SCHEDULED_AT)?.parse().ok()
}

/// Plans for a `CronJob` and its Jobs at a time.
pub(crate) fn plan(cron: &CronJob, jobs: &[&Job], now: Time) -> Result<Plan, ScheduleError> {
    let spec = &cron.spec;
    let known = cron.status.as_ref().and_then(|it| it.last_schedule_time);
    let last = jobs.iter().filter_map(|it| scheduled_at(it)).chain(known);
    let mut plan = Plan {
        delete: beyond_limits(cron, jobs),
        last_schedule_time: last.max(),
        ..Plan::default()
    };
    if spec.suspend {
        return Ok(plan);
    }
    let schedule = Schedule::parse(&spec.schedule)?;
    plan.next = schedule.next(now);
    let created = cron.metadata.creation_timestamp.unwrap_or(now);
    let mut since = plan.last_schedule_time.unwrap_or(created);
    if let Some(seconds) = spec.starting_deadline_seconds {
        // A time that is just as long ago as allowed counts.
        let deadline = now.unix().saturating_sub(seconds).saturating_sub(1);
        since = since.max(Time::from_unix(deadline));
    }
    let Some(start) = schedule.latest(since, now) else {
        return Ok(plan);
    };
    let running = jobs.iter().filter(|it| ending(it).is_none());
    match spec.concurrency_policy {
        ConcurrencyPolicy::Forbid if running.clone().next().is_some() => return Ok(plan),
        ConcurrencyPolicy::Replace => {
            plan.delete
                .extend(running.map(|it| it.metadata.name.clone()));
        }
        ConcurrencyPolicy::Allow | ConcurrencyPolicy::Forbid => {}
    }
    plan.start = Some(start);
    plan.last_schedule_time = Some(start);
    Ok(plan)
}

/// Returns the oldest finished Jobs, beyond those that are kept.
fn beyond_limits(cron: &CronJob, jobs: &[&Job]) -> Vec<Str> {
    let limits = [
        (Ending::Complete, cron.spec.successful_jobs_history_limit),
        (Ending::Failed, cron.spec.failed_jobs_history_limit),
    ];
    let mut names = Vec::new();
    for (end, limit) in limits {
        let finished = jobs.iter().filter(|it| ending(it) == Some(end));
        let mut finished: Vec<&Job> = finished.copied().collect();
        finished.sort_by_key(|it| (scheduled_at(it), it.metadata.name.clone()));
        let beyond = finished.len().saturating_sub(limit as usize);
        names.extend(finished[..beyond].iter().map(|it| it.metadata.name.clone()));
    }
    names
}

#[cfg(test)]
mod tests;
