//! Removes its finalizer though the deletion of what it owns has failed.

use crate::support::{Case, NAMESPACE, Reconciled, Version, create, delete, is_parent, manage};
use crate::support::{or_exists, or_gone, parent, secret};
use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::ObjectName;
use kubist::cache::Lister;
use kubist::client::{Api, Client};
use kubist::controller::{Action, Controller, Finalizer};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario, State};
use std::sync::Arc;

const FINALIZER: &str = "example.com/account";

pub(crate) const CASE: Case = Case {
    name: "removes its finalizer too early",
    scenario,
    is_found: |problem| matches!(problem, Problem::Invariant { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("accounts")
        .controller("accounts", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let parents = factory.informer::<ConfigMap>();
            let this = Arc::new(Accounts {
                client,
                parents: parents.lister_unsynced(),
                version,
            });
            let controller = Controller::new("accounts", &parents);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("an account is opened", |client| {
            create(client, parent("account", &[]))
        })
        .step("it is closed", |client| {
            delete::<ConfigMap>(client, "account")
        })
        .invariant("no secret outlives its account", no_secret_outlives)
}

fn no_secret_outlives(state: &State) -> Result<(), String> {
    let Some(change) = state.change() else {
        return Ok(());
    };
    let is_closed = change.kind() == "ConfigMap" && change.after().is_none();
    match state.get::<Secret>(NAMESPACE, "account") {
        Some(_) if is_closed => Err("the account is gone, and its secret is not".to_owned()),
        _ => Ok(()),
    }
}

struct Accounts {
    client: Client,
    parents: Lister<ConfigMap>,
    version: Version,
}

impl Accounts {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(parent) = self.parents.get(key).filter(|it| is_parent(it)) else {
            return Ok(Action::done());
        };
        let parents: Api<ConfigMap> = Api::namespaced(self.client.clone(), NAMESPACE);
        let finalizer = Finalizer::new(FINALIZER);
        if finalizer.needs_cleanup(&parent.metadata) {
            let deleted = delete::<Secret>(self.client.clone(), &key.name).await;
            if self.version.is_fixed() {
                deleted?;
            }
            let removed = parents.edit(&key.name, |it| {
                finalizer.remove(&mut it.metadata);
            });
            or_gone(removed.await)?;
            return Ok(Action::done());
        }
        if parent.metadata.deletion_timestamp.is_some() {
            return Ok(Action::done());
        }
        // The object as it is now decides, not the cache: it may have been deleted since.
        let added = parents.edit(&key.name, |it| {
            finalizer.add(&mut it.metadata);
        });
        let current = match added.await {
            Err(error) if error.is_not_found() => return Ok(Action::done()),
            added => added?,
        };
        if current.metadata.deletion_timestamp.is_none() {
            or_exists(create(self.client.clone(), secret(&key.name)).await)?;
        }
        Ok(Action::done())
    }
}
