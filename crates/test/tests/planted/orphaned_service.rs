//! Creates a service, and then notes its name in the parent: a crash in between orphans it.

use crate::support::{Case, NAMESPACE, Reconciled, Version, create, delete, is_parent, manage};
use crate::support::{merge, or_exists, or_gone, parent};
use kubist::api::core::v1::{ConfigMap, Service, ServicePort};
use kubist::apimachinery::ObjectName;
use kubist::cache::Lister;
use kubist::client::{Api, ApiError, Client};
use kubist::controller::{Action, Controller, Error, Finalizer, set_controller_reference};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario};
use serde_json::json;
use std::sync::Arc;

const FINALIZER: &str = "example.com/service";

pub(crate) const CASE: Case = Case {
    name: "orphans a service after a crash between two writes",
    scenario,
    is_found: |problem| matches!(problem, Problem::Diverged { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("services")
        .controller("services", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let parents = factory.informer::<ConfigMap>();
            let this = Arc::new(Services {
                client,
                parents: parents.lister_unsynced(),
                version,
            });
            let controller = Controller::new("services", &parents);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("the shop is opened", |client| {
            create(client, parent("shop", &[]))
        })
        .step("the shop is closed", |client| {
            delete::<ConfigMap>(client, "shop")
        })
}

struct Services {
    client: Client,
    parents: Lister<ConfigMap>,
    version: Version,
}

impl Services {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(parent) = self.parents.get(key).filter(|it| is_parent(it)) else {
            return Ok(Action::done());
        };
        let finalizer = Finalizer::new(FINALIZER);
        if finalizer.needs_cleanup(&parent.metadata) {
            self.clean_up(&parent).await?;
            let parents: Api<ConfigMap> = Api::namespaced(self.client.clone(), NAMESPACE);
            let removed = parents.edit(&key.name, |it| {
                finalizer.remove(&mut it.metadata);
            });
            or_gone(removed.await)?;
            return Ok(Action::done());
        }
        if parent.metadata.deletion_timestamp.is_some() {
            return Ok(Action::done());
        }
        if !finalizer.is_present(&parent.metadata) {
            let parents: Api<ConfigMap> = Api::namespaced(self.client.clone(), NAMESPACE);
            let added = parents.edit(&key.name, |it| {
                finalizer.add(&mut it.metadata);
            });
            or_gone(added.await)?;
            return Ok(Action::done()); // its change comes back
        }
        self.serve(&parent).await?;
        Ok(Action::done())
    }

    async fn serve(&self, parent: &ConfigMap) -> Result<(), Error> {
        if parent.data.contains_key("service") {
            return Ok(());
        }
        let mut service = Service::default();
        service.spec.ports = vec![ServicePort {
            port: 80,
            ..ServicePort::default()
        }];
        let name = if self.version.is_fixed() {
            // The name is known before, and without its parent the service is collected.
            set_controller_reference(parent, &mut service).map_err(Error::terminal)?;
            service.metadata.name = parent.metadata.name.clone();
            or_exists(create(self.client.clone(), service).await)?;
            parent.metadata.name.clone()
        } else {
            service.metadata.generate_name = format!("{}-", parent.metadata.name).into();
            create(self.client.clone(), service).await?.metadata.name
        };
        let note = json!({"data": {"service": name}});
        merge::<ConfigMap>(self.client.clone(), &parent.metadata.name, note).await?;
        Ok(())
    }

    async fn clean_up(&self, parent: &ConfigMap) -> Result<(), ApiError> {
        let name = match parent.data.get("service") {
            Some(noted) => noted,
            None if self.version.is_fixed() => &parent.metadata.name,
            None => return Ok(()),
        };
        delete::<Service>(self.client.clone(), name).await
    }
}
