//! Follows the Pods, volumes and the like that decide what kubelets may do.

use crate::following::{Follower, follow, load};
use kubist_api::core::v1::{PersistentVolume, Pod};
use kubist_api::resource::v1::ResourceSlice;
use kubist_api::storage::v1::VolumeAttachment;
use kubist_apimachinery::Status;
use kubist_authorization::node::{NodeAuthorizer, NodeGraph};
use kubist_registry::Registry;
use std::sync::Arc;

/// Keeps the graph of a Node authorizer.
#[derive(Debug)]
pub(crate) struct NodeFollower {
    of: Arc<NodeAuthorizer>,
}

impl NodeFollower {
    /// Reads everything once, so that the first request of a kubelet is judged like all others.
    ///
    /// # Errors
    /// Those of the storage.
    pub(crate) async fn begin(
        of: Arc<NodeAuthorizer>,
        registry: &Registry,
    ) -> Result<Self, Status> {
        let follower = Self { of };
        load::<Pod>(registry, &follower).await?;
        load::<PersistentVolume>(registry, &follower).await?;
        load::<VolumeAttachment>(registry, &follower).await?;
        load::<ResourceSlice>(registry, &follower).await?;
        Ok(follower)
    }

    /// Follows changes. Never returns.
    ///
    /// # Cancel safety
    /// Can be dropped at any time. The graph then stays as it is.
    pub(crate) async fn run(&self, registry: &Registry) {
        tokio::join!(
            follow::<Pod>(registry, self),
            follow::<PersistentVolume>(registry, self),
            follow::<VolumeAttachment>(registry, self),
            follow::<ResourceSlice>(registry, self),
        );
    }
}

impl Follower<Pod> for NodeFollower {
    fn replace(&self, all: &[&Pod]) {
        self.of.change(|graph| {
            graph.clear_pods();
            for pod in all {
                graph.put_pod(pod);
            }
        });
    }

    fn put(&self, pod: &Pod) {
        self.of.change(|graph| graph.put_pod(pod));
    }

    fn remove(&self, pod: &Pod) {
        let meta = &pod.metadata;
        self.of
            .change(|graph| graph.remove_pod(&meta.namespace, &meta.name));
    }
}

impl Follower<PersistentVolume> for NodeFollower {
    fn replace(&self, all: &[&PersistentVolume]) {
        self.of.change(|graph| {
            graph.clear_volumes();
            for volume in all {
                graph.put_volume(volume);
            }
        });
    }

    fn put(&self, volume: &PersistentVolume) {
        self.of.change(|graph| graph.put_volume(volume));
    }

    fn remove(&self, volume: &PersistentVolume) {
        let name = &volume.metadata.name;
        self.of.change(|graph| graph.remove_volume(name));
    }
}

fn put_attachment(graph: &mut NodeGraph, attachment: &VolumeAttachment) {
    let name = attachment.metadata.name.clone();
    graph.put_attachment(name, attachment.spec.node_name.clone());
}

impl Follower<VolumeAttachment> for NodeFollower {
    fn replace(&self, all: &[&VolumeAttachment]) {
        self.of.change(|graph| {
            graph.clear_attachments();
            for attachment in all {
                put_attachment(graph, attachment);
            }
        });
    }

    fn put(&self, attachment: &VolumeAttachment) {
        self.of.change(|graph| put_attachment(graph, attachment));
    }

    fn remove(&self, attachment: &VolumeAttachment) {
        let name = &attachment.metadata.name;
        self.of.change(|graph| graph.remove_attachment(name));
    }
}

fn put_slice(graph: &mut NodeGraph, slice: &ResourceSlice) {
    if let Some(node) = slice.spec.node_name.clone() {
        graph.put_slice(slice.metadata.name.clone(), node);
    }
}

impl Follower<ResourceSlice> for NodeFollower {
    fn replace(&self, all: &[&ResourceSlice]) {
        self.of.change(|graph| {
            graph.clear_slices();
            for slice in all {
                put_slice(graph, slice);
            }
        });
    }

    fn put(&self, slice: &ResourceSlice) {
        self.of.change(|graph| put_slice(graph, slice));
    }

    fn remove(&self, slice: &ResourceSlice) {
        let name = &slice.metadata.name;
        self.of.change(|graph| graph.remove_slice(name));
    }
}
