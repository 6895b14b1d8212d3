//! `NodeDeclaredFeatureValidator`: Pods change only as the kubelet of their node can follow.

use super::{PODS, bound_node};
use kubist_api::core::v1::{Container, Pod};
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};

/// Refuses changes of bound Pods that need features which their node does not declare.
#[derive(Debug)]
pub(crate) struct NodeDeclaredFeatureValidator;

/// Resizes the resources of Pods as a whole.
const OF_PODS: &str = "InPlacePodLevelResourcesVerticalScaling";
/// Resizes init containers that are no sidecars.
const OF_INIT_CONTAINERS: &str = "InPlacePodVerticalScalingInitContainers";

impl AdmissionPlugin for NodeDeclaredFeatureValidator {
    fn name(&self) -> &'static str {
        "NodeDeclaredFeatureValidator"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Update && matches!(target.subresource, "" | "resize")
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let new = attributes.typed::<Pod>();
            let Some((new, old)) = new.zip(attributes.old_typed::<Pod>()) else {
                return Ok(());
            };
            let (name, needed) = (new.spec.node_name.as_str(), needed(new, old));
            if name.is_empty() || needed.is_empty() {
                return Ok(());
            }
            let node = bound_node(attributes, name).await?;
            let declared = &node.status.declared_features;
            let missing = |it: &&str| !declared.iter().any(|declared| declared.as_str() == *it);
            let missing: Vec<_> = needed.into_iter().filter(missing).collect();
            if missing.is_empty() {
                return Ok(());
            }
            Err(attributes.forbidden(format_args!(
                "pod update requires features {} which are not available on node {name:?}",
                missing.join(", ")
            )))
        })
    }
}

/// Returns the features that a change needs, sorted.
fn needed(new: &Pod, old: &Pod) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if new.spec.resources != old.spec.resources {
        needed.push(OF_PODS);
    }
    let containers = old.spec.init_containers.iter();
    let mut containers = containers.zip(&new.spec.init_containers);
    if containers.any(|(old, new)| !is_sidecar(old) && old.resources != new.resources) {
        needed.push(OF_INIT_CONTAINERS);
    }
    needed
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_init_cpu(cpu: &str) -> Pod {
        let mut container = Container::default();
        let cpu = cpu.parse().expect("it is a quantity");
        container.resources.requests.insert("cpu".into(), cpu);
        let mut pod = Pod::default();
        pod.spec.init_containers.push(container);
        pod
    }

    #[test]
    fn resizes_of_pods_and_of_init_containers_need_features() {
        let (old, mut new) = (with_init_cpu("1"), with_init_cpu("2"));
        assert!(needed(&old, &old).is_empty());
        assert_eq!(needed(&new, &old), [OF_INIT_CONTAINERS]);
        new.spec.resources.get_or_insert_default();
        assert_eq!(needed(&new, &old), [OF_PODS, OF_INIT_CONTAINERS]);
    }

    #[test]
    fn a_resize_of_a_sidecar_needs_nothing() {
        let (mut old, mut new) = (with_init_cpu("1"), with_init_cpu("2"));
        for pod in [&mut old, &mut new] {
            pod.spec.init_containers[0].restart_policy = Some("Always".into());
        }
        assert!(needed(&new, &old).is_empty());
    }
}
