//! Repeats a create with a generated name after a timeout: the first was done.

use crate::support::{
    Case, Reconciled, Version, create, is_parent, manage, or_exists, parent, pod,
};
use kubist::api::core::v1::{ConfigMap, Pod};
use kubist::apimachinery::ObjectName;
use kubist::cache::Lister;
use kubist::client::Client;
use kubist::controller::{Action, Controller, Error, set_controller_reference};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const CASE: Case = Case {
    name: "retries a generated name after a timeout",
    scenario,
    is_found: |problem| matches!(problem, Problem::Diverged { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("timeouts")
        .controller("pods", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let parents = factory.informer::<ConfigMap>();
            let pods = factory.informer::<Pod>();
            let this = Arc::new(Reconciler {
                client,
                parents: parents.lister_unsynced(),
                pods: pods.lister_unsynced(),
                version,
            });
            let controller = Controller::new("pods", &parents).owns(&pods);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("a task is requested", |client| {
            create(client, parent("task", &[]))
        })
}

struct Reconciler {
    client: Client,
    parents: Lister<ConfigMap>,
    pods: Lister<Pod>,
    version: Version,
}

impl Reconciler {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(parent) = self.parents.get(key).filter(|it| is_parent(it)) else {
            return Ok(Action::done());
        };
        let is_own = |it: &Pod| {
            let owners = &it.metadata.owner_references;
            owners.iter().any(|it| it.uid == parent.metadata.uid)
        };
        if self.pods.list().iter().any(|it| is_own(it)) {
            return Ok(Action::done());
        }
        let mut new = pod("");
        set_controller_reference(&*parent, &mut new).map_err(Error::terminal)?;
        if self.version.is_fixed() {
            new.metadata.name = key.name.clone();
            or_exists(create(self.client.clone(), new).await)?;
            return Ok(Action::done());
        }
        new.metadata.generate_name = format!("{}-", key.name).into();
        for _ in 0..5 {
            if create(self.client.clone(), new.clone()).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(Action::done())
    }
}
