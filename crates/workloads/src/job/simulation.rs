//! Random lives of Jobs: Pods end, are deleted, writes are lost, and the sums must still be right.

use super::backoff::Backoff;
use super::conditions;
use super::plan::View;
use super::pods;
use super::tracking::{Done, Tracking};
use crate::pod_state::{count, is_active, is_over, ready_since};
use kubist_api::batch::v1::{Job, JobStatus};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object as _, Str, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A reconcile; the fault ends it after so many of its writes.
    Reconcile {
        writes: usize,
    },
    Succeeds(usize),
    Fails(usize),
    /// Somebody deletes a Pod.
    Deleted(usize),
    /// The kubelet removes what is being deleted.
    Removed,
    Passes(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => Just(Event::Reconcile { writes: 99 }),
        2 => (0..6_usize).prop_map(|writes| Event::Reconcile { writes }),
        3 => (0..9_usize).prop_map(Event::Succeeds),
        2 => (0..9_usize).prop_map(Event::Fails),
        1 => (0..9_usize).prop_map(Event::Deleted),
        2 => Just(Event::Removed),
        2 => (1..40_i64).prop_map(Event::Passes),
    ]
}

/// A Job and its Pods, as the server has them.
struct World {
    job: Job,
    pods: Vec<Pod>,
    backoff: Backoff,
    now: i64,
    made: u32,
    /// The uids that were ever listed as uncounted.
    listed: [BTreeSet<Str>; 2],
    succeeded: BTreeSet<Str>,
}

impl World {
    fn new(indexed: bool, parallelism: i32, completions: Option<i32>, limit: i32) -> Self {
        let mut job = Job::default();
        job.metadata.name = "sum".into();
        job.metadata.uid = "job".into();
        job.spec.parallelism = Some(parallelism);
        job.spec.completions = completions;
        job.spec.backoff_limit = Some(limit);
        if indexed {
            job.spec.completion_mode = Some("Indexed".into());
            job.spec.completions = completions.or(Some(3));
        }
        Self {
            job,
            pods: Vec::new(),
            backoff: Backoff::default(),
            now: 1_000,
            made: 0,
            listed: Default::default(),
            succeeded: BTreeSet::new(),
        }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Reconcile { writes } => self.reconcile(writes),
            Event::Succeeds(at) => self.ends(at, "Succeeded"),
            Event::Fails(at) => self.ends(at, "Failed"),
            Event::Deleted(at) => {
                let now = Time::from_unix(self.now);
                if let Some(pod) = self.pods.get_mut(at) {
                    pod.metadata.deletion_timestamp.get_or_insert(now);
                }
            }
            Event::Removed => {
                for pod in &mut self.pods {
                    if pod.is_terminating() && !is_over(pod) {
                        pod.status.phase = "Failed".into();
                    }
                }
                self.pods
                    .retain(|it| !it.is_terminating() || pods::is_tracked(it));
            }
            Event::Passes(seconds) => self.now += seconds,
        }
    }

    fn ends(&mut self, at: usize, phase: &str) {
        let Some(pod) = self.pods.get_mut(at).filter(|it| is_active(it)) else {
            return;
        };
        pod.status.phase = phase.into();
        if phase == "Succeeded" {
            self.succeeded.insert(pod.metadata.uid.clone());
        }
    }

    /// Does what the controller does, and stops after so many writes.
    fn reconcile(&mut self, mut writes: usize) {
        if conditions::ending(&self.job).is_some() {
            return;
        }
        let mut may_write = || {
            let may = writes > 0;
            writes = writes.saturating_sub(1);
            may
        };
        let shared: Vec<_> = self.pods.iter().cloned().map(Arc::new).collect();
        let job = self.job.clone();
        let view = View {
            job: &job,
            pods: &shared,
            backoff: self.backoff,
            now: Time::from_unix(self.now),
        };
        let plan = view.plan();
        let mut done = Done::default();
        for pod in plan.delete.iter().filter(|_| may_write()) {
            let stored = self.find(&pod.metadata.uid);
            if plan.discards {
                stored.metadata.finalizers.clear();
            }
            stored.metadata.deletion_timestamp = Some(view.now);
            done.deleted += 1;
            done.deleted_ready += i32::from(ready_since(pod).is_some());
        }
        for wanted in plan.create.iter().filter(|_| may_write()) {
            let mut pod = pods::made(&job, *wanted);
            self.made += 1;
            pod.metadata.uid = format!("pod-{}", self.made).into();
            pod.metadata.name = pod.metadata.uid.clone();
            pod.metadata.creation_timestamp = Some(view.now);
            pod.status.phase = "Running".into();
            self.pods.push(pod);
            done.created += 1;
        }
        let backoff = plan.backoff;
        let mut tracking = Tracking::new(&view, plan, done);
        if !may_write() {
            return;
        }
        self.store(tracking.status.clone());
        self.backoff = backoff;
        let mut released = Vec::new();
        for pod in tracking.release.iter().filter(|_| may_write()) {
            self.find(&pod.metadata.uid).metadata.finalizers.clear();
            released.push(pod.metadata.uid.clone());
        }
        tracking.settle(&released);
        if may_write() {
            self.store(tracking.status);
        }
    }

    fn find(&mut self, uid: &Str) -> &mut Pod {
        let mut pods = self.pods.iter_mut();
        pods.find(|it| it.metadata.uid == *uid)
            .expect("it is stored")
    }

    fn store(&mut self, status: JobStatus) {
        let before = self.job.status.uncounted_terminated_pods.take();
        let before = before.unwrap_or_default();
        let uncounted = status.uncounted_terminated_pods.clone().unwrap_or_default();
        let lists = [
            (&before.succeeded, &uncounted.succeeded),
            (&before.failed, &uncounted.failed),
        ];
        for (ever, (before, list)) in self.listed.iter_mut().zip(lists) {
            for uid in list.iter().filter(|it| !before.contains(it)) {
                assert!(ever.insert(uid.clone()), "{uid} is counted twice");
            }
        }
        assert!(self.listed[0].is_disjoint(&self.listed[1]), "both ways");
        assert!(status.succeeded >= self.job.status.succeeded);
        assert!(status.failed >= self.job.status.failed);
        assert!(status.active >= 0 && status.ready.unwrap_or(0) <= status.active);
        self.job.status = status;
        self.check_end();
    }

    fn check(&self) {
        let active: Vec<_> = self.pods.iter().filter(|it| is_active(it)).collect();
        let parallelism = self.job.spec.parallelism.unwrap_or(1);
        assert!(
            count(active.len()) <= parallelism,
            "{} are active",
            active.len()
        );
        let indexes: Vec<_> = active.iter().filter_map(|it| pods::index(it)).collect();
        let different: BTreeSet<_> = indexes.iter().collect();
        assert_eq!(indexes.len(), different.len(), "an index has two Pods");
    }

    fn check_end(&self) {
        let status = &self.job.status;
        let Some(end) = conditions::ending(&self.job) else {
            return;
        };
        let interim = if end.type_ == conditions::COMPLETE {
            conditions::SUCCESS_CRITERIA_MET
        } else {
            conditions::FAILURE_TARGET
        };
        assert!(conditions::find(&status.conditions, interim).is_some());
        assert!(self.pods.iter().all(|it| !is_active(it)));
        assert_eq!((status.active, status.terminating), (0, Some(0)));
        assert_eq!(status.failed, count(self.listed[1].len()));
        if pods::is_indexed(&self.job) {
            let of = |it: &&Str| self.pods.iter().find(|pod| pod.metadata.uid == ***it);
            let indexes = self.succeeded.iter().filter_map(|it| of(&it));
            let indexes: BTreeSet<_> = indexes.filter_map(pods::index).collect();
            assert!(count(indexes.len()) <= status.succeeded);
        } else {
            assert_eq!(status.succeeded, count(self.listed[0].len()));
            assert_eq!(status.succeeded, count(self.succeeded.len()));
        }
        if end.type_ == conditions::COMPLETE {
            assert!(status.succeeded >= self.job.spec.completions.unwrap_or(1));
        }
    }
}

proptest! {
    #[test]
    fn every_pod_is_counted_once_and_every_job_ends(
        indexed in any::<bool>(),
        parallelism in 1..4_i32,
        completions in proptest::option::of(1..6_i32),
        limit in 0..5_i32,
        events in vec(event(), 0..60),
    ) {
        let mut world = World::new(indexed, parallelism, completions, limit);
        for event in events {
            world.happens(event);
            world.check();
        }
        for _ in 0..60 {
            for event in [Event::Reconcile { writes: 99 }, Event::Removed, Event::Passes(700)] {
                world.happens(event);
                world.check();
            }
            (0..world.pods.len()).for_each(|at| world.happens(Event::Succeeds(at)));
        }
        prop_assert!(conditions::ending(&world.job).is_some(), "{:?}", world.job.status);
    }
}

#[test]
fn a_deadline_fails_a_job_and_its_pods() {
    let mut world = World::new(false, 2, Some(2), 6);
    world.job.spec.active_deadline_seconds = Some(30);
    world.happens(Event::Reconcile { writes: 99 });
    assert_eq!(world.job.status.active, 2);
    world.happens(Event::Passes(31));
    world.happens(Event::Reconcile { writes: 99 });
    let types = |world: &World| {
        let conditions = world.job.status.conditions.iter();
        conditions
            .map(|it| it.type_.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(types(&world), ["FailureTarget"], "two Pods are terminating");
    assert_eq!(world.job.status.failed, 2);
    world.happens(Event::Removed);
    world.happens(Event::Reconcile { writes: 99 });
    assert_eq!(types(&world), ["FailureTarget", "Failed"]);
    assert_eq!(world.job.status.conditions[1].reason, "DeadlineExceeded");
}

#[test]
fn an_index_that_fails_too_often_is_given_up_and_the_others_go_on() {
    let mut world = World::new(true, 2, Some(2), i32::MAX);
    world.job.spec.backoff_limit_per_index = Some(1);
    for _ in 0..8 {
        world.happens(Event::Reconcile { writes: 99 });
        for at in 0..world.pods.len() {
            let event = match pods::index(&world.pods[at]) {
                Some(0) => Event::Fails(at),
                _ => Event::Succeeds(at),
            };
            world.happens(event);
        }
        world.happens(Event::Passes(60));
    }
    let status = &world.job.status;
    assert_eq!(status.failed_indexes.as_deref(), Some("0"));
    assert_eq!((&*status.completed_indexes, status.failed), ("1", 2));
    let end = conditions::ending(&world.job).expect("it has ended");
    assert_eq!((&*end.type_, &*end.reason), ("Failed", "FailedIndexes"));
}

#[test]
fn a_suspended_job_has_no_pods_until_it_is_resumed() {
    let mut world = World::new(false, 3, Some(3), 6);
    world.happens(Event::Reconcile { writes: 99 });
    world.job.spec.suspend = Some(true);
    world.happens(Event::Reconcile { writes: 99 });
    assert!(world.pods.iter().all(|it| !is_active(it)));
    let status = world.job.status.clone();
    assert_eq!((status.active, status.failed), (0, 0), "they do not count");
    assert_eq!(
        (&*status.conditions[0].reason, status.start_time),
        ("JobSuspended", None)
    );
    world.job.spec.suspend = Some(false);
    world.happens(Event::Reconcile { writes: 99 });
    assert_eq!(world.job.status.active, 3);
    let condition = &world.job.status.conditions[0];
    assert_eq!(
        (&*condition.status, &*condition.reason),
        ("False", "JobResumed")
    );
}
