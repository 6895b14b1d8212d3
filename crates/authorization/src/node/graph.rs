//! `NodeGraph`: which objects belong to what runs on a node.

use super::pod_references::{of_pod, of_volume};
use super::related::{Related, RelatedKind};
use kubist_api::core::v1::{PersistentVolume, Pod};
use kubist_apimachinery::Str;
use std::collections::{BTreeMap, BTreeSet};

type Key = (Str, Str);

/// Pods, volumes and what they refer to, by node. Memory is proportional to the references of the
/// Pods that have a node.
#[derive(Debug, Default)]
pub struct NodeGraph {
    pods: BTreeMap<Key, BoundPod>,
    /// How many Pods of each node refer to an object.
    nodes: BTreeMap<Related, BTreeMap<Str, usize>>,
    volumes: BTreeMap<Str, BoundVolume>,
    /// The volumes that need a Secret.
    volumes_of_secret: BTreeMap<Related, BTreeSet<Str>>,
    attachments: BTreeMap<Str, Str>,
    slices: BTreeMap<Str, Str>,
}

#[derive(Debug)]
struct BoundPod {
    node: Str,
    references: BTreeSet<Related>,
}

#[derive(Debug)]
struct BoundVolume {
    claim: Related,
    secrets: BTreeSet<Related>,
}

impl NodeGraph {
    /// Adds or replaces a Pod. One without a node counts for nothing.
    pub fn put_pod(&mut self, pod: &Pod) {
        let meta = &pod.metadata;
        self.remove_pod(&meta.namespace, &meta.name);
        if pod.spec.node_name.is_empty() {
            return;
        }
        let (node, references) = (pod.spec.node_name.clone(), of_pod(pod));
        for reference in &references {
            let nodes = self.nodes.entry(reference.clone()).or_default();
            *nodes.entry(node.clone()).or_default() += 1;
        }
        let key = (meta.namespace.clone(), meta.name.clone());
        self.pods.insert(key, BoundPod { node, references });
    }

    /// Removes a Pod.
    pub fn remove_pod(&mut self, namespace: &str, name: &str) {
        let key = (Str::from(namespace), Str::from(name));
        let Some(BoundPod { node, references }) = self.pods.remove(&key) else {
            return;
        };
        for reference in references {
            let Some(nodes) = self.nodes.get_mut(&reference) else {
                continue;
            };
            if let Some(count) = nodes.get_mut(&node) {
                *count -= 1;
                if *count == 0 {
                    nodes.remove(&node);
                }
            }
            if nodes.is_empty() {
                self.nodes.remove(&reference);
            }
        }
    }

    /// Removes all Pods.
    pub fn clear_pods(&mut self) {
        self.pods.clear();
        self.nodes.clear();
    }

    /// Adds or replaces a volume. One without a claim counts for nothing.
    pub fn put_volume(&mut self, volume: &PersistentVolume) {
        let name = &volume.metadata.name;
        self.remove_volume(name);
        let Some(claim) = &volume.spec.claim_ref else {
            return;
        };
        let secrets = of_volume(volume);
        for secret in &secrets {
            let volumes = self.volumes_of_secret.entry(secret.clone()).or_default();
            volumes.insert(name.clone());
        }
        let claim = Related {
            kind: RelatedKind::Claim,
            namespace: claim.namespace.clone(),
            name: claim.name.clone(),
        };
        self.volumes
            .insert(name.clone(), BoundVolume { claim, secrets });
    }

    /// Removes a volume.
    pub fn remove_volume(&mut self, name: &str) {
        let Some(BoundVolume { secrets, .. }) = self.volumes.remove(name) else {
            return;
        };
        for secret in secrets {
            if let Some(volumes) = self.volumes_of_secret.get_mut(&secret) {
                volumes.remove(name);
                if volumes.is_empty() {
                    self.volumes_of_secret.remove(&secret);
                }
            }
        }
    }

    /// Removes all volumes.
    pub fn clear_volumes(&mut self) {
        self.volumes.clear();
        self.volumes_of_secret.clear();
    }

    /// Adds or replaces a `VolumeAttachment` of a node.
    pub fn put_attachment(&mut self, name: Str, node: Str) {
        self.attachments.insert(name, node);
    }

    /// Removes a `VolumeAttachment`.
    pub fn remove_attachment(&mut self, name: &str) {
        self.attachments.remove(name);
    }

    /// Removes all `VolumeAttachment`s.
    pub fn clear_attachments(&mut self) {
        self.attachments.clear();
    }

    /// Adds or replaces a `ResourceSlice` of a node.
    pub fn put_slice(&mut self, name: Str, node: Str) {
        self.slices.insert(name, node);
    }

    /// Removes a `ResourceSlice`.
    pub fn remove_slice(&mut self, name: &str) {
        self.slices.remove(name);
    }

    /// Removes all `ResourceSlice`s.
    pub fn clear_slices(&mut self) {
        self.slices.clear();
    }

    pub(crate) fn has_pod(&self, node: &str, namespace: &str, name: &str) -> bool {
        let key = (Str::from(namespace), Str::from(name));
        self.pods.get(&key).is_some_and(|it| *it.node == *node)
    }

    /// Reports whether a Pod of the node refers to the object, or a volume of such a Pod does.
    pub(crate) fn refers(&self, node: &str, to: &Related) -> bool {
        let by_pods = |to| self.nodes.get(to).is_some_and(|it| it.contains_key(node));
        by_pods(to)
            || self.volumes_of_secret.get(to).is_some_and(|volumes| {
                let mut claims = volumes.iter().filter_map(|it| self.volumes.get(it));
                claims.any(|it| by_pods(&it.claim))
            })
    }

    pub(crate) fn has_volume(&self, node: &str, name: &str) -> bool {
        let volume = self.volumes.get(name);
        volume.is_some_and(|it| self.refers(node, &it.claim))
    }

    pub(crate) fn has_attachment(&self, node: &str, name: &str) -> bool {
        self.attachments.get(name).is_some_and(|it| **it == *node)
    }

    pub(crate) fn has_slice(&self, node: &str, name: &str) -> bool {
        self.slices.get(name).is_some_and(|it| **it == *node)
    }
}
