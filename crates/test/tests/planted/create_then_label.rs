//! Creates a pod, and labels it afterwards: without the label it does not find it again.

use crate::support::{Case, Reconciled, Version, create, is_parent, manage, merge};
use crate::support::{or_exists, parent, pod};
use kubist::api::core::v1::{ConfigMap, Pod};
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::cache::Lister;
use kubist::client::Client;
use kubist::controller::{Action, Controller};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario};
use serde_json::json;
use std::sync::Arc;

const OF: &str = "example.com/of";

pub(crate) const CASE: Case = Case {
    name: "creates and labels in two writes",
    scenario,
    is_found: |problem| matches!(problem, Problem::Diverged { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("labels")
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
            let controller = Controller::new("pods", &parents);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("a job is requested", |client| {
            create(client, parent("job", &[]))
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
        if self.parents.get(key).is_none_or(|it| !is_parent(&it)) {
            return Ok(Action::done());
        }
        let pods = self.pods.list();
        let mut own = pods
            .iter()
            .filter(|it| it.metadata.labels.get(OF).is(&key.name));
        if own.next().is_some() {
            return Ok(Action::done());
        }
        let mut new = pod("");
        if self.version.is_fixed() {
            new.metadata.name = key.name.clone();
            new.metadata.labels.insert(OF.into(), key.name.clone());
            or_exists(create(self.client.clone(), new).await)?;
            return Ok(Action::done());
        }
        new.metadata.generate_name = format!("{}-", key.name).into();
        let new = create(self.client.clone(), new).await?;
        let label = json!({"metadata": {"labels": {OF: key.name}}});
        merge::<Pod>(self.client.clone(), &new.metadata.name, label).await?;
        Ok(Action::done())
    }
}
