//! Deletes a claim because its cache shows no pod for it, though there is one.

use crate::support::{Case, NAMESPACE, Reconciled, Version, create, delete, manage, or_gone, pod};
use kubist::api::core::v1::{PersistentVolumeClaim, Pod, VolumeResourceRequirements};
use kubist::apimachinery::{DeleteOptions, ObjectName, Quantity};
use kubist::cache::Lister;
use kubist::client::{Api, Client};
use kubist::controller::{Action, Controller};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario, State};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// When a cache that was behind is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub(crate) const CASE: Case = Case {
    name: "deletes a claim on a stale read",
    scenario,
    is_found: |problem| matches!(problem, Problem::Invariant { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("claims")
        .controller("claims", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let pods = factory.informer::<Pod>();
            let claims = factory.informer::<PersistentVolumeClaim>();
            let this = Arc::new(Reconciler {
                client,
                pods: pods.lister_unsynced(),
                claims: claims.lister_unsynced(),
                version,
            });
            let controller = Controller::new("claims", &claims).watches(&pods, |pod: &Pod| {
                vec![ObjectName::new(NAMESPACE, &*pod.metadata.name)]
            });
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("db-0 is added", |client| add(client, "db-0"))
        .step("db-1 is added", |client| add(client, "db-1"))
        .step("the pod db-0 is removed", |client| {
            delete::<Pod>(client, "db-0")
        })
        .invariant("claims of pods are kept", claims_of_pods_are_kept)
}

async fn add(client: Client, name: &'static str) -> Result<(), kubist::client::ApiError> {
    create(client.clone(), pod(name)).await?;
    let mut claim = PersistentVolumeClaim::default();
    claim.metadata.name = name.into();
    claim.spec.access_modes = vec!["ReadWriteOnce".into()];
    let gigabyte: Quantity = "1Gi".parse().expect("it is a quantity");
    let resources = VolumeResourceRequirements {
        requests: [("storage".into(), gigabyte)].into(),
        ..VolumeResourceRequirements::default()
    };
    claim.spec.resources = resources;
    create(client, claim).await.map(drop)
}

fn claims_of_pods_are_kept(state: &State) -> Result<(), String> {
    let Some(change) = state.change() else {
        return Ok(());
    };
    let text = |it: Option<&Value>, field: &str| {
        let metadata = it.and_then(|it| it.get("metadata"));
        let text = metadata.and_then(|it| it.get(field)?.as_str());
        text.unwrap_or_default().to_owned()
    };
    // Servers protect claims by a finalizer, so a claim that is deleted stays for a while.
    let is_claim = change.kind() == "PersistentVolumeClaim";
    let was_marked = !text(change.before(), "deletionTimestamp").is_empty();
    let is_marked = !text(change.after(), "deletionTimestamp").is_empty();
    if !is_claim || was_marked || !is_marked {
        return Ok(());
    }
    let name = text(change.before(), "name");
    let name = name.as_str();
    match state.get::<Pod>(NAMESPACE, name) {
        Some(_) => Err(format!("the claim of the pod {name} was deleted")),
        None => Ok(()),
    }
}

struct Reconciler {
    client: Client,
    pods: Lister<Pod>,
    claims: Lister<PersistentVolumeClaim>,
    version: Version,
}

impl Reconciler {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(claim) = self.claims.get(key) else {
            return Ok(Action::done());
        };
        if self.pods.get(key).is_some() || claim.metadata.deletion_timestamp.is_some() {
            return Ok(Action::done());
        }
        let claims: Api<PersistentVolumeClaim> = Api::namespaced(self.client.clone(), NAMESPACE);
        let mut options = DeleteOptions::default();
        if self.version.is_fixed() {
            let pods: Api<Pod> = Api::namespaced(self.client.clone(), NAMESPACE);
            if pods.get_opt(&key.name).await?.is_some() {
                // The cache is behind, and may never show this pod if it is gone by then.
                return Ok(Action::requeue_after(LOOK_AGAIN));
            }
            options = options.with_uid(claim.metadata.uid.clone());
        }
        or_gone(claims.delete_with(&key.name, &options).await)?;
        Ok(Action::done())
    }
}
