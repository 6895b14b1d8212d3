//! Jobs: run Pods until enough of them have succeeded, or too many have failed.
//!
//! One pure core decides which Pods are created and deleted, another counts those that have
//! finished. As upstream, a Pod has a finalizer until it is counted, so none is missed. A finished
//! Job is deleted after `ttlSecondsAfterFinished`. Jobs with another `managedBy` are left alone.

mod backoff;
pub(crate) mod conditions;
mod indexes;
mod orphans;
mod plan;
mod pods;
mod policies;
#[cfg(test)]
mod simulation;
mod tracking;

pub use orphans::{OrphanReconciler, orphan_controller};

use self::backoff::Backoff;
use self::plan::{Plan, View};
use self::tracking::{Done, Tracking};
use crate::clock::until;
use crate::owned_pods::OwnedPods;
use crate::ownership::selector_of;
use crate::pod_state::{count, ready_since};
use crate::pod_writer::PodWriter;
use crate::{done_unless_refused, unless_outdated};
use futures_util::future::join_all;
use kubist_api::batch::v1::{Job, JobCondition, JobStatus};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{DeleteOptions, Object as _, ObjectName, PropagationPolicy, Str};
use kubist_cache::{Lister, WriteLog};
use kubist_client::{Api, ApiError, Client, Patch};
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_events::{EventRecorder, EventType};
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The Jobs of this controller, as those without `managedBy`.
const MANAGER: &str = "kubernetes.io/job-controller";

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    recorder: EventRecorder,
) -> (Controller, JobReconciler) {
    let jobs = factory.informer::<Job>();
    let pods = OwnedPods::new(factory);
    let writes = WriteLog::new();
    let controller = pods
        .controller("job", &jobs, factory, |job: &Job| {
            selector_of(job.spec.selector.as_deref())
        })
        .reads_own_writes(&jobs, &writes);
    let reconciler = JobReconciler {
        client: client.clone(),
        jobs: jobs.lister_unsynced(),
        pods,
        writes,
        recorder,
        failures: Mutex::default(),
    };
    (controller, reconciler)
}

/// Reconciles Jobs.
#[derive(Debug)]
pub struct JobReconciler {
    client: Client,
    jobs: Lister<Job>,
    pods: OwnedPods,
    /// The statuses that were written: a Pod must not be counted by an older one.
    writes: WriteLog<Job>,
    recorder: EventRecorder,
    /// The failures since the last success, with the uid of each Job. An entry is removed with its
    /// Job, or when it has finished.
    failures: Mutex<BTreeMap<ObjectName, (Str, Backoff)>>,
}

impl Reconciler for JobReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(job) = self.jobs.get(&key) else {
            self.failures.lock().remove(&key);
            return Ok(Action::done());
        };
        if job
            .spec
            .managed_by
            .as_deref()
            .is_some_and(|it| it != MANAGER)
        {
            return Ok(Action::done());
        }
        let jobs = Api::namespaced(self.client.clone(), key.namespace.clone());
        let jobs = jobs.with_write_log(&self.writes.for_key(&key));
        if conditions::ending(&job).is_some() {
            self.failures.lock().remove(&key);
            return self.expire(&jobs, &job).await;
        }
        Box::pin(self.sync(&jobs, &job, &key)).await
    }
}

impl JobReconciler {
    async fn sync(&self, jobs: &Api<Job>, job: &Job, key: &ObjectName) -> Result<Action, Error> {
        let api = self.pods.api(&self.client, key);
        let selector = selector_of(job.spec.selector.as_deref());
        let pods = self.pods.of(&api, job, &selector).await?;
        let view = View {
            job,
            pods: &pods,
            backoff: self.backoff(key, job),
            now: self.client.ambient().time(),
        };
        let plan = view.plan();
        let writer = PodWriter::new(&api, &self.recorder, job);
        let (done, failure) = act(&writer, &view, &plan).await;
        let action = plan.check.map_or_else(Action::done, Action::requeue_after);
        let backoff = plan.backoff;
        let mut tracking = Tracking::new(&view, plan, done);
        let mut stored = job.clone();
        if !write(jobs, &mut stored, &tracking.status).await? {
            return Ok(Action::done());
        }
        let entry = (job.metadata.uid.clone(), backoff);
        self.failures.lock().insert(key.clone(), entry);
        if let Some((reason, message)) = tracking.news {
            writer.tell(EventType::Normal, reason, message.to_owned());
        }
        let (released, refused) = release(&api, &tracking.release).await;
        let ending = tracking.settle(&released);
        if !write(jobs, &mut stored, &tracking.status).await? {
            return Ok(Action::done());
        }
        if let Some(ending) = ending {
            tell_end(&writer, &stored, &ending);
        }
        match failure.or(refused) {
            Some(error) => Err(error.into()),
            None => Ok(action),
        }
    }

    fn backoff(&self, key: &ObjectName, job: &Job) -> Backoff {
        let failures = self.failures.lock();
        let known = failures
            .get(key)
            .filter(|(uid, _)| *uid == job.metadata.uid);
        known.map(|(_, backoff)| *backoff).unwrap_or_default()
    }

    /// Deletes a finished Job when its time has come.
    async fn expire(&self, jobs: &Api<Job>, job: &Job) -> Result<Action, Error> {
        let ended = conditions::ending(job).and_then(|it| it.last_transition_time);
        let Some((ended, seconds)) = ended.zip(job.spec.ttl_seconds_after_finished) else {
            return Ok(Action::done());
        };
        if job.is_terminating() {
            return Ok(Action::done());
        }
        if let Some(left) = until(ended, seconds, self.client.ambient().time()) {
            return Ok(Action::requeue_after(left));
        }
        let options = DeleteOptions::default()
            .with_propagation(PropagationPolicy::Foreground)
            .with_uid(job.metadata.uid.clone())
            .with_resource_version(job.metadata.resource_version.clone());
        done_unless_refused(jobs.delete_with(&job.metadata.name, &options).await)
    }
}

/// Does what was planned.
async fn act(writer: &PodWriter<'_>, view: &View<'_>, plan: &Plan) -> (Done, Option<ApiError>) {
    let mut failure = None;
    let mut delete = plan.delete.clone();
    if plan.discards {
        let (released, refused) = release(writer.api(), &delete).await;
        delete.retain(|it| !pods::is_tracked(it) || released.contains(&it.metadata.uid));
        failure = refused;
    }
    let (deleted, refused) = writer.delete(&delete).await;
    let wanted = plan.create.iter().map(|it| pods::made(view.job, *it));
    let (created, rejected) = writer.create(&wanted.collect::<Vec<_>>()).await;
    let ready = deleted.iter().filter(|it| ready_since(it).is_some());
    let done = Done {
        created: count(created),
        deleted: count(deleted.len()),
        deleted_ready: count(ready.count()),
    };
    (done, failure.or(refused).or(rejected))
}

/// Tells how a Job has ended.
fn tell_end(writer: &PodWriter<'_>, job: &Job, ending: &JobCondition) {
    if ending.type_ != conditions::COMPLETE {
        let note = ending.message.to_string();
        writer.tell(EventType::Warning, &ending.reason, note);
        return;
    }
    let completions = job.spec.completions;
    if completions.is_some_and(|it| job.status.succeeded > it) {
        let note = "Too many succeeded pods running after completion count reached";
        writer.tell(EventType::Warning, "TooManySucceededPods", note.to_owned());
    }
    writer.tell(EventType::Normal, "Completed", "Job completed".to_owned());
}

/// Writes a status if it differs; false if the Job changed meanwhile.
async fn write(jobs: &Api<Job>, job: &mut Job, status: &JobStatus) -> Result<bool, Error> {
    if job.status == *status {
        return Ok(true);
    }
    job.status = status.clone();
    match unless_outdated(jobs.replace_status(job).await)? {
        Some(stored) => {
            *job = stored;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Removes the finalizers of Pods. Returns the uids of those that have none any more.
async fn release(api: &Api<Pod>, pods: &[Arc<Pod>]) -> (Vec<Str>, Option<ApiError>) {
    let tracked = pods.iter().filter(|it| pods::is_tracked(it));
    let answers = join_all(tracked.map(|pod| async move {
        let patch = Patch::Strategic(json!({"metadata": {
            "uid": &*pod.metadata.uid,
            "$deleteFromPrimitiveList/finalizers": [pods::FINALIZER],
        }}));
        let answer = api.patch(&pod.metadata.name, &patch).await;
        (&pod.metadata.uid, answer)
    }));
    let (mut released, mut failure) = (Vec::new(), None);
    for (uid, answer) in answers.await {
        match answer {
            Err(error) if !error.is_not_found() && !error.is_conflict() => {
                failure.get_or_insert(error);
            }
            _ => released.push(uid.clone()),
        }
    }
    (released, failure)
}
