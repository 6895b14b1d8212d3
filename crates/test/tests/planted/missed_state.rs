//! Acts on a flag that is set and taken back, and may never see it.

use crate::support::{Case, Reconciled, Version, create, is_parent, manage, merge};
use crate::support::{or_exists, parent, secret};
use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::cache::Lister;
use kubist::client::{ApiError, Client};
use kubist::controller::{Action, Controller};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const CASE: Case = Case {
    name: "misses a state between two looks",
    scenario,
    is_found: |problem| matches!(problem, Problem::Diverged { .. }),
};

fn scenario(version: Version) -> Scenario {
    let scenario = Scenario::new("backups").controller("backups", |client, stop| {
        let factory = SharedInformerFactory::new(client.clone());
        let parents = factory.informer::<ConfigMap>();
        let this = Arc::new(Backups {
            client,
            parents: parents.lister_unsynced(),
        });
        let controller = Controller::new("backups", &parents);
        let reconcile = move |key| {
            let this = Arc::clone(&this);
            async move { this.reconcile(&key).await }
        };
        manage(factory, controller, reconcile, stop)
    });
    let scenario = scenario.step("a database is created", |client| {
        create(client, parent("database", &[]))
    });
    if version.is_fixed() {
        // A request that stays cannot be missed.
        return scenario.step("a backup is requested, for good", |client| {
            patch(client, json!({"data": {"backup": "wanted"}}))
        });
    }
    scenario
        .step("a backup is requested", |client| {
            patch(client, json!({"data": {"backup": "wanted"}}))
        })
        .step("the request is taken back", |client| {
            patch(client, json!({"data": {"backup": null}}))
        })
}

async fn patch(client: Client, patch: Value) -> Result<ConfigMap, ApiError> {
    merge(client, "database", patch).await
}

struct Backups {
    client: Client,
    parents: Lister<ConfigMap>,
}

impl Backups {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let parent = self.parents.get(key).filter(|it| is_parent(it));
        if parent.is_some_and(|it| it.data.get("backup").is("wanted")) {
            let backup: Secret = secret(&format!("{}-backup", key.name));
            or_exists(create(self.client.clone(), backup).await)?;
        }
        Ok(Action::done())
    }
}
