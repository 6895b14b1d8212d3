//! ReplicationControllers, the ReplicaSets of old: their selectors are labels, and their Pods the
//! same.

use crate::replicator::{Replicated, Replicator};
use kubist_api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus};
use kubist_api::core::v1::{ReplicationController, ReplicationControllerCondition};
use kubist_apimachinery::{LabelSelector, ObjectName};
use kubist_client::Client;
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_events::EventRecorder;
use kubist_informers::SharedInformerFactory;
use std::borrow::Cow;

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    recorder: EventRecorder,
) -> (Controller, ReplicationReconciler) {
    let name = "replication-controller";
    let (controller, replicator) = Replicator::new(name, client, factory, recorder);
    (controller, ReplicationReconciler(replicator))
}

/// Reconciles ReplicationControllers.
#[derive(Debug)]
pub struct ReplicationReconciler(Replicator<ReplicationController>);

impl Reconciler for ReplicationReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        self.0.reconcile(key).await
    }
}

impl Replicated for ReplicationController {
    fn as_set(&self) -> Cow<'_, ReplicaSet> {
        let (spec, status) = (&self.spec, &self.status);
        let mut set = ReplicaSet {
            metadata: self.metadata.clone(),
            ..ReplicaSet::default()
        };
        set.spec.replicas = spec.replicas;
        set.spec.min_ready_seconds = spec.min_ready_seconds;
        set.spec.selector = Some(Box::new(LabelSelector {
            match_labels: spec.selector.clone(),
            ..LabelSelector::default()
        }));
        set.spec.template = spec.template.as_deref().cloned().unwrap_or_default();
        let condition = |it: &ReplicationControllerCondition| ReplicaSetCondition {
            type_: it.type_.clone(),
            status: it.status.clone(),
            last_transition_time: it.last_transition_time,
            reason: it.reason.clone(),
            message: it.message.clone(),
        };
        set.status = ReplicaSetStatus {
            replicas: status.replicas,
            fully_labeled_replicas: status.fully_labeled_replicas,
            ready_replicas: status.ready_replicas,
            available_replicas: status.available_replicas,
            observed_generation: status.observed_generation,
            conditions: status.conditions.iter().map(condition).collect(),
            ..ReplicaSetStatus::default()
        };
        Cow::Owned(set)
    }

    /// Pods that are terminating are not counted here.
    fn set_status(&mut self, status: ReplicaSetStatus) {
        let condition = |it: ReplicaSetCondition| ReplicationControllerCondition {
            type_: it.type_,
            status: it.status,
            last_transition_time: it.last_transition_time,
            reason: it.reason,
            message: it.message,
        };
        let own = &mut self.status;
        own.replicas = status.replicas;
        own.fully_labeled_replicas = status.fully_labeled_replicas;
        own.ready_replicas = status.ready_replicas;
        own.available_replicas = status.available_replicas;
        own.observed_generation = status.observed_generation;
        own.conditions = status.conditions.into_iter().map(condition).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_comes_back_as_it_was_set() {
        let mut controller = ReplicationController::default();
        controller.spec.selector.insert("app".into(), "web".into());
        let status = ReplicaSetStatus {
            replicas: 5,
            fully_labeled_replicas: 4,
            ready_replicas: 3,
            available_replicas: 2,
            observed_generation: 7,
            conditions: vec![ReplicaSetCondition {
                type_: "ReplicaFailure".into(),
                ..ReplicaSetCondition::default()
            }],
            ..ReplicaSetStatus::default()
        };
        controller.set_status(status.clone());
        let set = controller.as_set();
        assert_eq!(set.status, status);
        let selector = set.spec.selector.as_ref().map(|it| &it.match_labels);
        assert_eq!(selector, Some(&controller.spec.selector));
    }
}
