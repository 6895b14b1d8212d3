//! `OwnedPods`: the Pods of the owners of one kind.
//!
//! It finds an owner's Pods in the cache and adopts those that its selector matches. Pods that the
//! controller wrote are remembered: without that, a reconcile that follows quickly would not see
//! the Pods just created, and create them again.

use crate::ownership::claim_all;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{KubeObject, Object, ObjectName, Selector};
use kubist_cache::{Encoded, Index, IndexHandle, Lister, WriteLog};
use kubist_client::{Api, Client};
use kubist_controller::{Controller, Error};
use kubist_informers::{SharedInformer, SharedInformerFactory};
use std::sync::Arc;

/// The Pods of the owners of one kind, and what was written of them.
#[derive(Debug)]
pub(crate) struct OwnedPods {
    pods: Lister<Encoded<Pod>>,
    by_owner: IndexHandle<Encoded<Pod>>,
    orphans: IndexHandle<Encoded<Pod>>,
    writes: WriteLog<Pod>,
}

impl OwnedPods {
    pub(crate) fn new(factory: &SharedInformerFactory<Client>) -> Self {
        let pods = factory.informer::<Encoded<Pod>>();
        Self {
            by_owner: pods.add_index(Index::owner_uid()),
            orphans: pods.add_index(Index::new("orphans", |pod: &Encoded<Pod>, namespaces| {
                if pod.owners().controller().is_none() {
                    namespaces.push(pod.namespace());
                }
            })),
            pods: pods.lister_unsynced(),
            writes: WriteLog::new(),
        }
    }

    /// Creates a controller of these owners: their changes, those of their Pods, and Pods without
    /// a controller that their selectors match lead to a reconcile.
    pub(crate) fn controller<O: KubeObject>(
        &self,
        name: &str,
        owners: &SharedInformer<O>,
        factory: &SharedInformerFactory<Client>,
        selector: fn(&O) -> Selector,
    ) -> Controller {
        let pods = factory.informer::<Encoded<Pod>>();
        let by_namespace = owners.add_index(Index::namespace());
        let lister = owners.lister_unsynced();
        Controller::new(name, owners)
            .owns(&pods)
            .reads_own_writes(&pods, &self.writes)
            .watches(&pods, move |pod: &Encoded<Pod>| {
                if pod.owners().controller().is_some() {
                    return Vec::new();
                }
                // It has no controller: any owner that selects it may adopt it.
                let all = lister.by_index(&by_namespace, pod.namespace());
                let selecting = all.iter().filter(|it| selector(it).matches_object(pod));
                selecting.map(|it| it.object_name()).collect()
            })
    }

    /// Returns the Pods of the key's namespace; what is written is remembered for the key.
    pub(crate) fn api(&self, client: &Client, key: &ObjectName) -> Api<Pod> {
        let api = Api::namespaced(client.clone(), key.namespace.clone());
        api.with_write_log(&self.writes.for_key(key))
    }

    /// Returns an owner's Pods after adopting and releasing; undecodable ones are skipped.
    pub(crate) async fn of<O: KubeObject>(
        &self,
        api: &Api<Pod>,
        owner: &O,
        selector: &Selector,
    ) -> Result<Vec<Arc<Pod>>, Error> {
        let mut candidates = self.pods.by_index(&self.by_owner, owner.uid());
        let orphans = self.pods.by_index(&self.orphans, owner.namespace());
        candidates.extend(
            orphans
                .into_iter()
                .filter(|pod| selector.matches_object(&**pod)),
        );
        let owned = claim_all(api, owner, selector, candidates).await?;
        let decoded = owned.iter().filter_map(|pod| match pod.decode() {
            Ok(pod) => Some(pod),
            Err(error) => {
                tracing::warn!(pod = %pod.object_name(), %error, "a Pod cannot be decoded");
                None
            }
        });
        Ok(decoded.collect())
    }
}
