//! `PodResizeValidator`: Pods grow as far as their node can give, on nodes that can resize them.

use super::{PODS, bound_node};
use crate::amounts::{Amounts, add};
use crate::pod_resources::{self, Counting};
use kubist_api::core::v1::{Node, Pod};
use kubist_apimachinery::{Quantity, Status, StatusCause};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};

/// Refuses resizes that the node of a Pod cannot do.
#[derive(Debug)]
pub(crate) struct PodResizeValidator;

/// The label of a node's operating system.
const SYSTEM: &str = "kubernetes.io/os";

impl AdmissionPlugin for PodResizeValidator {
    fn name(&self) -> &'static str {
        "PodResizeValidator"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Update && target.subresource == "resize"
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let new = attributes.typed::<Pod>();
            let Some((new, old)) = new.zip(attributes.old_typed::<Pod>()) else {
                return Ok(());
            };
            let name = new.spec.node_name.as_str();
            let changes = new.metadata.generation != old.metadata.generation;
            if name.is_empty() || !changes {
                return Ok(());
            }
            let node = bound_node(attributes, name).await?;
            let refused = refusal(new, &node);
            refused.map_or(Ok(()), |(why, reason)| {
                let mut status = attributes.forbidden(why);
                let details = status.details.get_or_insert_default();
                details.causes.push(StatusCause {
                    reason: reason.into(),
                    ..StatusCause::default()
                });
                Err(status)
            })
        })
    }
}

/// Returns why a node cannot resize a Pod, and the reason of the cause.
fn refusal(pod: &Pod, node: &Node) -> Option<(String, &'static str)> {
    let system = node.metadata.labels.get(SYSTEM);
    if let Some(system) = system.filter(|it| **it != "linux") {
        let why = format!(
            "pod resize is only supported on linux nodes, node {:?} is {:?}",
            node.metadata.name.as_str(),
            system.as_str()
        );
        return Some((why, "UnsupportedPlatform"));
    }
    let insufficient = insufficient(pod, &node.status.allocatable);
    if insufficient.is_empty() {
        return None;
    }
    let why = format!(
        "node didn't have enough allocatable resources: {}",
        insufficient.join("; ")
    );
    Some((why, "NodeCapacity"))
}

/// Returns the resources of which a Pod requests more than a node has allocatable.
fn insufficient(pod: &Pod, allocatable: &Amounts) -> Vec<String> {
    let mut requests = pod_resources::of_pod(pod, pod_resources::Side::Requests, Counting::Spec);
    add(&mut requests, &pod.spec.overhead);
    let mut insufficient = Vec::new();
    let mut compare = |name: &str, shown: fn(&Quantity) -> i64| {
        let request = requests.get(name).cloned().unwrap_or_default();
        let has = allocatable.get(name).cloned().unwrap_or_default();
        if request > has {
            let (request, has) = (shown(&request), shown(&has));
            insufficient.push(format!("{name}, requested: {request}, allocatable: {has}"));
        }
    };
    compare("cpu", Quantity::milli_value);
    compare("memory", Quantity::value);
    insufficient
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overhead_of_a_pod_counts() {
        let amount = |text: &str| -> Quantity { text.parse().expect("it is a quantity") };
        let mut pod = Pod::default();
        let whole = pod.spec.resources.get_or_insert_default();
        whole.requests.insert("cpu".into(), amount("4"));
        let allocatable = Amounts::from([("cpu".into(), amount("4"))]);
        assert!(insufficient(&pod, &allocatable).is_empty());
        pod.spec.overhead.insert("cpu".into(), amount("100m"));
        assert_eq!(
            insufficient(&pod, &allocatable),
            ["cpu, requested: 4100, allocatable: 4000"]
        );
    }

    #[test]
    fn only_linux_resizes() {
        let mut node = Node::default();
        node.metadata.name = "n".into();
        assert_eq!(refusal(&Pod::default(), &node), None);
        node.metadata.labels.insert(SYSTEM.into(), "windows".into());
        let why = "pod resize is only supported on linux nodes, node \"n\" is \"windows\"";
        assert_eq!(
            refusal(&Pod::default(), &node),
            Some((why.to_owned(), "UnsupportedPlatform"))
        );
    }
}
