//! `Tracking`: counts the finished Pods of a Job, each once. No I/O.
//!
//! A Pod that has finished is first listed in `uncountedTerminatedPods`; that status is written.
//! Then its finalizer is removed, and only then is it taken off the list and counted. Whatever
//! fails in between is done again, without a second count. The Job ends when nothing is left on
//! the list and no Pod is terminating.

use super::conditions;
use super::indexes::Indexes;
use super::plan::{Plan, View};
use super::pods::{self, is_indexed, is_tracked, valid_index};
use super::policies::{self, Verdict};
use kubist_api::batch::v1::{JobCondition, JobStatus};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object as _, Str};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many uncounted Pods are listed at most, as upstream.
const UNCOUNTED_MAX: usize = 500;

/// What became of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    pub(super) created: i32,
    pub(super) deleted: i32,
    /// How many of the deleted were ready.
    pub(super) deleted_ready: i32,
}

/// The status to write, and what follows.
#[derive(Debug)]
pub(super) struct Tracking {
    /// To be written before the finalizers are removed.
    pub(super) status: JobStatus,
    /// The Pods whose finalizers are removed.
    pub(super) release: Vec<Arc<Pod>>,
    /// The event about a Job that was suspended or resumed: reason and message.
    pub(super) news: Option<(&'static str, &'static str)>,
    /// How the Job ends: `Complete` or `Failed`.
    ending: Option<JobCondition>,
    /// The uids of the Pods that have the finalizer.
    tracked: BTreeSet<Str>,
    /// Whether there are more Pods than the list holds.
    is_full: bool,
}

impl Tracking {
    /// Begins to track after what was done.
    pub(super) fn new(view: &View<'_>, mut plan: Plan, done: Done) -> Self {
        let job = view.job;
        plan.active += done.created - done.deleted;
        plan.ready -= done.deleted_ready;
        plan.terminating += done.deleted;
        let mut status = job.status.clone();
        status.uncounted_terminated_pods.get_or_insert_default();
        status.start_time = plan.start_time;
        if plan.ending.is_some() {
            if usize::try_from(done.deleted).ok() != Some(plan.delete.len()) {
                // It ends when all Pods are known to end.
                plan.ending = None;
            }
        } else if is_complete(view, &plan) {
            plan.ending = Some(conditions::new(
                conditions::SUCCESS_CRITERIA_MET,
                "True",
                "CompletionsReached",
                "Reached expected number of succeeded pods",
                view.now,
            ));
        }
        let goes_on = plan.ending.is_none() && plan.discards;
        let news = goes_on
            .then(|| judge_suspension(view, &mut status))
            .flatten();
        status.active = plan.active;
        status.ready = Some(plan.ready);
        status.terminating = Some(plan.terminating);
        let tracked = view.pods.iter().filter(|it| is_tracked(it));
        let mut tracking = Self {
            tracked: tracked.map(|it| it.metadata.uid.clone()).collect(),
            status,
            release: Vec::new(),
            news,
            ending: None,
            is_full: false,
        };
        tracking.count_released();
        tracking.list_finished(view, &plan);
        tracking.announce(view, plan.ending);
        tracking
    }

    /// Lists the Pods that have finished and are not counted.
    fn list_finished(&mut self, view: &View<'_>, plan: &Plan) {
        let job = view.job;
        let mut pods: Vec<_> = view.pods.iter().filter(|it| is_tracked(it)).collect();
        pods.sort_by_key(|it| (pods::index(it), it.metadata.name.clone()));
        let uncounted = self
            .status
            .uncounted_terminated_pods
            .get_or_insert_default();
        let ends = plan.ending.as_ref();
        let fails = ends.is_some_and(|it| it.type_ != conditions::SUCCESS_CRITERIA_MET);
        let mut succeeded = Vec::new();
        for pod in pods {
            let has_failed = pods::has_failed(job, pod);
            if !may_be_released(view, plan, pod, has_failed) {
                continue;
            }
            let uid = &pod.metadata.uid;
            let index = valid_index(job, pod);
            if pod.status.phase == "Succeeded" && !uncounted.failed.contains(uid) {
                if is_indexed(job) {
                    succeeded.extend(index.filter(|it| !plan.succeeded_before.has(*it)));
                } else if !uncounted.succeeded.contains(uid) {
                    uncounted.succeeded.push(uid.clone());
                }
            } else if (has_failed || fails)
                && !uncounted.failed.contains(uid)
                && (!is_indexed(job) || index.is_some())
                && policies::judge(job.spec.pod_failure_policy.as_deref(), pod) != Verdict::Ignored
            {
                uncounted.failed.push(uid.clone());
            }
            self.release.push(Arc::clone(pod));
            let listed = succeeded.len() + uncounted.succeeded.len() + uncounted.failed.len();
            if listed >= UNCOUNTED_MAX {
                self.is_full = true;
                break;
            }
        }
        if is_indexed(job) {
            let succeeded: Indexes = plan.succeeded_before.with(succeeded);
            self.status.succeeded = succeeded.total();
            self.status.completed_indexes = succeeded.to_string().into();
            let failed = plan.failed_indexes.as_ref();
            self.status.failed_indexes = failed.map(|it| it.to_string().into());
        }
    }

    /// Adds the interim condition, and remembers the one that follows it.
    fn announce(&mut self, view: &View<'_>, ending: Option<JobCondition>) {
        self.ending = ending.map(|interim| {
            let end = match interim.type_.as_str() {
                conditions::SUCCESS_CRITERIA_MET => conditions::COMPLETE,
                conditions::FAILURE_TARGET => conditions::FAILED,
                _ => return interim,
            };
            let known = conditions::find(&self.status.conditions, &interim.type_);
            if known.is_none_or(|it| it.status != "True") {
                self.status.conditions.push(interim.clone());
            }
            conditions::new(end, "True", &interim.reason, &interim.message, view.now)
        });
    }

    /// Counts the listed Pods that lost their finalizers, and takes them off the list.
    fn count_released(&mut self) {
        let status = &mut self.status;
        let uncounted = status.uncounted_terminated_pods.get_or_insert_default();
        for (list, counter) in [
            (&mut uncounted.succeeded, &mut status.succeeded),
            (&mut uncounted.failed, &mut status.failed),
        ] {
            let before = list.len();
            list.retain(|it| self.tracked.contains(it));
            *counter += crate::pod_state::count(before - list.len());
        }
    }

    /// Goes on after the finalizers were removed. Returns how the Job has ended, if it has.
    pub(super) fn settle(&mut self, released: &[Str]) -> Option<JobCondition> {
        for uid in released {
            self.tracked.remove(uid);
        }
        self.count_released();
        let uncounted = self.status.uncounted_terminated_pods.as_deref();
        let listed = uncounted.is_some_and(|it| it.succeeded.len() + it.failed.len() > 0);
        let terminating = self.status.terminating.unwrap_or(0) > 0;
        if listed || terminating || self.is_full {
            return None;
        }
        let ending = self.ending.take()?;
        conditions::set(&mut self.status.conditions, ending.clone());
        if ending.type_ == conditions::COMPLETE {
            self.status.completion_time = ending.last_transition_time;
        }
        Some(ending)
    }
}

/// Reports whether enough Pods have succeeded, and none is active.
fn is_complete(view: &View<'_>, plan: &Plan) -> bool {
    let enough = match view.job.spec.completions {
        None => plan.succeeded > 0,
        Some(completions) => plan.succeeded >= completions,
    };
    enough && plan.active == 0
}

/// Writes whether the Job is suspended; returns the news of it.
fn judge_suspension(
    view: &View<'_>,
    status: &mut JobStatus,
) -> Option<(&'static str, &'static str)> {
    let suspended = view.job.spec.suspend == Some(true);
    let (value, reason, news) = if suspended {
        ("True", "JobSuspended", ("Suspended", "Job suspended"))
    } else {
        ("False", "JobResumed", ("Resumed", "Job resumed"))
    };
    let condition = conditions::new(conditions::SUSPENDED, value, reason, news.1, view.now);
    if !conditions::set(&mut status.conditions, condition) {
        return None;
    }
    // The deadline begins again when it is resumed.
    status.start_time = (!suspended).then_some(view.now);
    Some(news)
}

/// Reports whether a Pod may go: it has ended and no successor needs its counts, or all end.
fn may_be_released(view: &View<'_>, plan: &Plan, pod: &Pod, has_failed: bool) -> bool {
    if view.job.is_terminating() || plan.ending.is_some() || pod.status.phase == "Succeeded" {
        return true;
    }
    let is_kept = || {
        let kept = pods::index(pod).and_then(|it| plan.kept.get(&it));
        kept.is_some_and(|it| it.metadata.uid == pod.metadata.uid)
    };
    has_failed && !is_kept()
}
