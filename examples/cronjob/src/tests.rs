//! The operator against an API server in this process, in virtual time: half an hour
//! passes at once.

use crate::kind::{ConcurrencyPolicy, CronJob, CronJobSpec};
use crate::operator::{self, Clock};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::batch::v1::{Job, JobCondition, JobTemplateSpec};
use kubist::api::core::v1::Container;
use kubist::apimachinery::{CONDITION_TRUE, ListOptions, Time};
use kubist::client::{Api, Client, Patch};
use kubist::custom_resource::{CustomResource as _, is_established};
use kubist::events::EventBroadcaster;
use kubist::{Server, ServerConfig};
use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);

type Outcome = Result<(), Box<dyn Error>>;

async fn install(client: &Client) -> Outcome {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = CronJob::definition();
    definitions.create(&definition).await?;
    let name = &definition.metadata.name;
    definitions
        .wait_until_within(name, PATIENCE, is_established)
        .await?;
    Ok(())
}

/// The runtime's time, which passes at once, from a minute after a time of the schedule on.
fn clock() -> Clock {
    let (real, start) = (Time::from(SystemTime::now()).unix(), Instant::now());
    let real = real - real % 300 + 60;
    Arc::new(move || {
        let passed = i64::try_from(start.elapsed().as_secs()).unwrap_or(i64::MAX);
        Time::from_unix(real.saturating_add(passed))
    })
}

pub(crate) fn every_five_minutes(policy: ConcurrencyPolicy) -> CronJob {
    let mut job_template = JobTemplateSpec::default();
    let pod = &mut job_template.spec.template.spec;
    pod.restart_policy = "Never".into();
    pod.containers = vec![Container {
        name: "main".into(),
        image: "backup:1".into(),
        ..Container::default()
    }];
    let spec = CronJobSpec {
        schedule: "*/5 * * * *".to_owned(),
        starting_deadline_seconds: Some(60),
        concurrency_policy: policy,
        suspend: false,
        job_template,
        successful_jobs_history_limit: 2,
        failed_jobs_history_limit: 1,
    };
    let mut cron = CronJob::new("backup", spec);
    cron.metadata.namespace = "default".into();
    cron
}

/// Runs the operator on a server, and a test beside it.
async fn with_operator<F: Future<Output = Outcome>>(test: impl FnOnce(Client) -> F) -> Outcome {
    let server = Server::start(ServerConfig::default()).await?;
    let client = server.in_process_client()?; // without sockets, which know no virtual time
    install(&client).await?;
    let recorder = EventBroadcaster::new(client.clone()).recorder("test");
    let manager = operator::manager(client.clone(), recorder, clock());
    let stop = CancellationToken::new();
    let test = async {
        let _stop = stop.clone().drop_guard(); // also when the test fails
        Box::pin(test(client)).await
    };
    let (ran, tested) = tokio::join!(manager.run(stop.clone()), test);
    tested?;
    ran?;
    server.shutdown().await;
    Ok(())
}

async fn jobs(client: &Client) -> Result<Vec<Job>, Box<dyn Error>> {
    let jobs: Api<Job> = Api::namespaced(client.clone(), "default");
    Ok(jobs.list(&ListOptions::default()).await?.items)
}

/// What the Job controller of a cluster would bring about.
async fn finish(client: &Client, job: &Job) -> Outcome {
    let api: Api<Job> = Api::namespaced(client.clone(), "default");
    let now = clock()();
    let complete = |type_: &str| JobCondition {
        type_: type_.into(),
        status: CONDITION_TRUE.into(),
        last_transition_time: Some(now),
        ..JobCondition::default()
    };
    let finished = api.edit_status(&job.metadata.name, |it| {
        it.status.start_time = Some(now);
        it.status.completion_time = Some(now);
        it.status.conditions = vec![complete("SuccessCriteriaMet"), complete("Complete")];
    });
    finished.await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn jobs_start_by_the_schedule_and_the_history_stays_short() -> Outcome {
    with_operator(|client| async move {
        let crons: Api<CronJob> = Api::namespaced(client.clone(), "default");
        crons
            .create(&every_five_minutes(ConcurrencyPolicy::Allow))
            .await?;
        let mut seen = Vec::new();
        for _ in 0..6 {
            sleep(Duration::from_secs(300)).await; // virtual
            for job in jobs(&client).await? {
                if job.status.conditions.is_empty() {
                    assert_eq!(&*job.metadata.owner_references[0].kind, "CronJob");
                    finish(&client, &job).await?;
                    seen.push(job.metadata.name);
                }
            }
        }
        sleep(Duration::from_secs(10)).await;
        assert_eq!(seen.len(), 6, "in half an hour: {seen:?}");
        seen.dedup();
        let left: Vec<_> = jobs(&client).await?;
        let left: Vec<_> = left.iter().map(|it| it.metadata.name.clone()).collect();
        assert_eq!(left, seen[seen.len() - 2..]);
        let status = crons.get("backup").await?.status.unwrap_or_default();
        assert_eq!(status.active, []);
        assert!(status.last_schedule_time.is_some());
        Ok(())
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_running_job_is_replaced_and_a_suspended_schedule_starts_none() -> Outcome {
    with_operator(|client| async move {
        let crons: Api<CronJob> = Api::namespaced(client.clone(), "default");
        crons
            .create(&every_five_minutes(ConcurrencyPolicy::Replace))
            .await?;
        sleep(Duration::from_secs(305)).await;
        let first = jobs(&client).await?;
        assert_eq!(first.len(), 1);
        sleep(Duration::from_secs(300)).await;
        let second = jobs(&client).await?;
        assert_eq!(second.len(), 1);
        assert_ne!(first[0].metadata.name, second[0].metadata.name);
        let status = crons.get("backup").await?.status.unwrap_or_default();
        assert_eq!(status.active[0].name, second[0].metadata.name);

        crons.edit("backup", |it| it.spec.suspend = true).await?;
        sleep(Duration::from_secs(900)).await;
        let third = jobs(&client).await?;
        assert_eq!(third.len(), 1);
        assert_eq!(third[0].metadata.name, second[0].metadata.name);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_server_refuses_names_that_are_too_long_and_unknown_policies() -> Outcome {
    let server = Server::start(ServerConfig::default()).await?;
    install(&server.client()).await?;
    let crons: Api<CronJob> = Api::namespaced(server.client(), "default");
    let mut cron = every_five_minutes(ConcurrencyPolicy::Allow);
    cron.metadata.name = "a".repeat(53).into();
    let error = crons.create(&cron).await.expect_err("it is too long");
    assert!(error.is_invalid(), "{error}");
    assert!(error.to_string().contains("no more than 52"), "{error}");
    crons
        .create(&every_five_minutes(ConcurrencyPolicy::Allow))
        .await?;
    let unknown = Patch::Merge(json!({"spec": {"concurrencyPolicy": "Sometimes"}}));
    let error = crons.patch("backup", &unknown).await;
    let error = error.expect_err("there is no such policy");
    assert!(error.is_invalid(), "{error}");
    assert!(error.to_string().contains("concurrencyPolicy"), "{error}");
    server.shutdown().await;
    Ok(())
}
