//! Writes a status computed from an old spec over that of a newer one.

use crate::support::{Case, NAMESPACE, Reconciled, Version, create, manage, merge};
use kubist::api::apps::v1::Deployment;
use kubist::api::core::v1::Container;
use kubist::apimachinery::{LabelSelector, ObjectName, Str};
use kubist::cache::Lister;
use kubist::client::{Api, Client, Patch};
use kubist::controller::{Action, Controller};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario, State};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const CASE: Case = Case {
    name: "overwrites a newer status from a stale cache",
    scenario,
    is_found: |problem| matches!(problem, Problem::Invariant { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("statuses")
        .controller("statuses", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let deployments = factory.informer::<Deployment>();
            let this = Arc::new(Statuses {
                client,
                deployments: deployments.lister_unsynced(),
                version,
            });
            let controller = Controller::new("statuses", &deployments);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("a deployment is created", |client| {
            create(client, deployment())
        })
        .step("it is scaled to 2", |client| scale(client, 2))
        .step("it is scaled to 3", |client| scale(client, 3))
        .invariant("the observed generation only rises", generations_rise)
}

fn deployment() -> Deployment {
    let labels = [(Str::from("app"), Str::from("web"))];
    let mut deployment = Deployment::default();
    deployment.metadata.name = "web".into();
    deployment.spec.selector = Some(Box::new(LabelSelector {
        match_labels: labels.clone().into(),
        ..LabelSelector::default()
    }));
    deployment.spec.template.metadata.labels = labels.into();
    deployment.spec.template.spec.containers = vec![Container {
        name: "main".into(),
        image: "image".into(),
        ..Container::default()
    }];
    deployment
}

async fn scale(client: Client, replicas: i32) -> Result<Deployment, kubist::client::ApiError> {
    merge(client, "web", json!({"spec": {"replicas": replicas}})).await
}

fn generations_rise(state: &State) -> Result<(), String> {
    let Some(change) = state.change() else {
        return Ok(());
    };
    let observed = |it: Option<&Value>| {
        let observed = it.and_then(|it| it.pointer("/status/observedGeneration"));
        observed.and_then(Value::as_i64).unwrap_or_default()
    };
    let (before, after) = (observed(change.before()), observed(change.after()));
    if change.after().is_some() && after < before {
        return Err(format!("generation {after} was observed after {before}"));
    }
    Ok(())
}

struct Statuses {
    client: Client,
    deployments: Lister<Deployment>,
    version: Version,
}

impl Statuses {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(deployment) = self.deployments.get(key) else {
            return Ok(Action::done());
        };
        let observed = deployment.metadata.generation;
        if deployment.status.observed_generation == observed {
            return Ok(Action::done());
        }
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), NAMESPACE);
        if self.version.is_fixed() {
            let mut deployment = Deployment::clone(&deployment);
            deployment.status.observed_generation = observed;
            api.replace_status(&deployment).await?; // refused if it is not the newest
        } else {
            let patch = Patch::Merge(json!({"status": {"observedGeneration": observed}}));
            api.patch_status(&key.name, &patch).await?;
        }
        Ok(Action::done())
    }
}
