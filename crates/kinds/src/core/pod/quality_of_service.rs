//! The quality-of-service class of a Pod, derived from the requests and limits of its containers.

use kubist_api::core::v1::{Container, PodSpec};
use kubist_apimachinery::{Quantity, Str};
use std::collections::BTreeMap;

/// The resources that determine the class.
const COMPUTE: [&str; 2] = ["cpu", "memory"];

/// Returns `Guaranteed` if every container limits all compute resources and the sums of requests
/// and limits are equal, `BestEffort` if there are no requests or limits, `Burstable` otherwise.
pub(crate) fn class(spec: &PodSpec) -> &'static str {
    // Pod-level resources decide, even if they are empty.
    if let Some(resources) = &spec.resources {
        let guaranteed = limits_all(&resources.limits);
        return decide(
            &compute(&resources.requests),
            &compute(&resources.limits),
            guaranteed,
        );
    }
    let (mut requests, mut limits) = (BTreeMap::new(), BTreeMap::new());
    let mut guaranteed = true;
    for container in all_containers(spec) {
        add(&mut requests, &container.resources.requests);
        add(&mut limits, &container.resources.limits);
        guaranteed &= limits_all(&container.resources.limits);
    }
    decide(&requests, &limits, guaranteed)
}

type Amounts = BTreeMap<Str, Quantity>;

fn decide(requests: &Amounts, limits: &Amounts, guaranteed: bool) -> &'static str {
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if guaranteed && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

fn all_containers(spec: &PodSpec) -> impl Iterator<Item = &Container> {
    spec.containers.iter().chain(&spec.init_containers)
}

fn compute(amounts: &Amounts) -> Amounts {
    let mut kept = Amounts::new();
    add(&mut kept, amounts);
    kept
}

fn add(sums: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        if COMPUTE.contains(&name.as_str()) && amount.signum() > 0 {
            *sums.entry(name.clone()).or_default() += amount;
        }
    }
}

fn limits_all(limits: &Amounts) -> bool {
    COMPUTE
        .iter()
        .all(|&name| limits.get(name).is_some_and(|it| it.signum() > 0))
}
