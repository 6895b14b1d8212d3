//! The controller: each Website gets a Deployment of its name.

use crate::kind::{Website, WebsiteStatus};
use kubist::api::apps::v1::Deployment;
use kubist::api::core::v1::{Container, ObjectReference};
use kubist::apimachinery::{
    CONDITION_FALSE, CONDITION_TRUE, Condition, LabelSelector, ObjectName, PatchOptions, Str, Time,
    set_condition,
};
use kubist::cache::Lister;
use kubist::client::{Api, Client};
use kubist::controller::{
    Action, Controller, Error, Manager, OwnerError, set_controller_reference,
};
use kubist::events::{EventRecorder, EventType};
use kubist::informers::SharedInformerFactory;
use std::sync::Arc;
use std::time::SystemTime;

/// The name of this operator: its field manager, its lease, what its events come from.
pub(crate) const NAME: &str = "first-operator";

/// What a reconcile reads and writes.
struct Operator {
    client: Client,
    kinds: Lister<Website>,
    deployments: Lister<Deployment>,
    events: EventRecorder,
}

/// Returns a manager with the operator's controller.
pub(crate) fn manager(client: Client, events: EventRecorder) -> Manager<Client> {
    let factory = SharedInformerFactory::new(client.clone());
    let kinds = factory.informer::<Website>();
    let deployments = factory.informer::<Deployment>();
    let operator = Arc::new(Operator {
        client,
        kinds: kinds.lister_unsynced(), // complete before the first reconcile
        deployments: deployments.lister_unsynced(),
        events,
    });
    let controller = Controller::new(NAME, &kinds)
        .owns(&deployments) // a changed Deployment wakes its owner
        .workers(4);
    let reconcile = move |key: ObjectName| {
        let operator = Arc::clone(&operator);
        async move { operator.reconcile(&key).await }
    };
    Manager::new(factory).with(controller, reconcile)
}

impl Operator {
    async fn reconcile(&self, key: &ObjectName) -> Result<Action, Error> {
        let Some(object) = self.kinds.get(key) else {
            return Ok(Action::done()); // its Deployment is collected with it
        };
        let is_new = self.deployments.get(key).is_none();
        let wanted = deployment_of(&object).map_err(Error::terminal)?;
        let mine = PatchOptions {
            force: Some(true), // these fields are this operator's
            ..PatchOptions::managed_by(NAME)
        };
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), key.namespace.clone());
        api.apply(&wanted, &mine).await?; // writes nothing if nothing differs
        if is_new {
            let (about, note) = (ObjectReference::of(&*object), format!("made {key}"));
            self.events
                .event(&about, EventType::Normal, "Created", "Create", note);
        }
        self.write_status(&object, key).await?;
        Ok(Action::done())
    }

    async fn write_status(&self, object: &Website, key: &ObjectName) -> Result<(), Error> {
        let status = self.status_of(object, key, SystemTime::now().into());
        if object.status.as_ref() == Some(&status) {
            return Ok(()); // a write that changes nothing would only wake everybody
        }
        let api: Api<Website> = Api::namespaced(self.client.clone(), key.namespace.clone());
        api.edit_status(&key.name, |it| it.status = Some(status.clone()))
            .await?;
        Ok(())
    }

    fn status_of(&self, object: &Website, key: &ObjectName, now: Time) -> WebsiteStatus {
        let ready = self.deployments.get(key).map(|it| it.status.ready_replicas);
        let mut status = object.status.clone().unwrap_or_default();
        status.ready = ready.unwrap_or_default();
        let (is_ready, reason) = if status.ready >= object.spec.replicas {
            (CONDITION_TRUE, "PodsReady")
        } else {
            (CONDITION_FALSE, "PodsNotReady")
        };
        let condition = Condition {
            type_: "Ready".into(),
            status: is_ready.into(),
            observed_generation: object.metadata.generation,
            reason: reason.into(),
            message: format!("{} of {}", status.ready, object.spec.replicas).into(),
            ..Condition::default()
        };
        set_condition(&mut status.conditions, condition, now); // keeps the time of the last change
        status
    }
}

/// Only what this operator decides: everything else of the Deployment is left to others.
fn deployment_of(object: &Website) -> Result<Deployment, OwnerError> {
    let labels = [(Str::from(NAME), object.metadata.name.clone())];
    let mut deployment = Deployment::default();
    deployment.metadata.name = object.metadata.name.clone();
    deployment.metadata.namespace = object.metadata.namespace.clone();
    deployment.spec.replicas = Some(object.spec.replicas);
    deployment.spec.selector = Some(Box::new(LabelSelector {
        match_labels: labels.clone().into(),
        ..LabelSelector::default()
    }));
    deployment.spec.template.metadata.labels = labels.into();
    deployment.spec.template.spec.containers = vec![Container {
        name: "main".into(),
        image: object.spec.image.as_str().into(),
        ..Container::default()
    }];
    set_controller_reference(object, &mut deployment)?; // the garbage collector deletes it
    Ok(deployment)
}
