//! CronJobs: create Jobs at the times of a schedule.
//!
//! A pure core decides by the times of the schedule. The name of a Job is made of its time, so that
//! no time has two.

mod missed;
mod plan;
mod schedule;

use self::plan::Plan;
use crate::{is_namespace_ending, unless_outdated};
use kubist_api::batch::v1::{CronJob, Job};
use kubist_api::core::v1::ObjectReference;
use kubist_apimachinery::{DeleteOptions, Object as _, ObjectName, PropagationPolicy, Str, Time};
use kubist_cache::{Index, IndexHandle, Lister, WriteLog};
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Action, Controller, Error, Reconciler, controller_reference};
use kubist_events::{EventRecorder, EventType};
use kubist_informers::SharedInformerFactory;
use std::time::Duration;

/// The annotation of a Job with its time.
const SCHEDULED_AT: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/// Added to the wait for the next time, because clocks differ, as upstream.
const SKEW: Duration = Duration::from_millis(100);

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    recorder: EventRecorder,
) -> (Controller, CronJobReconciler) {
    let (crons, jobs) = (factory.informer::<CronJob>(), factory.informer::<Job>());
    let reconciler = CronJobReconciler {
        client: client.clone(),
        crons: crons.lister_unsynced(),
        by_owner: jobs.add_index(Index::owner_uid()),
        jobs: jobs.lister_unsynced(),
        writes: WriteLog::new(),
        job_writes: WriteLog::new(),
        recorder,
    };
    let controller = Controller::new("cron-job", &crons)
        .owns(&jobs)
        .reads_own_writes(&crons, &reconciler.writes)
        .reads_own_writes(&jobs, &reconciler.job_writes);
    (controller, reconciler)
}

/// Reconciles CronJobs.
#[derive(Debug)]
pub struct CronJobReconciler {
    client: Client,
    crons: Lister<CronJob>,
    jobs: Lister<Job>,
    by_owner: IndexHandle<Job>,
    writes: WriteLog<CronJob>,
    job_writes: WriteLog<Job>,
    recorder: EventRecorder,
}

impl Reconciler for CronJobReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(cron) = self.crons.get(&key) else {
            return Ok(Action::done());
        };
        let jobs = self.jobs.by_index(&self.by_owner, &cron.metadata.uid);
        let plan = plan::plan(&cron, &jobs, self.client.ambient().time());
        let api = Api::namespaced(self.client.clone(), key.namespace.clone());
        let run = Run {
            cron: &cron,
            jobs: api.with_write_log(&self.job_writes.for_key(&key)),
            recorder: &self.recorder,
            owner: ObjectReference::of(&*cron),
        };
        let next = plan.next;
        let (status, failure) = run.act(plan).await;
        if status != cron.status {
            let mut updated = CronJob::clone(&cron);
            updated.status = status;
            let crons = Api::namespaced(self.client.clone(), key.namespace.clone());
            let crons = crons.with_write_log(&self.writes.for_key(&key));
            unless_outdated(crons.replace_status(&updated).await)?;
        }
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(next.map_or_else(Action::done, |it| self.at(it))),
        }
    }
}

impl CronJobReconciler {
    fn at(&self, time: Time) -> Action {
        let time = Duration::from_secs(u64::try_from(time.unix()).unwrap_or(0));
        let left = time.saturating_sub(self.client.ambient().now());
        Action::requeue_after(left + SKEW)
    }
}

/// One reconcile.
struct Run<'a> {
    cron: &'a CronJob,
    jobs: Api<Job>,
    recorder: &'a EventRecorder,
    owner: ObjectReference,
}

impl Run<'_> {
    fn tell(&self, type_: EventType, reason: &str, note: String) {
        self.recorder.event(&self.owner, type_, reason, "", note);
    }

    /// Tells an event about a Job. Each Job has an event of its own.
    fn tell_of(&self, job: &Str, type_: EventType, reason: &str, note: String) {
        let related = ObjectReference {
            namespace: self.owner.namespace.clone(),
            name: job.clone(),
            ..ObjectReference::default()
        };
        self.recorder
            .event_related(&self.owner, &related, type_, reason, "", note);
    }

    /// Does what is planned; returns the status and the first error.
    async fn act(
        &self,
        mut plan: Plan,
    ) -> (kubist_api::batch::v1::CronJobStatus, Option<ApiError>) {
        for news in &plan.news {
            let (type_, note) = (news.type_, news.note.clone());
            match &news.job {
                Some(job) => self.tell_of(job, type_, news.reason, note),
                None => self.tell(type_, news.reason, note),
            }
        }
        let mut failure = None;
        for job in &plan.forget {
            let failed = self
                .delete(&job.metadata.name, &job.metadata.uid)
                .await
                .err();
            failure = failure.or(failed);
        }
        for job in &plan.replace {
            match self.delete(&job.name, &job.uid).await {
                Ok(()) => plan.status.active.retain(|it| it.uid != job.uid),
                Err(error) => return (plan.status, Some(error)),
            }
        }
        let Some(at) = plan.start else {
            return (plan.status, failure);
        };
        match self.create(at).await {
            Ok(Some(job)) => {
                let known = plan
                    .status
                    .active
                    .iter()
                    .any(|it| it.uid == job.metadata.uid);
                if !known && crate::job::conditions::ending(&job).is_none() {
                    plan.status.active.push(ObjectReference::of(&job));
                }
                plan.status.last_schedule_time = Some(at);
                (plan.status, failure)
            }
            Ok(None) => (plan.status, failure),
            Err(error) => (plan.status, Some(error)),
        }
    }

    async fn delete(&self, name: &Str, uid: &Str) -> Result<(), ApiError> {
        let options = DeleteOptions::default()
            .with_propagation(PropagationPolicy::Background)
            .with_uid(uid.clone());
        match self.jobs.delete_with(name, &options).await {
            Err(error) if !error.is_not_found() && !error.is_conflict() => {
                let note = format!("Deleted job: {error}");
                self.tell_of(name, EventType::Warning, "FailedDelete", note);
                Err(error)
            }
            _ => {
                let note = format!("Deleted job {name}");
                self.tell_of(name, EventType::Normal, "SuccessfulDelete", note);
                Ok(())
            }
        }
    }

    /// Creates the Job of a time, or finds the one that was created. None if somebody else's has
    /// its name, or the namespace ends.
    async fn create(&self, at: Time) -> Result<Option<Job>, ApiError> {
        let job = job_of(self.cron, at);
        match self.jobs.create(&job).await {
            Ok(job) => {
                let note = format!("Created job {}", job.metadata.name);
                let name = &job.metadata.name;
                self.tell_of(name, EventType::Normal, "SuccessfulCreate", note);
                Ok(Some(job))
            }
            Err(error) if error.is_already_exists() => {
                let job = self.jobs.get(&job.metadata.name).await?;
                let owner = job.metadata.controller().map(|it| it.uid.clone());
                Ok((owner.as_deref() == Some(self.cron.uid())).then_some(job))
            }
            Err(error) if is_namespace_ending(&error) => Ok(None),
            Err(error) => {
                let note = format!("Error creating job: {error}");
                self.tell(EventType::Warning, "FailedCreate", note);
                Err(error)
            }
        }
    }
}

/// Returns the Job of a time.
fn job_of(cron: &CronJob, at: Time) -> Job {
    let template = &cron.spec.job_template;
    let mut job = Job {
        spec: template.spec.clone(),
        ..Job::default()
    };
    job.metadata.name = plan::job_name(cron, at);
    job.metadata.namespace = cron.metadata.namespace.clone();
    job.metadata.labels = template.metadata.labels.clone();
    job.metadata.annotations = template.metadata.annotations.clone();
    let time = local(at, cron.spec.time_zone.as_deref().unwrap_or_default());
    let annotations = &mut job.metadata.annotations;
    annotations.insert(SCHEDULED_AT.into(), time.into());
    job.metadata.owner_references = vec![controller_reference(cron)];
    job
}

/// Shows a time in a time zone.
fn local(at: Time, zone: &str) -> String {
    let zone = schedule::zone_named(zone).unwrap_or(jiff::tz::TimeZone::UTC);
    let zoned = at.timestamp().map(|it| it.to_zoned(zone));
    let shown = zoned.map(|it| {
        let format = if it.offset().is_zero() {
            "%Y-%m-%dT%H:%M:%SZ"
        } else {
            "%Y-%m-%dT%H:%M:%S%:z"
        };
        it.strftime(format).to_string()
    });
    shown.unwrap_or_else(|| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_by_its_minute_and_knows_its_local_time() {
        let mut cron = CronJob::default();
        cron.metadata.name = "report".into();
        cron.metadata.uid = "u".into();
        cron.spec.time_zone = Some("Europe/Berlin".into());
        let labels = &mut cron.spec.job_template.metadata.labels;
        labels.insert("app".into(), "report".into());
        let at = "2026-07-01T03:00:00Z".parse().expect("a time");
        let job = job_of(&cron, at);
        assert_eq!(job.metadata.name, "report-29714580");
        assert_eq!(
            job.metadata.annotations[SCHEDULED_AT],
            "2026-07-01T05:00:00+02:00"
        );
        assert_eq!(job.metadata.labels["app"], "report");
        assert_eq!(job.metadata.owner_references[0].kind, "CronJob");
        cron.spec.time_zone = None;
        let job = job_of(&cron, at);
        assert_eq!(
            job.metadata.annotations[SCHEDULED_AT],
            "2026-07-01T03:00:00Z"
        );
    }
}
