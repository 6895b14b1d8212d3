//! What a Pod requests and what limits it, over all its containers.
//!
//! Init containers run one after the other, each beside the sidecars before it, and before all
//! other containers. So a Pod needs the greatest of these amounts.

use crate::amounts::{Amounts, add, raise};
use kubist_api::core::v1::{Container, ContainerStatus, Pod, ResourceRequirements};
use std::collections::BTreeMap;

/// Which amounts count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// Those of the spec, as limit ranges count.
    Spec,
    /// Also what the node has allocated and the overhead of the runtime, as quotas count.
    InUse,
}

/// Which of the two lists of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Requests,
    Limits,
}

/// Returns the requests or limits of a Pod.
pub(crate) fn of_pod(pod: &Pod, side: Side, counting: Counting) -> Amounts {
    let spec = &pod.spec;
    let statuses = match counting {
        Counting::Spec => BTreeMap::new(),
        Counting::InUse => statuses(pod),
    };
    let of = |container: &Container, allocated: bool| {
        let status = statuses.get(container.name.as_str());
        match status.filter(|_| allocated) {
            Some(status) => in_use(pod, &container.resources, status, side),
            None => chosen(&container.resources, side).clone(),
        }
    };
    let mut sum = Amounts::new();
    for container in &spec.containers {
        add(&mut sum, &of(container, true));
    }
    let (mut sidecars, mut greatest) = (Amounts::new(), Amounts::new());
    for container in &spec.init_containers {
        let is_sidecar = container.restart_policy.as_deref() == Some("Always");
        // Upstream looks at the limits in use of all init containers, at the requests of sidecars.
        let own = of(container, is_sidecar || side == Side::Limits);
        if is_sidecar {
            add(&mut sum, &own);
            add(&mut sidecars, &own);
            raise(&mut greatest, &sidecars);
        } else {
            let mut beside = own;
            add(&mut beside, &sidecars);
            raise(&mut greatest, &beside);
        }
    }
    raise(&mut sum, &greatest);
    override_by_pod(pod, &mut sum, side, counting);
    if counting == Counting::InUse {
        add_overhead(pod, &mut sum, side);
    }
    sum
}

/// Reports whether a Pod requests or limits resources as a whole.
pub(crate) fn has_own(pod: &Pod) -> bool {
    let Some(resources) = &pod.spec.resources else {
        return false;
    };
    let mut names = resources.requests.keys().chain(resources.limits.keys());
    names.any(|name| is_of_pods(name, Counting::InUse))
}

/// Reports whether a Pod as a whole can request a resource.
fn is_of_pods(name: &str, counting: Counting) -> bool {
    let huge_pages = counting == Counting::InUse && name.starts_with("hugepages-");
    matches!(name, "cpu" | "memory") || huge_pages
}

/// Replaces the sums by what the Pod as a whole requests.
fn override_by_pod(pod: &Pod, sum: &mut Amounts, side: Side, counting: Counting) {
    let Some(resources) = &pod.spec.resources else {
        return;
    };
    for (name, amount) in chosen(resources, side) {
        if is_of_pods(name, counting) {
            sum.insert(name.clone(), amount.clone());
        }
    }
}

/// Adds the overhead of the runtime: to all requests, and to limits that exist.
fn add_overhead(pod: &Pod, sum: &mut Amounts, side: Side) {
    match side {
        Side::Requests => add(sum, &pod.spec.overhead),
        Side::Limits => {
            for (name, amount) in &pod.spec.overhead {
                if let Some(limit) = sum.get_mut(name).filter(|it| !it.is_zero()) {
                    *limit += amount;
                }
            }
        }
    }
}

fn chosen(resources: &ResourceRequirements, side: Side) -> &Amounts {
    match side {
        Side::Requests => &resources.requests,
        Side::Limits => &resources.limits,
    }
}

fn statuses(pod: &Pod) -> BTreeMap<&str, &ContainerStatus> {
    let status = &pod.status;
    let all = status.container_statuses.iter();
    let all = all.chain(&status.init_container_statuses);
    all.map(|it| (it.name.as_str(), it)).collect()
}

/// Returns what a container uses, while a resize may be in progress.
fn in_use(
    pod: &Pod,
    wanted: &ResourceRequirements,
    status: &ContainerStatus,
    side: Side,
) -> Amounts {
    let Some(actual) = &status.resources else {
        return chosen(wanted, side).clone();
    };
    let mut most = chosen(actual, side).clone();
    if side == Side::Requests {
        raise(&mut most, &status.allocated_resources);
    }
    if !is_infeasible(pod) {
        raise(&mut most, chosen(wanted, side));
    }
    most
}

/// Reports whether the node has found that it can never do a resize.
fn is_infeasible(pod: &Pod) -> bool {
    let mut conditions = pod.status.conditions.iter();
    let pending = conditions.find(|it| it.type_ == "PodResizePending");
    pending.is_some_and(|it| it.reason == "Infeasible")
}
