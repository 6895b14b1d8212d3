//! `PodTopologyLabels`: Pods get the topology labels of their node when they are bound to it.

use super::PODS;
use kubist_api::core::v1::{Binding, Pod};
use kubist_apimachinery::{AnyObject, Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::collections::BTreeMap;

/// Copies topology labels from nodes to Pods.
#[derive(Debug)]
pub(crate) struct PodTopologyLabels;

/// The labels that Pods get.
const LABELS: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

impl AdmissionPlugin for PodTopologyLabels {
    fn name(&self) -> &'static str {
        "PodTopologyLabels"
    }

    fn validates(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Create && matches!(target.subresource, "" | "binding")
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let binding = attributes.typed::<Binding>();
            let bound = binding.filter(|it| it.target.kind == "Node");
            let bound = bound.map(|it| it.target.name.clone());
            let pod = attributes.typed::<Pod>();
            let node = bound.or_else(|| pod.map(|it| it.spec.node_name.clone()));
            let Some(node) = node.filter(|it| !it.is_empty()) else {
                return Ok(());
            };
            // The labels of a binding are those that its Pod gets.
            let labels = labels_of(attributes, &node).await?;
            if !labels.is_empty()
                && let Some(object) = attributes.object_mut()
            {
                object.meta_mut().labels.extend(labels);
            }
            Ok(())
        })
    }
}

/// Returns the topology labels of a node; none if it does not exist.
async fn labels_of(attributes: &Attributes<'_>, node: &str) -> Result<BTreeMap<Str, Str>, Status> {
    let node = attributes.objects().get("", "nodes", "", node).await?;
    let labels = node.as_deref().map(|it| &AnyObject::meta(it).labels);
    let labels = labels.into_iter().flatten();
    let copied = labels.filter(|(key, _)| LABELS.contains(&key.as_str()));
    Ok(copied
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect())
}
