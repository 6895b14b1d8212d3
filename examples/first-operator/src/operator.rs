//! The controller: each website gets a Deployment of its name.

use crate::website::{Website, WebsiteStatus};
use kubist::api::apps::v1::Deployment;
use kubist::api::core::v1::{Container, ObjectReference};
use kubist::apimachinery::{LabelSelector, ObjectName, PatchOptions, Str};
use kubist::cache::Lister;
use kubist::client::{Api, Client};
use kubist::controller::{
    Action, Controller, Error, Manager, OwnerError, set_controller_reference,
};
use kubist::events::{EventRecorder, EventType};
use kubist::informers::SharedInformerFactory;
use std::sync::Arc;

/// The field manager of what this operator applies.
const MANAGER: &str = "website-operator";

/// What a reconcile reads and writes.
struct Operator {
    client: Client,
    websites: Lister<Website>,
    deployments: Lister<Deployment>,
    events: EventRecorder,
}

/// Returns a manager with the operator's controller.
pub fn manager(client: Client, events: EventRecorder) -> Manager<Client> {
    let factory = SharedInformerFactory::new(client.clone());
    let websites = factory.informer::<Website>();
    let deployments = factory.informer::<Deployment>();
    let operator = Arc::new(Operator {
        client,
        websites: websites.lister_unsynced(), // complete before the first reconcile
        deployments: deployments.lister_unsynced(),
        events,
    });
    let controller = Controller::new("website", &websites)
        .owns(&deployments)
        .workers(4);
    let reconcile = move |key: ObjectName| {
        let operator = Arc::clone(&operator);
        async move { operator.reconcile(&key).await }
    };
    Manager::new(factory).with(controller, reconcile)
}

impl Operator {
    async fn reconcile(&self, key: &ObjectName) -> Result<Action, Error> {
        let Some(website) = self.websites.get(key) else {
            return Ok(Action::done()); // its Deployment is collected with it
        };
        let wanted = deployment_of(&website).map_err(Error::terminal)?;
        let mine = PatchOptions {
            force: Some(true),
            ..PatchOptions::managed_by(MANAGER)
        };
        let deployments: Api<Deployment> =
            Api::namespaced(self.client.clone(), key.namespace.clone());
        deployments.apply(&wanted, &mine).await?;
        if self.deployments.get(key).is_none() {
            let (about, note) = (ObjectReference::of(&*website), format!("made {key}"));
            self.events
                .event(&about, EventType::Normal, "Made", "Make", note);
        }
        self.write_status(&website, key).await?;
        Ok(Action::done())
    }

    async fn write_status(&self, website: &Website, key: &ObjectName) -> Result<(), Error> {
        let ready = self.deployments.get(key).map(|it| it.status.ready_replicas);
        let status = WebsiteStatus {
            ready: ready.unwrap_or_default(),
            observed_generation: website.metadata.generation,
        };
        if website.status.as_ref() == Some(&status) {
            return Ok(()); // a write that changes nothing would only wake everybody
        }
        let websites: Api<Website> = Api::namespaced(self.client.clone(), key.namespace.clone());
        websites
            .edit_status(&key.name, |it| it.status = Some(status.clone()))
            .await?;
        Ok(())
    }
}

/// Only what this operator decides: everything else of the Deployment is left to others.
fn deployment_of(website: &Website) -> Result<Deployment, OwnerError> {
    let labels = [(Str::from("website"), website.metadata.name.clone())];
    let mut deployment = Deployment::default();
    deployment.metadata.name = website.metadata.name.clone();
    deployment.metadata.namespace = website.metadata.namespace.clone();
    deployment.spec.replicas = Some(website.spec.replicas);
    deployment.spec.selector = Some(Box::new(LabelSelector {
        match_labels: labels.clone().into(),
        ..LabelSelector::default()
    }));
    deployment.spec.template.metadata.labels = labels.into();
    deployment.spec.template.spec.containers = vec![Container {
        name: "web".into(),
        image: website.spec.image.as_str().into(),
        ..Container::default()
    }];
    set_controller_reference(website, &mut deployment)?;
    Ok(deployment)
}
