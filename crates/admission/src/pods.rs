//! The plugins of Pods.

mod always_pull_images;
mod default_toleration_seconds;
mod extended_resource_toleration;
mod limit_pod_hard_anti_affinity_topology;
mod namespace_annotation;
mod node_declared_feature_validator;
mod pod_node_selector;
mod pod_resize_validator;
mod pod_toleration_restriction;
mod pod_topology_labels;
mod priority;
mod runtime_class;
mod tolerations;

pub(crate) use always_pull_images::AlwaysPullImages;
pub(crate) use default_toleration_seconds::DefaultTolerationSeconds;
pub(crate) use extended_resource_toleration::ExtendedResourceToleration;
pub(crate) use limit_pod_hard_anti_affinity_topology::LimitPodHardAntiAffinityTopology;
pub(crate) use node_declared_feature_validator::NodeDeclaredFeatureValidator;
pub(crate) use pod_node_selector::{NodeSelectors, PodNodeSelector};
pub(crate) use pod_resize_validator::PodResizeValidator;
pub(crate) use pod_toleration_restriction::{PodTolerationRestriction, Tolerations};
pub(crate) use pod_topology_labels::PodTopologyLabels;
pub(crate) use priority::Priority;
pub(crate) use runtime_class::RuntimeClass;

use crate::objects::typed;
use kubist_api::core::v1::Node;
use kubist_apimachinery::Status;
use kubist_registry::admission::Attributes;

/// What the plugins of Pods alone take part in.
const PODS: &[(&str, &str)] = &[("", "pods")];

/// Returns the node that a Pod is bound to.
async fn bound_node(attributes: &Attributes<'_>, name: &str) -> Result<Node, Status> {
    let found = attributes.objects().get("", "nodes", "", name).await?;
    let node = found.as_deref().and_then(typed::<Node>);
    let missing = || attributes.forbidden(format_args!("node {name:?} not found"));
    node.cloned().ok_or_else(missing)
}
