//! `Replicator`: keeps the desired number of Pods of a template, for owners of one kind.
//!
//! Missing Pods are created with the owner as controller. If there are too many, the least
//! important ones are deleted. Pods that match the selector and have no controller are adopted.
//! Every owner is seen as a ReplicaSet.

mod status;

use crate::owned_pods::OwnedPods;
use crate::ownership::selector_of;
use crate::pod_ranking::least_important_first;
use crate::pod_state::is_over;
use crate::pod_writer::PodWriter;
use crate::unless_outdated;
use kubist_api::apps::v1::{ReplicaSet, ReplicaSetStatus};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{KubeObject, Namespaced, Object as _, ObjectName};
use kubist_cache::Lister;
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Action, Controller, Error, controller_reference};
use kubist_events::EventRecorder;
use kubist_informers::SharedInformerFactory;
use std::borrow::Cow;
use std::sync::Arc;

/// The maximum number of Pods that one reconcile creates or deletes, as upstream.
const BURST_MAX: usize = 500;

/// An owner of Pods of one template.
pub(crate) trait Replicated: KubeObject<Scope = Namespaced> + Clone {
    /// Returns it as a ReplicaSet.
    fn as_set(&self) -> Cow<'_, ReplicaSet>;
    /// Sets its status.
    fn set_status(&mut self, status: ReplicaSetStatus);
}

impl Replicated for ReplicaSet {
    fn as_set(&self) -> Cow<'_, ReplicaSet> {
        Cow::Borrowed(self)
    }
    fn set_status(&mut self, status: ReplicaSetStatus) {
        self.status = status;
    }
}

/// Reconciles owners of one kind.
#[derive(Debug)]
pub(crate) struct Replicator<O> {
    client: Client,
    owners: Lister<O>,
    pods: OwnedPods,
    recorder: EventRecorder,
}

impl<O: Replicated> Replicator<O> {
    /// Creates a controller and what it calls.
    pub(crate) fn new(
        name: &str,
        client: &Client,
        factory: &SharedInformerFactory<Client>,
        recorder: EventRecorder,
    ) -> (Controller, Self) {
        let owners = factory.informer::<O>();
        let pods = OwnedPods::new(factory);
        let controller = pods.controller(name, &owners, factory, |owner: &O| {
            selector_of(owner.as_set().spec.selector.as_deref())
        });
        let replicator = Self {
            client: client.clone(),
            owners: owners.lister_unsynced(),
            pods,
            recorder,
        };
        (controller, replicator)
    }

    pub(crate) async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(owner) = self.owners.get(&key) else {
            return Ok(Action::done());
        };
        let set = owner.as_set();
        let api = self.pods.api(&self.client, &key);
        let selector = selector_of(set.spec.selector.as_deref());
        let pods = self.pods.of(&api, &*owner, &selector).await?;
        let (ended, active): (Vec<_>, Vec<_>) = pods
            .into_iter()
            .partition(|pod| pod.is_terminating() || is_over(pod));
        let failure = if set.is_terminating() {
            None
        } else {
            let writer = PodWriter::new(&api, &self.recorder, &*owner);
            replicate(&writer, &*owner, &set, &active).await
        };
        let terminating = ended
            .iter()
            .filter(|pod| pod.is_terminating() && !is_over(pod))
            .count();
        let action = self
            .write_status(&*owner, &set, &active, terminating, failure.as_ref())
            .await?;
        failure.map_or(Ok(action), |error| Err(error.into()))
    }

    async fn write_status(
        &self,
        owner: &O,
        set: &ReplicaSet,
        active: &[Arc<Pod>],
        terminating: usize,
        failure: Option<&ApiError>,
    ) -> Result<Action, Error> {
        let time = self.client.ambient().time();
        let (status, check) = status::counted(set, active, terminating, failure, time);
        let again = check.map_or_else(Action::done, Action::requeue_after);
        let mut counted = owner.clone();
        counted.set_status(status);
        if counted.as_set().status == set.status {
            return Ok(again);
        }
        let api: Api<O> = Api::namespaced(self.client.clone(), owner.namespace());
        unless_outdated(api.replace_status(&counted).await)?;
        Ok(again)
    }
}

/// Creates missing Pods or deletes surplus ones; returns the first error.
async fn replicate<O: KubeObject>(
    writer: &PodWriter<'_>,
    owner: &O,
    set: &ReplicaSet,
    active: &[Arc<Pod>],
) -> Option<ApiError> {
    let wanted = usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or(0);
    if active.len() <= wanted {
        let missing = (wanted - active.len()).min(BURST_MAX);
        return writer.create(&vec![pod_of(owner, set); missing]).await.1;
    }
    let surplus = (active.len() - wanted).min(BURST_MAX);
    let ranked = least_important_first(active);
    writer.delete(&ranked[..surplus]).await.1
}

/// Returns a Pod of the template.
fn pod_of<O: KubeObject>(owner: &O, set: &ReplicaSet) -> Pod {
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
    pod.metadata.owner_references = vec![controller_reference(owner)];
    pod
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
        let pod = pod_of(&set, &set);
        assert_eq!(
            (&*pod.metadata.generate_name, &*pod.metadata.name),
            ("web-1-", "")
        );
        assert_eq!(pod.metadata.labels, set.spec.template.metadata.labels);
        assert_eq!(pod.spec, set.spec.template.spec);
        let owner = pod.metadata.controller().expect("an owner");
        assert_eq!((&*owner.uid, owner.block_owner_deletion), ("u", Some(true)));
    }
}
