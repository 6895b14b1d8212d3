//! The operator of the guide, with leader election and events, passes exploration.

use crate::kind::{Website, WebsiteSpec};
use crate::operator;
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::apps::v1::Deployment;
use kubist::client::{Api, Client, Patch};
use kubist::custom_resource::{CustomResource as _, is_established};
use kubist::events::EventBroadcaster;
use kubist::leader_election::{LeaderElectionConfig, LeaseLock};
use kubist_test::explore::{Limits, Scenario, State, explore};
use serde_json::{Value, json};
use std::error::Error;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Seeds, times `KUBIST_TEST_SEEDS`.
const SEEDS: u64 = 12;

async fn install(client: Client) -> Result<(), Box<dyn Error + Send + Sync>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let definition = Website::definition();
    definitions.create(&definition).await?;
    let (name, patience) = (&definition.metadata.name, Duration::from_secs(30));
    definitions
        .wait_until_within(name, patience, is_established)
        .await?;
    Ok(())
}

async fn run(client: Client, stop: CancellationToken) -> Result<(), Box<dyn Error + Send + Sync>> {
    let broadcaster = EventBroadcaster::new(client.clone());
    let recorder = broadcaster.recorder(operator::NAME);
    let lock = LeaseLock::new(client.clone(), "default", operator::NAME);
    let manager = operator::manager(client, recorder)
        .with_leader_election(LeaderElectionConfig::new(lock))?
        .with_task("events", |token| async move {
            broadcaster.run(token).await;
            Ok(())
        });
    manager.run(stop).await?;
    Ok(())
}

async fn patch(client: Client, patch: Value) -> Result<Website, kubist::client::ApiError> {
    let websites: Api<Website> = Api::namespaced(client, "default");
    websites.patch("shop", &Patch::Merge(patch)).await
}

fn scenario() -> Scenario {
    let limits = Limits {
        quiet: Duration::from_secs(40), // leases are renewed all the while
        ..Limits::default()
    };
    Scenario::new("first operator")
        .limits(limits)
        .prepare("websites are defined", install)
        .copies("first-operator", 2, |client, stop| async move {
            run(client, stop).await.map_err(|it| it.to_string())
        })
        .step("a website is created", |client| async move {
            let spec = WebsiteSpec {
                image: "web:1".to_owned(),
                replicas: 2,
            };
            let websites: Api<Website> = Api::namespaced(client, "default");
            websites.create(&Website::new("shop", spec)).await
        })
        .step("its image is changed", |client| {
            patch(client, json!({"spec": {"image": "web:2"}}))
        })
        .step("it is scaled", |client| {
            patch(client, json!({"spec": {"replicas": 3}}))
        })
        .invariant(
            "a deployment has its website's name",
            deployments_have_websites,
        )
}

fn deployments_have_websites(state: &State) -> Result<(), String> {
    for deployment in state.all::<Deployment>() {
        if deployment.metadata.name != "shop" {
            return Err(format!(
                "there is a deployment {}",
                deployment.metadata.name
            ));
        }
    }
    Ok(())
}

#[test]
fn the_operator_of_the_guide_passes() {
    explore(0..SEEDS, &scenario()).assert_good();
}
