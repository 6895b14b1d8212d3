//! The plugins of Pods.

mod always_pull_images;
mod default_toleration_seconds;
mod extended_resource_toleration;
mod limit_pod_hard_anti_affinity_topology;
mod pod_topology_labels;
mod priority;
mod runtime_class;
mod tolerations;

pub(crate) use always_pull_images::AlwaysPullImages;
pub(crate) use default_toleration_seconds::DefaultTolerationSeconds;
pub(crate) use extended_resource_toleration::ExtendedResourceToleration;
pub(crate) use limit_pod_hard_anti_affinity_topology::LimitPodHardAntiAffinityTopology;
pub(crate) use pod_topology_labels::PodTopologyLabels;
pub(crate) use priority::Priority;
pub(crate) use runtime_class::RuntimeClass;

/// What the plugins of Pods alone take part in.
const PODS: &[(&str, &str)] = &[("", "pods")];
