//! `Scheduler`: assigns Pods to nodes in turn, to those whose labels and taints allow it.

use super::pod_status::set_condition;
use crate::node_fit::{self, Misfit};
use kubist_api::core::v1::{Binding, Node, ObjectReference, Pod};
use kubist_apimachinery::{Object as _, Resource as _, Str, Time};
use kubist_cache::Lister;
use kubist_client::{Api, ApiError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Assigns Pods.
#[derive(Debug)]
pub(super) struct Scheduler {
    nodes: Lister<Node>,
    /// The number of Pods assigned.
    placed: AtomicUsize,
}

impl Scheduler {
    pub(super) fn new(nodes: Lister<Node>) -> Self {
        Self {
            nodes,
            placed: AtomicUsize::new(0),
        }
    }

    /// Assigns the Pod, or says in its status why not.
    pub(super) async fn place(&self, pods: &Api<Pod>, pod: &Pod) -> Result<(), ApiError> {
        let nodes = self.nodes.list();
        let turn = self.placed.load(Ordering::Relaxed);
        let node = match choose(pod, &nodes, turn) {
            Ok(node) => node,
            Err(why) => return refuse(pods, pod, &why).await,
        };
        self.placed.fetch_add(1, Ordering::Relaxed);
        let mut binding = Binding {
            target: ObjectReference {
                api_version: Node::API_VERSION.into(),
                kind: Node::KIND.into(),
                name: node,
                ..ObjectReference::default()
            },
            ..Binding::default()
        };
        binding.metadata.name = pod.name().into();
        binding.metadata.namespace = pod.namespace().into();
        binding.metadata.uid = pod.uid().into();
        pods.subresource::<Binding>("binding")
            .submit(pod.name(), &binding)
            .await
    }
}

/// Returns the node whose turn it is, of those that fit; or why none does.
fn choose(pod: &Pod, nodes: &[Arc<Node>], turn: usize) -> Result<Str, String> {
    let mut fitting = Vec::new();
    let mut misfits: BTreeMap<Misfit, usize> = BTreeMap::new();
    for node in nodes {
        match node_fit::check(&pod.spec, node) {
            Ok(()) => fitting.push(&node.metadata.name),
            Err(misfit) => *misfits.entry(misfit).or_default() += 1,
        }
    }
    fitting.sort_by_key(|it| (it.len(), *it));
    let count = fitting.len().max(1);
    if let Some(name) = fitting.get(turn % count) {
        return Ok((*name).clone());
    }
    let reasons = misfits
        .iter()
        .map(|(why, count)| format!("{count} {}", why.text()));
    let reasons: Vec<_> = reasons.collect();
    let all = nodes.len();
    if reasons.is_empty() {
        return Err("no nodes available to schedule pods".to_owned());
    }
    Err(format!(
        "0/{all} nodes are available: {}.",
        reasons.join(", ")
    ))
}

/// Says in the status that the Pod cannot be assigned.
async fn refuse(pods: &Api<Pod>, pod: &Pod, why: &str) -> Result<(), ApiError> {
    let refused = unschedulable(pod, why, pods.client().ambient().time());
    if refused.status == pod.status {
        return Ok(());
    }
    pods.replace_status(&refused).await.map(drop)
}

fn unschedulable(pod: &Pod, why: &str, now: Time) -> Pod {
    let mut pod = pod.clone();
    set_condition(
        &mut pod.status,
        "PodScheduled",
        "False",
        "Unschedulable",
        now,
    );
    let mut conditions = pod.status.conditions.iter_mut();
    if let Some(condition) = conditions.find(|it| it.type_ == "PodScheduled") {
        condition.message = why.into();
    }
    pod
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: usize) -> Vec<Arc<Node>> {
        let named = |number: usize| {
            let mut node = Node::default();
            node.metadata.name = format!("node-{number}").into();
            node.spec.unschedulable = number == 2;
            Arc::new(node)
        };
        (1..=count).map(named).collect()
    }

    #[test]
    fn nodes_take_turns_and_those_that_do_not_fit_are_left_out() {
        let nodes = nodes(10);
        let chosen = |turn| choose(&Pod::default(), &nodes, turn).expect("a node");
        let names: Vec<_> = (0..10).map(chosen).collect();
        assert_eq!(names[0], "node-1");
        assert_eq!(names[1], "node-3", "node-2 is cordoned");
        assert_eq!((&names[8], &names[9]), (&"node-10".into(), &names[0]));
    }

    #[test]
    fn a_pod_that_fits_nowhere_says_why() {
        let mut pod = Pod::default();
        pod.spec.node_selector.insert("zone".into(), "a".into());
        let why = choose(&pod, &nodes(3), 0).expect_err("none fits");
        let expected = "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't \
                        match Pod's node affinity/selector.";
        assert_eq!(why, expected);
        let refused = unschedulable(&pod, &why, Time::from_unix(5));
        assert_eq!(refused.status.conditions[0].message, expected);
        let again = unschedulable(&refused, &why, Time::from_unix(9));
        assert_eq!(again.status, refused.status, "nothing is new");
    }
}
