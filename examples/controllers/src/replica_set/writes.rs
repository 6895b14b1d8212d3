//! `Writes`: what was written for a ReplicaSet and is not in the lister yet.
//!
//! Without it, a run that follows quickly would not know of the Pods just made, and make them
//! again. A Pod made is seen once the lister has reached its version; one deleted, once the lister
//! shows that it is going or gone.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion, Str};
use kubist_cache::Lister;
use parking_lot::Mutex;

/// Unseen writes by ReplicaSet. An entry goes when all of it was seen, or the ReplicaSet is gone.
#[derive(Debug, Default)]
pub(super) struct Writes {
    unseen: Mutex<BTreeMap<ObjectName, Unseen>>,
}

#[derive(Debug, Default)]
struct Unseen {
    /// The highest version of a Pod that was made.
    made: ResourceVersion,
    /// Names and uids of those deleted.
    deleted: Vec<(ObjectName, Str)>,
}

impl Writes {
    /// This Pod was made, and the server answered with it.
    pub(super) fn made(&self, set: &ObjectName, pod: &Pod) {
        let version = ResourceVersion::from(&pod.metadata.resource_version);
        let mut unseen = self.unseen.lock();
        let entry = unseen.entry(set.clone()).or_default();
        if entry.made.is_unset() || version.compare(&entry.made) == Some(Ordering::Greater) {
            entry.made = version;
        }
    }

    /// The server took the deletion of this Pod.
    pub(super) fn deleted(&self, set: &ObjectName, pod: &Pod) {
        let deleted = (pod.object_name(), pod.metadata.uid.clone());
        self.unseen
            .lock()
            .entry(set.clone())
            .or_default()
            .deleted
            .push(deleted);
    }

    /// The ReplicaSet is gone.
    pub(super) fn forget(&self, set: &ObjectName) {
        self.unseen.lock().remove(set);
    }

    /// Whether the lister shows all that was written for the ReplicaSet. It is to be asked before
    /// the lister is read.
    pub(super) fn are_seen<K: Object>(&self, set: &ObjectName, pods: &Lister<K>) -> bool {
        let mut all = self.unseen.lock();
        let Some(unseen) = all.get_mut(set) else {
            return true;
        };
        unseen.deleted.retain(|(name, uid)| {
            pods.get(name)
                .is_some_and(|pod| *pod.uid() == **uid && !pod.is_terminating())
        });
        let reached = pods.resource_version().compare(&unseen.made);
        let seen = unseen.deleted.is_empty() && reached != Some(Ordering::Less);
        if seen {
            all.remove(set);
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubist_cache::{Indexer, Queue as _, RealFifo, Replacement};

    use super::*;

    fn pod(name: &str, version: &str) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.metadata.uid = name.into();
        pod.metadata.resource_version = version.into();
        pod
    }

    fn lister(version: &str, pods: Vec<Pod>) -> Lister<Pod> {
        let (mut queue, mut indexer) = (RealFifo::new(), Indexer::new());
        queue.replace(Replacement {
            resource_version: version.into(),
            objects: pods.into_iter().map(Arc::new).collect(),
            unreadable: Vec::new(),
        });
        while let Some(batch) = queue.pop_batch() {
            batch
                .deltas
                .into_iter()
                .for_each(|it| indexer.apply(it, &mut Vec::new()));
        }
        indexer.publish();
        indexer.lister()
    }

    #[test]
    fn a_pod_made_is_seen_once_the_lister_has_reached_its_version() {
        let (writes, set) = (Writes::default(), ObjectName::new("shop", "web"));
        assert!(writes.are_seen(&set, &lister("1", Vec::new())));
        writes.made(&set, &pod("b", "12"));
        writes.made(&set, &pod("a", "9"));
        assert!(!writes.are_seen(&set, &lister("11", Vec::new())));
        assert!(
            writes.are_seen(&set, &lister("12", Vec::new())),
            "even if it is gone again"
        );
        assert!(writes.unseen.lock().is_empty());
    }

    #[test]
    fn a_pod_deleted_is_seen_once_it_is_going_or_gone() {
        let (writes, set) = (Writes::default(), ObjectName::new("shop", "web"));
        let (mut going, other) = (pod("a", "3"), pod("b", "4"));
        writes.deleted(&set, &going);
        assert!(!writes.are_seen(&set, &lister("5", vec![going.clone(), other.clone()])));
        going.metadata.deletion_timestamp = Some(kubist_apimachinery::Time::from_unix(1));
        assert!(writes.are_seen(&set, &lister("6", vec![going, other.clone()])));
        writes.deleted(&set, &other);
        assert!(writes.are_seen(&set, &lister("7", Vec::new())));
        writes.deleted(&set, &other);
        let mut successor = other;
        successor.metadata.uid = "another".into();
        assert!(writes.are_seen(&set, &lister("8", vec![successor])));
    }
}
