//! `Plan`: what is to be done for a CronJob now. No I/O.

use super::missed::Missed;
use super::schedule::{Schedule, zone_named};
use crate::job::conditions::{self, ending};
use kubist_api::batch::v1::{CronJob, CronJobStatus, Job};
use kubist_api::core::v1::ObjectReference;
use kubist_apimachinery::{Object as _, Str, Time};
use kubist_events::EventType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many missed times are told about, as upstream.
const MANY: i64 = 100;

/// An event to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct News {
    pub(super) type_: EventType,
    pub(super) reason: &'static str,
    pub(super) note: String,
    /// The name of the Job that it is about.
    pub(super) job: Option<Str>,
}

/// What to do, in this order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) news: Vec<News>,
    /// Finished Jobs beyond the limits of the history.
    pub(super) forget: Vec<Arc<Job>>,
    /// Active Jobs that are replaced.
    pub(super) replace: Vec<ObjectReference>,
    /// The time of the Job to create.
    pub(super) start: Option<Time>,
    /// When to plan again.
    pub(super) next: Option<Time>,
    /// The status, without what was created and deleted.
    pub(super) status: CronJobStatus,
}

/// Plans for a CronJob and its Jobs.
pub(super) fn plan(cron: &CronJob, jobs: &[Arc<Job>], now: Time) -> Plan {
    let mut plan = Plan {
        status: cron.status.clone(),
        forget: beyond_limits(cron, jobs),
        ..Plan::default()
    };
    plan.look_at_jobs(jobs);
    if !cron.is_terminating() {
        plan.schedule(cron, now);
    }
    plan
}

/// The name of the Job of a time.
pub(super) fn job_name(cron: &CronJob, at: Time) -> Str {
    format!("{}-{}", cron.metadata.name, at.unix().div_euclid(60)).into()
}

impl Plan {
    fn tell(&mut self, type_: EventType, reason: &'static str, note: String) {
        self.news.push(News {
            type_,
            reason,
            note,
            job: None,
        });
    }

    fn tell_of(&mut self, job: &Str, type_: EventType, reason: &'static str, note: String) {
        self.tell(type_, reason, note);
        if let Some(news) = self.news.last_mut() {
            news.job = Some(job.clone());
        }
    }

    /// Brings the list of active Jobs and the last success up to date.
    fn look_at_jobs(&mut self, jobs: &[Arc<Job>]) {
        for job in jobs {
            let (name, uid) = (&job.metadata.name, &job.metadata.uid);
            let is_listed = self.status.active.iter().any(|it| it.uid == *uid);
            let Some(end) = ending(job) else {
                if !is_listed {
                    let note =
                        format!("Saw a job that the controller did not create or forgot: {name}");
                    self.tell_of(name, EventType::Warning, "UnexpectedJob", note);
                }
                continue;
            };
            if is_listed {
                self.status.active.retain(|it| it.uid != *uid);
                let note = format!("Saw completed job: {name}, condition: {}", end.type_);
                self.tell_of(name, EventType::Normal, "SawCompletedJob", note);
            }
            if end.type_ == conditions::COMPLETE {
                let last = self.status.last_successful_time;
                self.status.last_successful_time = last.max(job.status.completion_time);
            }
        }
        let known: BTreeSet<&Str> = jobs.iter().map(|it| &it.metadata.uid).collect();
        let active = std::mem::take(&mut self.status.active);
        let (present, missing): (Vec<_>, Vec<_>) =
            active.into_iter().partition(|it| known.contains(&it.uid));
        self.status.active = present;
        for job in missing {
            let note = format!("Active job went missing: {}", job.name);
            self.tell_of(&job.name, EventType::Normal, "MissingJob", note);
        }
    }

    /// Decides whether a Job is created.
    fn schedule(&mut self, cron: &CronJob, now: Time) {
        let spec = &cron.spec;
        let zone = match zone_named(spec.time_zone.as_deref().unwrap_or_default()) {
            Ok(zone) => zone,
            Err(why) => {
                let name = spec.time_zone.as_deref().unwrap_or_default();
                let note = format!("invalid timeZone: {name:?}: {why}");
                self.tell(EventType::Warning, "UnknownTimeZone", note);
                return;
            }
        };
        if spec.suspend == Some(true) {
            return;
        }
        let text = &spec.schedule;
        if text.contains("TZ") {
            let note = format!(
                "CRON_TZ or TZ used in schedule {text:?} is not officially supported, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more \
                 details"
            );
            self.tell(EventType::Warning, "UnsupportedSchedule", note);
        }
        let schedule = match Schedule::parse(text, &zone) {
            Ok(schedule) => schedule,
            Err(why) => {
                let note = format!("unparseable schedule: {text:?} : {why}");
                self.tell(EventType::Warning, "UnparseableSchedule", note);
                return;
            }
        };
        let Some(missed) = Missed::of(cron, &schedule, now) else {
            let note = format!(
                "invalid schedule: {text} : time difference between two schedules is less than 1 \
                 second"
            );
            self.tell(EventType::Warning, "InvalidSchedule", note);
            return;
        };
        self.next = schedule.next(now);
        let Some(at) = missed.last else { return };
        if missed.number > MANY {
            let note = "too many missed start times. Set or decrease \
                        .spec.startingDeadlineSeconds or check clock skew";
            self.tell(EventType::Warning, "TooManyMissedTimes", note.to_owned());
        }
        self.start_unless_forbidden(cron, at, now);
    }

    fn start_unless_forbidden(&mut self, cron: &CronJob, at: Time, now: Time) {
        let deadline = cron.spec.starting_deadline_seconds;
        if deadline.is_some_and(|it| at.unix().saturating_add(it) < now.unix()) {
            let shown = at
                .timestamp()
                .map(|it| it.strftime("%a, %d %b %Y %H:%M:%S +0000"));
            let shown = shown.map_or_else(String::new, |it| it.to_string());
            let note = format!("Missed scheduled time to start a job: {shown}");
            self.tell(EventType::Warning, "MissSchedule", note);
            return;
        }
        let name = job_name(cron, at);
        let is_active = self.status.active.iter().any(|it| it.name == name);
        if is_active || self.status.last_schedule_time == Some(at) {
            return;
        }
        match cron.spec.concurrency_policy.as_str() {
            "Forbid" if !self.status.active.is_empty() => {
                let note = "Not starting job because prior execution is running and concurrency \
                            policy is Forbid";
                self.tell(EventType::Normal, "JobAlreadyActive", note.to_owned());
                return;
            }
            "Replace" => self.replace = self.status.active.clone(),
            _ => {}
        }
        self.start = Some(at);
    }
}

/// The oldest finished Jobs, beyond those that are kept.
fn beyond_limits(cron: &CronJob, jobs: &[Arc<Job>]) -> Vec<Arc<Job>> {
    let limits = [
        (
            conditions::COMPLETE,
            cron.spec.successful_jobs_history_limit,
        ),
        (conditions::FAILED, cron.spec.failed_jobs_history_limit),
    ];
    let mut surplus = Vec::new();
    for (end, limit) in limits {
        let Some(limit) = limit else { continue };
        let finished = jobs.iter().filter(|job| {
            let ended = ending(job).is_some_and(|it| it.type_ == *end);
            ended && !job.is_terminating()
        });
        let mut finished: Vec<_> = finished.cloned().collect();
        finished.sort_by_key(|it| {
            let start = it.status.start_time;
            (start.is_none(), start, it.metadata.name.clone())
        });
        let kept = usize::try_from(limit).unwrap_or(0);
        finished.truncate(finished.len().saturating_sub(kept));
        surplus.extend(finished);
    }
    surplus
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time(text: &str) -> Time {
        text.parse().expect(text)
    }

    fn cron(schedule: &str) -> CronJob {
        let mut cron = CronJob::default();
        cron.metadata.name = "report".into();
        cron.metadata.creation_timestamp = Some(time("2026-01-01T00:00:30Z"));
        cron.spec.schedule = schedule.into();
        cron.spec.concurrency_policy = "Allow".into();
        cron
    }

    fn job(name: &str, end: Option<&str>, started: i64) -> Arc<Job> {
        let mut job = Job::default();
        job.metadata.name = name.into();
        job.metadata.uid = name.into();
        job.status.start_time = Some(Time::from_unix(started));
        job.status
            .conditions
            .extend(end.map(|it| conditions::new(it, "True", "", "", Time::from_unix(started))));
        Arc::new(job)
    }

    fn reasons(plan: &Plan) -> Vec<&'static str> {
        plan.news.iter().map(|it| it.reason).collect()
    }

    #[test]
    fn a_job_is_started_when_its_time_has_come() {
        let cron = cron("*/5 * * * *");
        let early = plan(&cron, &[], time("2026-01-01T00:04:59Z"));
        assert_eq!(
            (early.start, early.next),
            (None, Some(time("2026-01-01T00:05:00Z")))
        );
        let due = plan(&cron, &[], time("2026-01-01T00:05:00Z"));
        assert_eq!(due.start, Some(time("2026-01-01T00:05:00Z")));
        assert_eq!(
            job_name(&cron, due.start.expect("a time")),
            "report-29453765"
        );
        assert_eq!(due.next, Some(time("2026-01-01T00:10:00Z")));
        let late = plan(&cron, &[], time("2026-01-01T12:32:00Z"));
        assert_eq!(late.start, Some(time("2026-01-01T12:30:00Z")));
        assert_eq!(reasons(&late), ["TooManyMissedTimes"]);
    }

    #[test]
    fn a_time_is_used_once_and_not_after_its_deadline() {
        let mut cron = cron("*/5 * * * *");
        cron.status.last_schedule_time = Some(time("2026-01-01T00:05:00Z"));
        assert_eq!(plan(&cron, &[], time("2026-01-01T00:09:59Z")).start, None);
        cron.spec.starting_deadline_seconds = Some(30);
        let in_time = plan(&cron, &[], time("2026-01-01T00:10:29Z"));
        assert_eq!(in_time.start, Some(time("2026-01-01T00:10:00Z")));
        let late = plan(&cron, &[], time("2026-01-01T00:10:40Z"));
        assert_eq!(
            (late.start, late.next),
            (None, Some(time("2026-01-01T00:15:00Z")))
        );
    }

    #[test]
    fn what_runs_forbids_or_is_replaced() {
        let running = job("report-1", None, 5);
        let mut cron = cron("*/5 * * * *");
        cron.status.active.push(ObjectReference::of(&*running));
        let now = time("2026-01-01T00:05:00Z");
        for (policy, starts, replaced, news) in [
            ("Allow", true, 0, vec![]),
            ("Forbid", false, 0, vec!["JobAlreadyActive"]),
            ("Replace", true, 1, vec![]),
        ] {
            cron.spec.concurrency_policy = policy.into();
            let plan = plan(&cron, &[Arc::clone(&running)], now);
            assert_eq!(plan.start.is_some(), starts, "{policy}");
            assert_eq!(plan.replace.len(), replaced, "{policy}");
            assert_eq!(reasons(&plan), news, "{policy}");
        }
        cron.spec.suspend = Some(true);
        let plan = plan(&cron, &[running], now);
        assert_eq!((plan.start, plan.next), (None, None));
    }

    #[test]
    fn the_history_is_limited_and_the_list_of_active_jobs_is_kept() {
        let mut cron = cron("0 0 30 2 *");
        cron.spec.successful_jobs_history_limit = Some(1);
        cron.spec.failed_jobs_history_limit = Some(0);
        let jobs = [
            job("a", Some("Complete"), 3),
            job("b", Some("Complete"), 2),
            job("c", Some("Failed"), 1),
            job("d", None, 4),
        ];
        let gone = job("e", None, 4);
        let listed = [&jobs[1], &gone].map(|it| ObjectReference::of(&**it));
        cron.status.active = listed.into();
        let plan = plan(&cron, &jobs, time("2026-01-01T00:05:00Z"));
        let names: Vec<_> = plan.forget.iter().map(|it| &*it.metadata.name).collect();
        assert_eq!(names, ["b", "c"]);
        assert!(plan.status.active.is_empty());
        let expected = [
            "SawCompletedJob",
            "UnexpectedJob",
            "MissingJob",
            "InvalidSchedule",
        ];
        assert_eq!(reasons(&plan), expected);
    }

    proptest! {
        /// Whenever it is asked, no time is used twice, and none that is in order is left out.
        #[test]
        fn every_time_is_used_once(
            step in 1..30_u32,
            pauses in proptest::collection::vec(1..600_i64, 1..40),
        ) {
            let mut cron = cron(&format!("*/{step} * * * *"));
            let mut now = cron.metadata.creation_timestamp.expect("a time");
            let schedule = Schedule::parse(&cron.spec.schedule, &jiff::tz::TimeZone::UTC);
            let schedule = schedule.expect("a schedule");
            let mut started = BTreeSet::new();
            for pause in pauses {
                let before = now;
                now = Time::from_unix(now.unix() + pause);
                let plan = plan(&cron, &[], now);
                let due = schedule.next(before).filter(|it| *it <= now);
                prop_assert_eq!(plan.start.is_some(), due.is_some());
                if let Some(at) = plan.start {
                    prop_assert!(at <= now && schedule.next(at).is_some_and(|it| it > now));
                    prop_assert!(started.insert(at));
                    cron.status.last_schedule_time = Some(at);
                }
            }
        }
    }
}
