//! Takes a child without a note for outdated, and recreates it without the note: forever.

use crate::support::{Case, NAMESPACE, Reconciled, Version, create, delete, is_parent, manage};
use crate::support::{merge, or_exists, parent, secret};
use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::cache::Lister;
use kubist::client::Client;
use kubist::controller::{Action, Controller, Error, set_controller_reference};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario};
use serde_json::json;
use std::sync::Arc;

const NOTE: &str = "example.com/made-from";

pub(crate) const CASE: Case = Case {
    name: "recreates forever",
    scenario,
    is_found: |problem| {
        matches!(
            problem,
            Problem::WriteLoop { .. } | Problem::NotSettled { .. }
        )
    },
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("recreates")
        .controller("secrets", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let parents = factory.informer::<ConfigMap>();
            let secrets = factory.informer::<Secret>();
            let this = Arc::new(Reconciler {
                client,
                parents: parents.lister_unsynced(),
                secrets: secrets.lister_unsynced(),
                version,
            });
            let controller = Controller::new("secrets", &parents).owns(&secrets);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("a parent is created", |client| {
            create(client, parent("site", &[("text", "one")]))
        })
        .step("its text is changed", |client| {
            merge::<ConfigMap>(client, "site", json!({"data": {"text": "two"}}))
        })
}

struct Reconciler {
    client: Client,
    parents: Lister<ConfigMap>,
    secrets: Lister<Secret>,
    version: Version,
}

impl Reconciler {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(parent) = self.parents.get(key).filter(|it| is_parent(it)) else {
            return Ok(Action::done());
        };
        let Some(text) = parent.data.get("text") else {
            return Ok(Action::done());
        };
        let mut child = secret(&key.name);
        set_controller_reference(&*parent, &mut child).map_err(Error::terminal)?;
        if self.version.is_fixed() {
            child.metadata.annotations.insert(NOTE.into(), text.clone());
        }
        match self.secrets.get(&ObjectName::new(NAMESPACE, &*key.name)) {
            None => {
                or_exists(create(self.client.clone(), child).await)?;
                let note = json!({"metadata": {"annotations": {NOTE: text}}});
                merge::<Secret>(self.client.clone(), &key.name, note).await?;
            }
            Some(made) if made.metadata.annotations.get(NOTE).is(text) => {}
            Some(made)
                if self.version.is_fixed() || made.metadata.annotations.contains_key(NOTE) =>
            {
                let note = json!({"metadata": {"annotations": {NOTE: text}}});
                merge::<Secret>(self.client.clone(), &key.name, note).await?;
            }
            Some(_) => {
                // Somebody else must have made it.
                delete::<Secret>(self.client.clone(), &key.name).await?;
                or_exists(create(self.client.clone(), child).await)?;
            }
        }
        Ok(Action::done())
    }
}
