//! Follows the Pods, volumes and the like that decide what kubelets may do.

use crate::following::{self, Followed};
use kubist_api::core::v1::{PersistentVolume, Pod};
use kubist_api::resource::v1::ResourceSlice;
use kubist_api::storage::v1::VolumeAttachment;
use kubist_apimachinery::Status;
use kubist_authorization::node::{NodeAuthorizer, NodeGraph};
use kubist_registry::Registry;

/// Implements [`Followed`] for a kind by functions of the graph.
macro_rules! followed {
    (
        $kind:ty, $clear:ident, $put:expr,
        |$graph:ident, $namespace:ident, $name:ident| $remove:expr
    ) => {
        impl Followed<NodeAuthorizer> for $kind {
            fn put(&self, to: &NodeAuthorizer) {
                let put: fn(&mut NodeGraph, &Self) = $put;
                to.change(|graph| put(graph, self));
            }
            fn remove(from: &NodeAuthorizer, $namespace: &str, $name: &str) {
                from.change(|$graph| $remove);
            }
            fn replace(of: &NodeAuthorizer, all: &[&Self]) {
                let put: fn(&mut NodeGraph, &Self) = $put;
                of.change(|graph| {
                    graph.$clear();
                    for object in all {
                        put(graph, object);
                    }
                });
            }
        }
    };
}

followed!(
    Pod,
    clear_pods,
    NodeGraph::put_pod,
    |graph, namespace, name| graph.remove_pod(namespace, name)
);
followed!(
    PersistentVolume,
    clear_volumes,
    NodeGraph::put_volume,
    |graph, _namespace, name| graph.remove_volume(name)
);
followed!(
    VolumeAttachment,
    clear_attachments,
    |graph, it| graph.put_attachment(it.metadata.name.clone(), it.spec.node_name.clone()),
    |graph, _namespace, name| graph.remove_attachment(name)
);
followed!(
    ResourceSlice,
    clear_slices,
    |graph, it| {
        if let Some(node) = it.spec.node_name.clone() {
            graph.put_slice(it.metadata.name.clone(), node);
        }
    },
    |graph, _namespace, name| graph.remove_slice(name)
);

/// Reads everything once, so that the first request of a kubelet is judged like all others.
///
/// # Errors
/// Those of the storage.
pub(crate) async fn load(registry: &Registry, of: &NodeAuthorizer) -> Result<(), Status> {
    following::load::<Pod, _>(registry, of).await?;
    following::load::<PersistentVolume, _>(registry, of).await?;
    following::load::<VolumeAttachment, _>(registry, of).await?;
    following::load::<ResourceSlice, _>(registry, of).await
}

/// Follows changes. Never returns.
///
/// # Cancel safety
/// Can be dropped at any time. The graph then stays as it is.
pub(crate) async fn follow(registry: &Registry, of: &NodeAuthorizer) {
    tokio::join!(
        following::follow::<Pod, _>(registry, of),
        following::follow::<PersistentVolume, _>(registry, of),
        following::follow::<VolumeAttachment, _>(registry, of),
        following::follow::<ResourceSlice, _>(registry, of),
    );
}
