//! Replaces an object with an old copy, without its resource version.

use crate::support::{
    Case, NAMESPACE, Reconciled, Version, create, is_parent, manage, merge, parent,
};
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ObjectName, Str};
use kubist::cache::Lister;
use kubist::client::{Api, Client};
use kubist::controller::{Action, Controller};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario};
use serde_json::json;
use std::sync::Arc;

pub(crate) const CASE: Case = Case {
    name: "loses a field by an update without a version",
    scenario,
    is_found: |problem| matches!(problem, Problem::Diverged { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("fields")
        .controller("checks", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let parents = factory.informer::<ConfigMap>();
            let this = Arc::new(Checks {
                client,
                parents: parents.lister_unsynced(),
                version,
            });
            let controller = Controller::new("checks", &parents);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("settings are written", |client| {
            create(client, parent("settings", &[]))
        })
        .step("a colour is added", |client| {
            merge::<ConfigMap>(client, "settings", json!({"data": {"colour": "blue"}}))
        })
}

struct Checks {
    client: Client,
    parents: Lister<ConfigMap>,
    version: Version,
}

impl Checks {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(parent) = self.parents.get(key).filter(|it| is_parent(it)) else {
            return Ok(Action::done());
        };
        if parent.data.contains_key("checked") {
            return Ok(Action::done());
        }
        let mut parent = ConfigMap::clone(&parent);
        parent.data.insert("checked".into(), "yes".into());
        if !self.version.is_fixed() {
            parent.metadata.resource_version = Str::default();
        }
        let parents: Api<ConfigMap> = Api::namespaced(self.client.clone(), NAMESPACE);
        parents.replace(&parent).await?;
        Ok(Action::done())
    }
}
