//! Upstream's default admission of resizes: checks whether the Pod's node supports the resize and
//! has enough resources.

use crate::pod_spec::container::is_sidecar;
use kubist_api::core::v1::{Node, Pod};
use kubist_apimachinery::{AnyObject, GroupResource, Quantity, Status, StatusCause, Str};
use kubist_registry::Admission;
use std::any::Any;
use std::collections::BTreeMap;

/// The feature that a node declares if it supports resizing pod-level resources.
const OF_PODS: &str = "InPlacePodLevelResourcesVerticalScaling";
/// The label of a node's operating system.
const SYSTEM: &str = "kubernetes.io/os";

/// Admits a valid resize. A Pod that is not bound to a node may have any size.
pub(crate) async fn admit(cx: &Admission<'_>, new: &Pod, old: &Pod) -> Result<(), Status> {
    let changes = new.metadata.generation != old.metadata.generation;
    let name = new.spec.node_name.as_str();
    if cx.subresource != "resize" || !changes || name.is_empty() {
        return Ok(());
    }
    let found = cx.objects.get("", "nodes", "", name).await?;
    let as_node = |it: &dyn AnyObject| (it as &dyn Any).downcast_ref::<Node>().cloned();
    let Some(node) = found.as_deref().and_then(as_node) else {
        return Err(forbidden(new, &format!("node {name:?} not found")));
    };
    let declares = node
        .status
        .declared_features
        .iter()
        .any(|it| *it == OF_PODS);
    if new.spec.resources != old.spec.resources && !declares {
        let why = format!(
            "pod update requires features {OF_PODS} which are not available on node {name:?}"
        );
        return Err(forbidden(new, &why));
    }
    let system = node.metadata.labels.get(SYSTEM);
    if let Some(system) = system.filter(|it| **it != "linux") {
        let why = format!(
            "pod resize is only supported on linux nodes, node {name:?} is {:?}",
            system.as_str()
        );
        return Err(refusal(new, &why, "UnsupportedPlatform"));
    }
    let insufficient = insufficient(new, &node.status.allocatable);
    if insufficient.is_empty() {
        return Ok(());
    }
    let why = format!(
        "node didn't have enough allocatable resources: {}",
        insufficient.join("; ")
    );
    Err(refusal(new, &why, "NodeCapacity"))
}

fn forbidden(pod: &Pod, why: &str) -> Status {
    Status::forbidden(&GroupResource::new("", "pods"), &pod.metadata.name, why)
}

fn refusal(pod: &Pod, why: &str, reason: &str) -> Status {
    let mut status = forbidden(pod, why);
    let details = status.details.get_or_insert_default();
    details.causes.push(StatusCause {
        reason: reason.into(),
        ..StatusCause::default()
    });
    status
}

/// Returns the resources of which a Pod requests more than a node has allocatable.
fn insufficient(pod: &Pod, allocatable: &BTreeMap<Str, Quantity>) -> Vec<String> {
    let available = |name: &str| allocatable.get(name).cloned().unwrap_or_default();
    let mut insufficient = Vec::new();
    let (request, has) = (requested(pod, "cpu"), available("cpu"));
    if request > has {
        let (request, has) = (request.milli_value(), has.milli_value());
        insufficient.push(format!("cpu, requested: {request}, allocatable: {has}"));
    }
    let (request, has) = (requested(pod, "memory"), available("memory"));
    if request > has {
        let (request, has) = (request.value(), has.value());
        insufficient.push(format!("memory, requested: {request}, allocatable: {has}"));
    }
    insufficient
}

/// Returns how much of a resource a Pod requests: the pod-level request or else the peak of its
/// containers, plus the overhead.
fn requested(pod: &Pod, name: &str) -> Quantity {
    let spec = &pod.spec;
    let of_pod = spec
        .resources
        .as_deref()
        .and_then(|it| it.requests.get(name));
    let mut sum = match of_pod {
        Some(own) => own.clone(),
        None => of_containers(pod, name),
    };
    if let Some(overhead) = spec.overhead.get(name) {
        sum += overhead;
    }
    sum
}

/// Returns the peak request of the containers. Sidecars and regular containers run together; each
/// init container runs before them, beside the sidecars started earlier.
fn of_containers(pod: &Pod, name: &str) -> Quantity {
    let mut together = Quantity::default();
    for container in &pod.spec.containers {
        if let Some(own) = container.resources.requests.get(name) {
            together += own;
        }
    }
    let (mut sidecars, mut most) = (Quantity::default(), Quantity::default());
    for container in &pod.spec.init_containers {
        let own = container.resources.requests.get(name).cloned();
        let own = own.unwrap_or_default();
        let mut now = sidecars.clone();
        now += &own;
        if is_sidecar(container) {
            together += &own;
            sidecars = now.clone();
        }
        most = most.max(now);
    }
    together.max(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::Container;

    fn container(cpu: &str, restarts: bool) -> Container {
        let mut container = Container::default();
        let cpu = cpu.parse().expect("it is a quantity");
        container.resources.requests.insert("cpu".into(), cpu);
        container.restart_policy = restarts.then(|| "Always".into());
        container
    }

    fn cpu(pod: &Pod) -> i64 {
        requested(pod, "cpu").milli_value()
    }

    #[test]
    fn a_pod_requests_what_runs_at_a_time_and_its_overhead() {
        let mut pod = Pod::default();
        pod.spec.containers = vec![container("1", false), container("500m", false)];
        assert_eq!(cpu(&pod), 1_500);
        // The init container needs 2 beside a sidecar that needs 1.
        pod.spec.init_containers = vec![container("1", true), container("2", false)];
        assert_eq!(cpu(&pod), 3_000);
        pod.spec.init_containers.push(container("1", true));
        assert_eq!(cpu(&pod), 3_500);
        let overhead = "100m".parse().expect("it is a quantity");
        pod.spec.overhead.insert("cpu".into(), overhead);
        assert_eq!(cpu(&pod), 3_600);
        let whole = container("4", false).resources;
        pod.spec.resources = Some(Box::new(whole));
        assert_eq!(cpu(&pod), 4_100);
        assert_eq!(requested(&pod, "memory").value(), 0);
    }
}
