//! The operator under exploration: crashes, stale caches, requests that fail.

use crate::kind::{ConcurrencyPolicy, CronJob};
use crate::operator;
use crate::tests::every_five_minutes;
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::batch::v1::Job;
use kubist::client::{Api, ApiError, Client, Patch};
use kubist::controller::ManagerError;
use kubist::custom_resource::{CustomResource as _, is_established};
use kubist::events::EventBroadcaster;
use kubist_test::explore::{Scenario, State, explore};
use serde_json::json;
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

async fn install(client: Client) -> Result<(), Box<dyn Error + Send + Sync>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let definition = CronJob::definition();
    definitions.create(&definition).await?;
    let (name, patience) = (&definition.metadata.name, Duration::from_secs(30));
    definitions
        .wait_until_within(name, patience, is_established)
        .await?;
    Ok(())
}

async fn run(client: Client, stop: CancellationToken) -> Result<(), ManagerError> {
    let broadcaster = EventBroadcaster::new(client.clone());
    let recorder = broadcaster.recorder(operator::NAME);
    let ambient = client.ambient().clone();
    let manager = operator::manager(client, recorder, Arc::new(move || ambient.time()));
    let manager = manager.with_task("events", |token| async move {
        broadcaster.run(token).await;
        Ok(())
    });
    manager.run(stop).await.map(drop)
}

/// Each time of the schedule has at most one Job.
fn times_have_one_job(state: &State) -> Result<(), String> {
    let mut times = BTreeSet::new();
    for job in state.all::<Job>() {
        let time = job.metadata.annotations.get(crate::plan::SCHEDULED_AT);
        if !times.insert(time.cloned()) {
            return Err(format!("{time:?} has two Jobs"));
        }
    }
    Ok(())
}

async fn suspend(client: Client) -> Result<CronJob, ApiError> {
    sleep(Duration::from_secs(17 * 60)).await; // virtual
    let crons: Api<CronJob> = Api::namespaced(client, "default");
    let patch = Patch::Merge(json!({"spec": {"suspend": true}}));
    crons.patch("backup", &patch).await
}

#[test]
fn it_passes_exploration() {
    let scenario = Scenario::new("cron jobs")
        .prepare("the kind is defined", install)
        .controller("cronjob", run)
        .step("a schedule is created", |client| async move {
            let crons: Api<CronJob> = Api::namespaced(client, "default");
            crons
                .create(&every_five_minutes(ConcurrencyPolicy::Allow))
                .await
        })
        .step("it is suspended after a while", suspend)
        // How many times have passed depends on how long the operator was down.
        .may_end_differently()
        .invariant("a time has one Job", times_have_one_job);
    explore(0..40, &scenario).assert_good();
}
