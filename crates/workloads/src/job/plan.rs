//! `Plan`: which Pods of a Job are created and deleted now, and whether the Job ends. No I/O.
//!
//! The order of the questions is upstream's: what an earlier reconcile decided stays; then failure
//! by a policy, by the backoff limit, by the deadline, by the indexes; then success by a policy;
//! only then are Pods created or deleted, and success by the number of completions comes last.

use super::backoff::Backoff;
use super::conditions;
use super::indexes::Indexes;
use super::pods::{self, Wanted, is_indexed, is_tracked, valid_index};
use super::policies::{self, Verdict};
use crate::pod_ranking::least_important_first;
use crate::pod_state::{count, is_active, is_ending, ready_since};
use kubist_api::batch::v1::{Job, JobCondition};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object as _, Time};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of Pods that one reconcile creates or deletes, as upstream.
const BURST_MAX: usize = 500;

/// A Job and its Pods at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) job: &'a Job,
    pub(super) pods: &'a [Arc<Pod>],
    /// The failures that earlier reconciles counted.
    pub(super) backoff: Backoff,
    pub(super) now: Time,
}

/// What to do, in this order: delete, create, and then track what has finished.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) delete: Vec<Arc<Pod>>,
    /// Whether the deleted Pods do not count, and lose their finalizers.
    pub(super) discards: bool,
    pub(super) create: Vec<Wanted>,
    /// When to plan again, if nothing changes before.
    pub(super) check: Option<Duration>,
    pub(super) backoff: Backoff,
    pub(super) start_time: Option<Time>,
    /// Why the Job ends, before its last Pods have been counted.
    pub(super) ending: Option<JobCondition>,
    pub(super) active: i32,
    pub(super) ready: i32,
    pub(super) terminating: i32,
    /// How many have succeeded, counted or not.
    pub(super) succeeded: i32,
    /// The indexes that had succeeded before, and those that have failed for good.
    pub(super) succeeded_before: Indexes,
    pub(super) failed_indexes: Option<Indexes>,
    /// The failed Pods that wait for their successors, which take over their counts.
    pub(super) kept: BTreeMap<i32, Arc<Pod>>,
}

impl View<'_> {
    fn is_suspended(&self) -> bool {
        self.job.spec.suspend == Some(true)
    }

    /// Returns the finished Pods that are not counted: those with this state and a valid index.
    fn new_finished(&self, uncounted: &[kubist_apimachinery::Str], failed: bool) -> Vec<&Pod> {
        let job = self.job;
        let pods = self.pods.iter().map(|it| &**it);
        let new = pods.filter(|pod| {
            let valid = !is_indexed(job) || valid_index(job, pod).is_some();
            let state = if failed {
                pods::has_failed(job, pod)
            } else {
                pod.status.phase == "Succeeded"
            };
            is_tracked(pod) && valid && state && !uncounted.contains(&pod.metadata.uid)
        });
        new.collect()
    }

    fn condition(&self, type_: &str, reason: &str, message: &str) -> JobCondition {
        conditions::new(type_, "True", reason, message, self.now)
    }

    fn failure(&self, reason: &str, message: &str) -> JobCondition {
        self.condition(conditions::FAILURE_TARGET, reason, message)
    }

    /// Decides what to do.
    pub(super) fn plan(&self) -> Plan {
        let (job, status) = (self.job, &self.job.status);
        let uncounted = status.uncounted_terminated_pods.as_deref();
        let lists = uncounted.map(|it| (it.succeeded.as_slice(), it.failed.as_slice()));
        let (known_good, known_bad) = lists.unwrap_or_default();
        let good = self.new_finished(known_good, false);
        let bad = self.new_finished(known_bad, true);
        let judge = |pod: &&Pod| policies::judge(job.spec.pod_failure_policy.as_deref(), pod);
        let counted = bad.iter().filter(|it| judge(it) != Verdict::Ignored);
        let failed = status.failed + count(counted.count()) + count(known_bad.len());
        let active: Vec<_> = self.pods.iter().filter(|it| is_active(it)).collect();
        let mut plan = Plan {
            backoff: self.backoff.after(&good, &bad),
            start_time: status
                .start_time
                .or_else(|| (!self.is_suspended()).then_some(self.now)),
            active: count(active.len()),
            ready: count(active.iter().filter(|it| ready_since(it).is_some()).count()),
            terminating: count(self.pods.iter().filter(|it| is_ending(it)).count()),
            succeeded: status.succeeded + count(good.len()) + count(known_good.len()),
            ..Plan::default()
        };
        plan.ending = self.earlier_decision().or_else(|| self.policy_failure());
        if plan.ending.is_none() {
            plan.ending = self.limit_failure(failed, &mut plan);
        }
        if is_indexed(job) {
            self.plan_indexes(&mut plan);
        }
        let active: Vec<Arc<Pod>> = active.into_iter().cloned().collect();
        if plan.ending.is_some() {
            plan.delete = active;
        } else if !job.is_terminating() {
            self.manage(&mut plan, active);
        }
        plan
    }

    /// What an earlier reconcile wrote: the Job will succeed, or fail.
    fn earlier_decision(&self) -> Option<JobCondition> {
        let conditions = &self.job.status.conditions;
        let is_true = |type_| conditions::find(conditions, type_).filter(|it| it.status == "True");
        if let Some(met) = is_true(conditions::SUCCESS_CRITERIA_MET) {
            return Some(met.clone());
        }
        let target = is_true(conditions::FAILURE_TARGET)?;
        Some(self.condition(conditions::FAILED, &target.reason, &target.message))
    }

    fn policy_failure(&self) -> Option<JobCondition> {
        let policy = self.job.spec.pod_failure_policy.as_deref()?;
        let mut failed = self.pods.iter().filter(|it| pods::has_failed(self.job, it));
        let message = failed.find_map(|pod| match policies::judge(Some(policy), pod) {
            Verdict::FailsJob(message) => Some(message),
            _ => None,
        })?;
        Some(self.failure("PodFailurePolicy", &message))
    }

    /// The backoff limit and the deadline.
    fn limit_failure(&self, failed: i32, plan: &mut Plan) -> Option<JobCondition> {
        let spec = &self.job.spec;
        let limit = spec.backoff_limit.unwrap_or(6);
        if failed > limit || self.restarted_too_often(limit) {
            let message = "Job has reached the specified backoff limit";
            return Some(self.failure("BackoffLimitExceeded", message));
        }
        let seconds = spec.active_deadline_seconds?;
        if self.is_suspended() {
            return None;
        }
        let elapsed = self.now.unix() - plan.start_time.unwrap_or(self.now).unix();
        let left = u64::try_from(seconds.saturating_sub(elapsed)).unwrap_or(0);
        if left > 0 {
            plan.look_again(Duration::from_secs(left));
            return None;
        }
        let message = "Job was active longer than specified deadline";
        Some(self.failure("DeadlineExceeded", message))
    }

    /// Containers that restart in their Pods count, too.
    fn restarted_too_often(&self, limit: i32) -> bool {
        if self.job.spec.template.spec.restart_policy != "OnFailure" {
            return false;
        }
        let running = self
            .pods
            .iter()
            .filter(|it| matches!(it.status.phase.as_str(), "Running" | "Pending"));
        let restarts = running.flat_map(|it| {
            let statuses = &it.status.container_statuses;
            statuses.iter().chain(&it.status.init_container_statuses)
        });
        let restarts: i32 = restarts.map(|it| it.restart_count).sum();
        restarts > 0 && restarts >= limit
    }

    /// Which indexes have succeeded and failed, and whether that ends the Job.
    fn plan_indexes(&self, plan: &mut Plan) {
        let (job, spec) = (self.job, &self.job.spec);
        let completions = spec.completions.unwrap_or(0);
        plan.succeeded_before = Indexes::parse(&job.status.completed_indexes, completions);
        let tracked = || self.pods.iter().filter(|it| is_tracked(it));
        let good = tracked().filter(|it| it.status.phase == "Succeeded");
        let good = good.filter_map(|it| valid_index(job, it));
        let succeeded = plan.succeeded_before.with(good);
        plan.succeeded = succeeded.total();
        if let Some(limit) = spec.backoff_limit_per_index {
            let known = job.status.failed_indexes.as_deref().unwrap_or_default();
            let bad = tracked().filter(|it| self.fails_index(it, limit));
            let bad = bad.filter_map(|it| valid_index(job, it));
            let failed = Indexes::parse(known, completions).with(bad);
            let most = spec.max_failed_indexes;
            if plan.ending.is_some() {
            } else if most.is_some_and(|it| failed.total() > it) {
                let message = "Job has exceeded the specified maximal number of failed indexes";
                plan.ending = Some(self.failure("MaxFailedIndexesExceeded", message));
            } else if failed.total() > 0 && failed.total() + succeeded.total() >= completions {
                let message = "Job has failed indexes";
                plan.ending = Some(self.failure("FailedIndexes", message));
            }
            plan.kept = self.kept(&succeeded.merged(&failed));
            plan.failed_indexes = Some(failed);
        }
        let policy = spec.success_policy.as_deref();
        if plan.ending.is_none()
            && let Some(message) = policies::success(policy, completions, &succeeded)
        {
            let type_ = conditions::SUCCESS_CRITERIA_MET;
            plan.ending = Some(self.condition(type_, "SuccessPolicy", &message));
        }
    }

    fn fails_index(&self, pod: &Pod, limit: i32) -> bool {
        if !pods::has_failed(self.job, pod) {
            return false;
        }
        match policies::judge(self.job.spec.pod_failure_policy.as_deref(), pod) {
            Verdict::FailsIndex => true,
            Verdict::Ignored => false,
            Verdict::Counts | Verdict::FailsJob(_) => pods::index_failures(pod) >= limit,
        }
    }

    /// The last failed Pod of each index that is to be tried again and is not being tried.
    fn kept(&self, settled: &Indexes) -> BTreeMap<i32, Arc<Pod>> {
        let active = self.pods.iter().filter(|it| is_active(it));
        let active = Indexes::default().with(active.filter_map(|it| pods::index(it)));
        let mut kept: BTreeMap<i32, Arc<Pod>> = BTreeMap::new();
        let rank = |pod: &Pod| {
            let failures = pods::index_failures(pod) + pods::ignored_failures(pod);
            (failures, super::backoff::finished_at(pod))
        };
        for pod in self.pods {
            let Some(index) = valid_index(self.job, pod) else {
                continue;
            };
            let done = settled.has(index) || active.has(index);
            if done || !is_tracked(pod) || !pods::has_failed(self.job, pod) {
                continue;
            }
            let known = kept.get(&index);
            if known.is_none_or(|known| rank(known) <= rank(pod)) {
                kept.insert(index, Arc::clone(pod));
            }
        }
        kept
    }

    /// Creates or deletes Pods of a Job that goes on.
    fn manage(&self, plan: &mut Plan, active: Vec<Arc<Pod>>) {
        let spec = &self.job.spec;
        plan.discards = true;
        if self.is_suspended() {
            plan.delete = active;
            return;
        }
        let parallelism = spec.parallelism.unwrap_or(1);
        let wanted = match spec.completions {
            Some(completions) => (completions - plan.succeeded).clamp(0, parallelism.max(0)),
            // As soon as one has succeeded, no more are begun.
            None if plan.succeeded > 0 => plan.active,
            None => parallelism,
        };
        let surplus = usize::try_from(plan.active - wanted).unwrap_or(0);
        plan.delete = self.least_useful(active, surplus);
        plan.delete.truncate(BURST_MAX);
        if !plan.delete.is_empty() {
            return;
        }
        let waits = if pods::waits_for_ends(self.job) {
            plan.terminating
        } else {
            0
        };
        let missing = usize::try_from(wanted - waits - plan.active).unwrap_or(0);
        if missing > 0 {
            self.create(plan, missing.min(BURST_MAX));
        }
    }

    fn create(&self, plan: &mut Plan, missing: usize) {
        let per_index = self.job.spec.backoff_limit_per_index.is_some();
        if !per_index && let Some(left) = plan.backoff.left(self.now) {
            plan.look_again(left);
            return;
        }
        if !is_indexed(self.job) {
            plan.create = vec![Wanted::default(); missing];
            return;
        }
        let mut later: Option<Duration> = None;
        for index in self.pending(plan, missing) {
            let before = plan.kept.get(&index).filter(|_| per_index);
            let wait = before.and_then(|it| Backoff::of_index(it, self.now));
            if let Some(wait) = wait {
                later = Some(later.map_or(wait, |it| it.min(wait)));
                continue;
            }
            plan.create.push(Wanted {
                index: Some(index),
                failures: per_index.then(|| before.map_or((0, 0), |it| self.failures_after(it))),
            });
        }
        if let Some(wait) = later {
            plan.look_again(wait);
        }
    }

    /// The first indexes that no Pod has, and that have not ended.
    fn pending(&self, plan: &Plan, missing: usize) -> Vec<i32> {
        let job = self.job;
        let waits = pods::waits_for_ends(job);
        let taken = |pod: &&Arc<Pod>| {
            let succeeded = pod.status.phase == "Succeeded" && is_tracked(pod);
            is_active(pod) || succeeded || (waits && is_ending(pod))
        };
        let taken = self.pods.iter().filter(taken);
        let mut taken = plan
            .succeeded_before
            .with(taken.filter_map(|it| pods::index(it)));
        if let Some(failed) = &plan.failed_indexes {
            taken = taken.merged(failed);
        }
        taken.first_missing(missing, job.spec.completions.unwrap_or(0))
    }

    /// The failures of an index, with that of this Pod.
    fn failures_after(&self, pod: &Pod) -> (i32, i32) {
        let policy = self.job.spec.pod_failure_policy.as_deref();
        let ignored = policies::judge(policy, pod) == Verdict::Ignored;
        let (counted, without) = (pods::index_failures(pod), pods::ignored_failures(pod));
        if ignored {
            (counted, without.saturating_add(1))
        } else {
            (counted.saturating_add(1), without)
        }
    }

    /// Which Pods are deleted: those that repeat an index or have none, and at least so many.
    fn least_useful(&self, active: Vec<Arc<Pod>>, at_least: usize) -> Vec<Arc<Pod>> {
        let mut ranked = least_important_first(&active);
        if !is_indexed(self.job) {
            ranked.truncate(at_least);
            return ranked;
        }
        let mut indexes = std::collections::BTreeSet::new();
        // The most important of an index stays.
        let (left, mut surplus): (Vec<_>, Vec<_>) = ranked
            .into_iter()
            .rev()
            .partition(|pod| valid_index(self.job, pod).is_some_and(|it| indexes.insert(it)));
        let further = at_least.saturating_sub(surplus.len());
        surplus.extend(left.into_iter().rev().take(further));
        surplus
    }
}

impl Plan {
    fn look_again(&mut self, wait: Duration) {
        self.check = Some(self.check.map_or(wait, |it| it.min(wait)));
    }
}
