//! ReplicaSets: keep the desired number of Pods of a template.
//!
//! Missing Pods are created with the ReplicaSet as controller. If there are too many, the least
//! important ones are deleted. Pods that match the selector and have no controller are adopted.

mod ranking;
mod status;

use crate::done_unless_refused;
use crate::ownership::{claim_all, selector_of};
use futures_util::future::join_all;
use kubist_api::apps::v1::ReplicaSet;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::ScalarField;
use kubist_apimachinery::{Object as _, ObjectName};
use kubist_cache::{Encoded, FieldLookup as _, Index, IndexHandle, Lister, WriteLog};
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Action, Controller, Error, Reconciler, controller_reference};
use kubist_informers::SharedInformerFactory;
use std::sync::Arc;

/// The maximum number of Pods that one reconcile creates or deletes, as upstream.
const BURST_MAX: usize = 500;

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
) -> (Controller, ReplicaSetReconciler) {
    let replica_sets = factory.informer::<ReplicaSet>();
    let pods = factory.informer::<Encoded<Pod>>();
    let by_namespace = replica_sets.add_index(Index::namespace());
    let reconciler = ReplicaSetReconciler {
        client: client.clone(),
        replica_sets: replica_sets.lister_unsynced(),
        by_owner: pods.add_index(Index::owner_uid()),
        orphans: pods.add_index(Index::new("orphans", |pod: &Encoded<Pod>, namespaces| {
            if pod.owners().controller().is_none() {
                namespaces.push(pod.namespace());
            }
        })),
        pods: pods.lister_unsynced(),
        writes: WriteLog::new(),
    };
    let lister = reconciler.replica_sets.clone();
    let controller = Controller::new("replica-set", &replica_sets)
        .owns(&pods)
        .reads_own_writes(&pods, &reconciler.writes)
        .watches(&pods, move |pod: &Encoded<Pod>| {
            if pod.owners().controller().is_some() {
                return Vec::new();
            }
            // It has no controller: any ReplicaSet that selects it may adopt it.
            let sets = lister.by_index(&by_namespace, pod.namespace());
            let selecting = sets
                .iter()
                .filter(|set| selector_of(set.spec.selector.as_deref()).matches_object(pod));
            selecting.map(|set| set.object_name()).collect()
        });
    (controller, reconciler)
}

/// Reconciles ReplicaSets.
#[derive(Debug)]
pub struct ReplicaSetReconciler {
    client: Client,
    replica_sets: Lister<ReplicaSet>,
    pods: Lister<Encoded<Pod>>,
    by_owner: IndexHandle<Encoded<Pod>>,
    orphans: IndexHandle<Encoded<Pod>>,
    /// The Pods that were written. Without them, a reconcile that follows quickly would not see the
    /// Pods just created, and create them again.
    writes: WriteLog<Pod>,
}

impl Reconciler for ReplicaSetReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(set) = self.replica_sets.get(&key) else {
            return Ok(Action::done());
        };
        let api = Api::namespaced(self.client.clone(), key.namespace.clone());
        let api = api.with_write_log(&self.writes.for_key(&key));
        let pods = self.pods_of(&api, &set).await?;
        let (ended, active): (Vec<_>, Vec<_>) = pods
            .into_iter()
            .partition(|pod| pod.is_terminating() || is_over(pod));
        let failure = if set.is_terminating() {
            None
        } else {
            self.replicate(&api, &set, &active).await.err()
        };
        let terminating = ended
            .iter()
            .filter(|pod| pod.is_terminating() && !is_over(pod))
            .count();
        let action = self
            .write_status(&set, &active, terminating, failure.as_ref())
            .await?;
        failure.map_or(Ok(action), |error| Err(error.into()))
    }
}

impl ReplicaSetReconciler {
    /// Returns the decoded Pods of a set; undecodable ones are skipped.
    async fn pods_of(&self, api: &Api<Pod>, set: &ReplicaSet) -> Result<Vec<Arc<Pod>>, Error> {
        let selector = selector_of(set.spec.selector.as_deref());
        let mut candidates = self.pods.by_index(&self.by_owner, &set.metadata.uid);
        let orphans = self.pods.by_index(&self.orphans, &set.metadata.namespace);
        candidates.extend(
            orphans
                .into_iter()
                .filter(|pod| selector.matches_object(&**pod)),
        );
        let owned = claim_all(api, set, &selector, candidates).await?;
        let decoded = owned.iter().filter_map(|pod| match pod.decode() {
            Ok(pod) => Some(pod),
            Err(error) => {
                tracing::warn!(pod = %pod.object_name(), %error, "a Pod cannot be decoded");
                None
            }
        });
        Ok(decoded.collect())
    }

    /// Creates missing Pods and deletes surplus ones.
    async fn replicate(
        &self,
        api: &Api<Pod>,
        set: &ReplicaSet,
        active: &[Arc<Pod>],
    ) -> Result<(), ApiError> {
        let wanted = usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or(0);
        if active.len() <= wanted {
            let missing = (wanted - active.len()).min(BURST_MAX);
            return Self::create(api, set, missing).await;
        }
        let surplus = (active.len() - wanted).min(BURST_MAX);
        let ranked = ranking::least_important_first(active);
        Self::delete(api, &ranked[..surplus]).await
    }

    /// Creates Pods in batches of 1, 2, 4, …, so that a template that the server rejects costs one
    /// request.
    async fn create(api: &Api<Pod>, set: &ReplicaSet, missing: usize) -> Result<(), ApiError> {
        let pod = pod_of(set);
        let (mut left, mut batch) = (missing, 1);
        while left > 0 {
            let now = left.min(batch);
            let made = join_all((0..now).map(|_| api.create(&pod))).await;
            for made in made {
                match made {
                    Ok(_) => {}
                    Err(error) if is_namespace_ending(&error) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            left -= now;
            batch *= 2;
        }
        Ok(())
    }

    async fn delete(api: &Api<Pod>, surplus: &[Arc<Pod>]) -> Result<(), ApiError> {
        let deletions = surplus.iter().map(|pod| async move {
            let options =
                kubist_apimachinery::DeleteOptions::default().with_uid(pod.metadata.uid.clone());
            match api.delete_with(&pod.metadata.name, &options).await {
                Err(error) if !error.is_not_found() && !error.is_conflict() => Err(error),
                _ => Ok(()),
            }
        });
        join_all(deletions).await.into_iter().collect()
    }

    async fn write_status(
        &self,
        set: &ReplicaSet,
        active: &[Arc<Pod>],
        terminating: usize,
        failure: Option<&ApiError>,
    ) -> Result<Action, Error> {
        let time = self.client.ambient().time();
        let (status, check) = status::counted(set, active, terminating, failure, time);
        let again = check.map_or_else(Action::done, Action::requeue_after);
        if status == set.status {
            return Ok(again);
        }
        let mut set = set.clone();
        set.status = status;
        let api: Api<ReplicaSet> =
            Api::namespaced(self.client.clone(), set.metadata.namespace.clone());
        Ok(done_unless_refused(api.replace_status(&set).await)?.earlier(again))
    }
}

/// Returns a Pod of the template.
fn pod_of(set: &ReplicaSet) -> Pod {
    let template = &set.spec.template;
    let mut pod = Pod {
        spec: template.spec.clone(),
        ..Pod::default()
    };
    pod.metadata.generate_name = format!("{}-", set.metadata.name).into();
    pod.metadata.namespace = set.metadata.namespace.clone();
    pod.metadata.labels = template.metadata.labels.clone();
    pod.metadata.annotations = template.metadata.annotations.clone();
    pod.metadata
        .finalizers
        .clone_from(&template.metadata.finalizers);
    pod.metadata.owner_references = vec![controller_reference(set)];
    pod
}

/// Reports whether a Pod has finished, successfully or not.
fn is_over(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_str(), "Succeeded" | "Failed")
}

/// Does the same without decoding.
pub(crate) fn is_finished(pod: &Encoded<Pod>) -> bool {
    static PHASE: std::sync::LazyLock<Option<ScalarField>> = std::sync::LazyLock::new(|| {
        ScalarField::new(Encoded::<Pod>::schema(), "status.phase").ok()
    });
    PHASE
        .as_ref()
        .is_some_and(|path| matches!(&*pod.field(path), "Succeeded" | "Failed"))
}

/// Reports whether the namespace accepts no new objects because it is terminating: so is this
/// one's.
pub(crate) fn is_namespace_ending(error: &ApiError) -> bool {
    let causes = error
        .status()
        .map(kubist_apimachinery::Status::causes)
        .unwrap_or_default();
    causes.iter().any(|it| it.reason == "NamespaceTerminating")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_made_from_the_template_and_owned() {
        let mut set = ReplicaSet::default();
        set.metadata.name = "web-1".into();
        set.metadata.namespace = "shop".into();
        set.metadata.uid = "u".into();
        set.spec
            .template
            .metadata
            .labels
            .insert("app".into(), "web".into());
        set.spec.template.spec.node_name = "here".into();
        let pod = pod_of(&set);
        assert_eq!(
            (&*pod.metadata.generate_name, &*pod.metadata.name),
            ("web-1-", "")
        );
        assert_eq!(pod.metadata.labels, set.spec.template.metadata.labels);
        assert_eq!(pod.spec, set.spec.template.spec);
        let owner = pod.metadata.controller().expect("an owner");
        assert_eq!((&*owner.uid, owner.block_owner_deletion), ("u", Some(true)));
    }

    #[test]
    fn the_phase_is_read_without_decoding() {
        for (phase, finished) in [("Running", false), ("Succeeded", true), ("Failed", true)] {
            let mut pod = Pod::default();
            pod.status.phase = phase.into();
            assert_eq!(is_finished(&Encoded::new(&pod).expect("a Pod")), finished);
            assert_eq!(is_over(&pod), finished);
        }
    }
}
