//! ReplicaSets: keep the desired number of Pods of a template.

use crate::replicator::Replicator;
use kubist_api::apps::v1::ReplicaSet;
use kubist_apimachinery::ObjectName;
use kubist_client::Client;
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_events::EventRecorder;
use kubist_informers::SharedInformerFactory;

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    recorder: EventRecorder,
) -> (Controller, ReplicaSetReconciler) {
    let (controller, replicator) = Replicator::new("replica-set", client, factory, recorder);
    (controller, ReplicaSetReconciler(replicator))
}

/// Reconciles ReplicaSets.
#[derive(Debug)]
pub struct ReplicaSetReconciler(Replicator<ReplicaSet>);

impl Reconciler for ReplicaSetReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        self.0.reconcile(key).await
    }
}
