//! The controller: carries out plans.

use crate::kind::{CronJob, CronJobStatus};
use crate::plan::{Plan, SCHEDULED_AT, ending, plan, scheduled_at};
use kubist::api::batch::v1::Job;
use kubist::api::core::v1::ObjectReference;
use kubist::apimachinery::{DeleteOptions, ObjectName, PropagationPolicy, Time};
use kubist::cache::{Index, IndexHandle, Lister, WriteLog};
use kubist::client::{Api, Client};
use kubist::controller::{Action, Controller, Error, Manager, set_controller_reference};
use kubist::events::{EventRecorder, EventType};
use kubist::informers::SharedInformerFactory;
use std::sync::Arc;
use std::time::Duration;

/// The name of this operator, and what its events come from.
pub(crate) const NAME: &str = "cronjob";

/// Tells the time: a program's is the machine's, a test's its own.
pub(crate) type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

struct Operator {
    client: Client,
    cron_jobs: Lister<CronJob>,
    jobs: Lister<Job>,
    by_owner: IndexHandle<Job>,
    written: WriteLog<Job>,
    events: EventRecorder,
    now: Clock,
}

/// Returns a manager with the operator's controller.
pub(crate) fn manager(client: Client, events: EventRecorder, now: Clock) -> Manager<Client> {
    let factory = SharedInformerFactory::new(client.clone());
    let cron_jobs = factory.informer::<CronJob>();
    let jobs = factory.informer::<Job>();
    let written = WriteLog::new();
    let operator = Arc::new(Operator {
        client,
        cron_jobs: cron_jobs.lister_unsynced(),
        jobs: jobs.lister_unsynced(),
        by_owner: jobs.add_index(Index::owner_uid()),
        written: written.clone(),
        events,
        now,
    });
    let controller = Controller::new(NAME, &cron_jobs)
        .owns(&jobs)
        // A plan is made from Jobs: those that the last one made must be among them.
        .reads_own_writes(&jobs, &written);
    let reconcile = move |key: ObjectName| {
        let operator = Arc::clone(&operator);
        async move { operator.reconcile(&key).await }
    };
    Manager::new(factory).with(controller, reconcile)
}

impl Operator {
    async fn reconcile(&self, key: &ObjectName) -> Result<Action, Error> {
        let Some(cron) = self.cron_jobs.get(key) else {
            return Ok(Action::done()); // its Jobs are collected with it
        };
        if cron.metadata.deletion_timestamp.is_some() {
            return Ok(Action::done());
        }
        let jobs = self.jobs.by_index(&self.by_owner, &cron.metadata.uid);
        let jobs: Vec<&Job> = jobs.iter().map(AsRef::as_ref).collect();
        let now = (self.now)();
        let plan = match plan(&cron, &jobs, now) {
            Ok(plan) => plan,
            Err(error) => {
                let about = ObjectReference::of(&*cron);
                self.events.event(
                    &about,
                    EventType::Warning,
                    "InvalidSchedule",
                    "Schedule",
                    error.to_string(),
                );
                return Err(Error::terminal(error)); // until the schedule changes
            }
        };
        self.carry_out(key, &cron, &plan).await?;
        self.write_status(key, &cron, &jobs, &plan).await?;
        Ok(plan.next.map_or(Action::done(), |next| {
            let seconds = next.unix().saturating_sub(now.unix());
            Action::requeue_after(Duration::from_secs(seconds.unsigned_abs()))
        }))
    }

    async fn carry_out(&self, key: &ObjectName, cron: &CronJob, plan: &Plan) -> Result<(), Error> {
        let jobs: Api<Job> = Api::namespaced(self.client.clone(), key.namespace.clone())
            .with_write_log(&self.written.for_key(key));
        let with_pods = DeleteOptions::default().with_propagation(PropagationPolicy::Background);
        for name in &plan.delete {
            match jobs.delete_with(name, &with_pods).await {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
        }
        let Some(time) = plan.start else {
            return Ok(());
        };
        let job = job_of(cron, time).map_err(Error::terminal)?;
        match jobs.create(&job).await {
            Ok(job) => {
                let note = format!("started Job {}", job.metadata.name);
                let about = ObjectReference::of(cron);
                self.events
                    .event(&about, EventType::Normal, "Started", "Start", note);
                Ok(())
            }
            Err(error) if error.is_already_exists() => Ok(()), // the name has its time
            Err(error) => Err(error.into()),
        }
    }

    async fn write_status(
        &self,
        key: &ObjectName,
        cron: &CronJob,
        jobs: &[&Job],
        plan: &Plan,
    ) -> Result<(), Error> {
        let running = jobs.iter().filter(|it| ending(it).is_none());
        let running = running.filter(|it| !plan.delete.contains(&it.metadata.name));
        let mut running: Vec<&&Job> = running.collect();
        running.sort_by_key(|it| scheduled_at(it));
        let status = CronJobStatus {
            active: running.iter().map(|it| ObjectReference::of(**it)).collect(),
            last_schedule_time: plan.last_schedule_time,
        };
        if cron.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let api: Api<CronJob> = Api::namespaced(self.client.clone(), key.namespace.clone());
        api.edit_status(&key.name, |it| it.status = Some(status.clone()))
            .await?;
        Ok(())
    }
}

/// The Job of a time. Its name has the minute, so that there is at most one.
fn job_of(cron: &CronJob, time: Time) -> Result<Job, kubist::controller::OwnerError> {
    let template = &cron.spec.job_template;
    let mut job = Job {
        spec: template.spec.clone(),
        ..Job::default()
    };
    job.metadata.name = format!("{}-{}", cron.metadata.name, time.unix() / 60).into();
    job.metadata.namespace = cron.metadata.namespace.clone();
    job.metadata.labels = template.metadata.labels.clone();
    job.metadata.annotations = template.metadata.annotations.clone();
    let annotations = &mut job.metadata.annotations;
    annotations.insert(SCHEDULED_AT.into(), time.to_string().into());
    set_controller_reference(cron, &mut job)?;
    Ok(job)
}
