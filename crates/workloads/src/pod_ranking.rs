//! The order in which surplus Pods are deleted.

use crate::pod_state::ready_since;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Str;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The annotation with the cost of deleting a Pod.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Sorts Pods by importance, least important first: unassigned, then by phase, not ready, low
/// deletion cost, many of the same set on one node, ready for a short time, restarted often, young.
pub(crate) fn least_important_first(pods: &[Arc<Pod>]) -> Vec<Arc<Pod>> {
    let mut per_node: BTreeMap<&Str, usize> = BTreeMap::new();
    for pod in pods {
        *per_node.entry(&pod.spec.node_name).or_default() += 1;
    }
    let mut ranked = pods.to_vec();
    ranked.sort_by_cached_key(|pod| {
        let phase = match pod.status.phase.as_str() {
            "Pending" | "" => 0,
            "Unknown" => 1,
            _ => 2,
        };
        let ready_since = ready_since(pod);
        let restarts = pod
            .status
            .container_statuses
            .iter()
            .map(|it| it.restart_count)
            .max();
        (
            !pod.spec.node_name.is_empty(),
            phase,
            ready_since.is_some(),
            cost(pod),
            Reverse(per_node[&pod.spec.node_name]),
            Reverse(ready_since),
            Reverse(restarts),
            Reverse(pod.metadata.creation_timestamp),
            pod.metadata.name.clone(),
        )
    });
    ranked
}

fn cost(pod: &Pod) -> i32 {
    let cost = pod.metadata.annotations.get(DELETION_COST);
    cost.and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::PodCondition;
    use kubist_apimachinery::Time;

    fn pod(name: &str, node: &str, ready_since: Option<i64>) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.spec.node_name = node.into();
        pod.status.phase = if node.is_empty() {
            "Pending"
        } else {
            "Running"
        }
        .into();
        pod.status
            .conditions
            .extend(ready_since.map(|at| PodCondition {
                type_: "Ready".into(),
                status: "True".into(),
                last_transition_time: Some(Time::from_unix(at)),
                ..PodCondition::default()
            }));
        pod
    }

    #[test]
    fn what_works_and_has_worked_for_long_is_kept() {
        let mut cheap = pod("cheap", "n2", Some(1));
        cheap
            .metadata
            .annotations
            .insert(DELETION_COST.into(), "-5".into());
        let pods = [
            pod("old", "n2", Some(10)),
            pod("crowded", "n1", Some(1)),
            pod("crowded-too", "n1", Some(2)),
            pod("crowded-three", "n1", Some(3)),
            cheap,
            pod("not-ready", "n3", None),
            pod("nowhere", "", None),
            pod("young", "n4", Some(90)),
        ];
        let ranked = least_important_first(&pods.map(Arc::new));
        let names: Vec<_> = ranked.iter().map(|it| &*it.metadata.name).collect();
        let rest = ["crowded-three", "crowded-too", "crowded", "old", "young"];
        assert_eq!(names[..3], ["nowhere", "not-ready", "cheap"]);
        assert_eq!(names[3..], rest);
    }
}
