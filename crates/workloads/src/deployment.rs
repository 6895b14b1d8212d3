//! Deployments: keep one ReplicaSet of the current template at the desired size, and replace the
//! Pods of older templates, all at once or step by step.
//!
//! The ReplicaSets create the Pods. This controller only creates, resizes and deletes ReplicaSets,
//! and writes the Deployment's status. It follows upstream's deployment controller without its
//! long-deprecated rollbacks.

mod annotations;
mod revision;
mod rollout;
mod sizes;
mod status;

use self::rollout::Rollout;
use crate::ownership::{claim_all, selector_of};
use crate::pod_state::is_finished;
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{ObjectName, Str};
use kubist_cache::{Encoded, Index, IndexHandle, Lister};
use kubist_client::{Api, Client};
use kubist_controller::{Action, Controller, Error, Reconciler, controller_reference};
use kubist_events::EventRecorder;
use kubist_informers::SharedInformerFactory;
use std::sync::Arc;

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    recorder: EventRecorder,
) -> (Controller, DeploymentReconciler) {
    let deployments = factory.informer::<Deployment>();
    let replica_sets = factory.informer::<ReplicaSet>();
    let pods = factory.informer::<Encoded<Pod>>();
    let reconciler = DeploymentReconciler {
        client: client.clone(),
        recorder,
        by_namespace: replica_sets.add_index(Index::namespace()),
        pods_by_owner: pods.add_index(Index::owner_uid()),
        lister: deployments.lister_unsynced(),
        replica_sets: replica_sets.lister_unsynced(),
        pods: pods.lister_unsynced(),
    };
    let controller = Controller::new("deployment", &deployments).owns(&replica_sets);
    // The controller waits for the list of Pods, but no change of a Pod enqueues a key.
    (controller.watches(&pods, |_| Vec::new()), reconciler)
}

/// Reconciles Deployments.
#[derive(Debug)]
pub struct DeploymentReconciler {
    client: Client,
    recorder: EventRecorder,
    lister: Lister<Deployment>,
    replica_sets: Lister<ReplicaSet>,
    by_namespace: IndexHandle<ReplicaSet>,
    pods: Lister<Encoded<Pod>>,
    pods_by_owner: IndexHandle<Encoded<Pod>>,
}

impl Reconciler for DeploymentReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(deployment) = self.lister.get(&key) else {
            return Ok(Action::done());
        };
        let selector = selector_of(deployment.spec.selector.as_deref());
        let api = Api::namespaced(self.client.clone(), key.namespace.clone());
        let candidates = self
            .replica_sets
            .by_index(&self.by_namespace, &key.namespace);
        let mut sets = claim_all(&api, &*deployment, &selector, candidates).await?;
        sets.sort_by_key(|it| (it.metadata.creation_timestamp, it.metadata.name.clone()));
        let is_new = |it: &Arc<ReplicaSet>| revision::is_of(it, &deployment.spec.template);
        let new = sets.iter().position(is_new).map(|index| sets.remove(index));
        let rollout = Rollout {
            deployments: Api::namespaced(self.client.clone(), key.namespace),
            replica_sets: api,
            recorder: self.recorder.clone(),
            status: deployment.status.clone(),
            deployment,
            old: sets,
            new,
        };
        Box::pin(rollout.run(self)).await
    }
}

impl DeploymentReconciler {
    /// Reports whether a Pod of one of these sets still runs.
    fn has_pods(&self, sets: &[Arc<ReplicaSet>]) -> bool {
        let mut pods = sets
            .iter()
            .flat_map(|set| self.pods.by_index(&self.pods_by_owner, &set.metadata.uid));
        pods.any(|pod| !is_finished(&pod))
    }
}

/// Returns the ReplicaSet of the Deployment's current template.
fn new_set(deployment: &Deployment, collisions: i32, revision: i64, all: i32) -> ReplicaSet {
    let spec = &deployment.spec;
    let hash = revision::template_hash(&spec.template, collisions);
    let mut set = ReplicaSet::default();
    set.metadata.name = format!("{}-{hash}", deployment.metadata.name).into();
    set.metadata.namespace = deployment.metadata.namespace.clone();
    set.metadata.owner_references = vec![controller_reference(deployment)];
    set.spec.min_ready_seconds = spec.min_ready_seconds;
    set.spec.replicas = Some(sizes::of_new(deployment, 0, all));
    set.spec.template = spec.template.clone();
    let mut selector = spec.selector.clone().unwrap_or_default();
    let label = || (Str::from(revision::HASH_LABEL), Str::from(hash.as_str()));
    set.spec.template.metadata.labels.extend([label()]);
    selector.match_labels.extend([label()]);
    set.spec.selector = Some(selector);
    set.metadata.labels = set.spec.template.metadata.labels.clone();
    revision::annotate_revision(deployment, &mut set, revision);
    sizes::annotate(deployment, &mut set);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_set_is_named_labelled_and_owned() {
        let mut deployment = Deployment::default();
        deployment.metadata.name = "web".into();
        deployment.metadata.uid = "u".into();
        deployment.spec.replicas = Some(4);
        let labels = &mut deployment.spec.template.metadata.labels;
        labels.insert("app".into(), "web".into());
        let set = new_set(&deployment, 0, 1, 0);
        let hash = &set.metadata.labels[revision::HASH_LABEL];
        assert_eq!(set.metadata.name, format!("web-{hash}"));
        assert_eq!(set.spec.replicas, Some(4));
        assert_eq!(set.metadata.owner_references[0].kind, "Deployment");
        let selector = selector_of(set.spec.selector.as_deref());
        assert!(selector.matches_labels(&set.spec.template.metadata.labels));
        assert!(revision::is_of(&set, &deployment.spec.template));
        assert_ne!(
            new_set(&deployment, 1, 1, 0).metadata.name,
            set.metadata.name
        );
    }
}
