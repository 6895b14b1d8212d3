//! The graph, observed step by step.

use super::*;
use crate::garbage_collector::node::{FOREGROUND, ORPHAN};
use crate::garbage_collector::observed::Observed;
use kubist_apimachinery::{ApiResource, ObjectMeta, Time};
use std::sync::Arc;

#[derive(Default)]
struct Graph(OwnerGraph);

impl Graph {
    /// Observes an object with these owners; `!` before an owner means that the object blocks
    /// it.
    fn put(&mut self, uid: &str, owners: &[&str], phase: Phase) -> Vec<String> {
        let owner = |it: &&str| OwnerReference {
            uid: it.trim_start_matches('!').into(),
            block_owner_deletion: Some(it.starts_with('!')),
            ..OwnerReference::default()
        };
        let owners = owners.iter().map(owner).collect();
        let node = node(Arc::default(), ("shop", uid, uid), owners, phase);
        sorted(self.0.observe(node))
    }

    fn remove(&mut self, uid: &str) -> Vec<String> {
        sorted(self.0.remove(uid))
    }
}

fn node(
    resource: Arc<ApiResource>,
    (namespace, name, uid): (&str, &str, &str),
    owners: Vec<OwnerReference>,
    phase: Phase,
) -> Node {
    let finalizer = match phase {
        Phase::Foreground => Some(FOREGROUND.into()),
        Phase::Orphaning => Some(ORPHAN.into()),
        Phase::Alive | Phase::Terminating => None,
    };
    let metadata = ObjectMeta {
        namespace: namespace.into(),
        name: name.into(),
        uid: uid.into(),
        owner_references: owners,
        finalizers: finalizer.into_iter().collect(),
        deletion_timestamp: (phase != Phase::Alive).then(|| Time::from_unix(1)),
        ..ObjectMeta::default()
    };
    Node::new(&resource, &Arc::new(Observed::new(&metadata)))
}

fn sorted(uids: Vec<Str>) -> Vec<String> {
    let mut uids: Vec<_> = uids.iter().map(ToString::to_string).collect();
    uids.sort();
    // A queue merges duplicates.
    uids.dedup();
    uids
}

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn dependents_are_looked_at_when_their_owner_goes() {
    let mut graph = Graph::default();
    assert_eq!(graph.put("owner", &[], Phase::Alive), none());
    assert_eq!(graph.put("a", &["owner"], Phase::Alive), none());
    assert_eq!(
        graph.put("b", &["owner", "other"], Phase::Alive),
        ["b"],
        "an unseen owner"
    );
    assert_eq!(graph.0.plan("a"), Plan::Nothing);
    assert_eq!(graph.remove("owner"), ["a", "b"]);
    assert_eq!(graph.0.plan("a"), Plan::CheckOwners);
    assert_eq!(graph.0.state("owner"), OwnerState::Unseen);
    assert_eq!((graph.remove("a"), graph.remove("b")), (none(), none()));
    assert!(graph.0.dependents.is_empty() && graph.0.len() == 0);
}

#[test]
fn an_owner_in_another_namespace_or_of_another_name_is_none() {
    let mut graph = Graph::default();
    graph.put("owner", &[], Phase::Alive);
    let owner = |name: &str| OwnerReference {
        uid: "owner".into(),
        name: name.into(),
        ..OwnerReference::default()
    };
    let state = |name, namespace| graph.0.owner_state(&owner(name), namespace);
    assert_eq!(state("owner", "shop"), OwnerState::Present);
    assert_eq!(state("owner", "elsewhere"), OwnerState::Unseen);
    assert_eq!(state("another", "shop"), OwnerState::Unseen);
    assert_eq!(
        state("owner", ""),
        OwnerState::Present,
        "it cannot be decided"
    );
    let owners = vec![owner("owner")];
    let node = node(
        Arc::default(),
        ("elsewhere", "a", "a"),
        owners,
        Phase::Alive,
    );
    assert_eq!(graph.0.observe(node), ["a"]);
    assert_eq!(graph.0.plan("a"), Plan::CheckOwners);
}

#[test]
fn an_owner_of_another_kind_or_group_is_none() {
    let mut graph = Graph::default();
    let secrets = ApiResource {
        version: "v1".into(),
        kind: "Secret".into(),
        plural: "secrets".into(),
        namespaced: true,
        ..ApiResource::default()
    };
    let name = ("shop", "victim", "victim");
    let node = node(Arc::new(secrets), name, Vec::new(), Phase::Alive);
    graph.0.observe(node);
    let state = |api_version: &str, kind: &str| {
        let owner = OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            uid: "victim".into(),
            name: "victim".into(),
            ..OwnerReference::default()
        };
        graph.0.owner_state(&owner, "shop")
    };
    assert_eq!(state("v1", "Secret"), OwnerState::Present);
    assert_eq!(state("v2", "Secret"), OwnerState::Present);
    assert_eq!(state("v1", "ConfigMap"), OwnerState::Unseen);
    assert_eq!(state("example.com/v1", "Secret"), OwnerState::Unseen);
}

#[test]
fn dependents_may_be_seen_before_their_owner() {
    let mut graph = Graph::default();
    assert_eq!(graph.put("a", &["owner"], Phase::Alive), ["a"]);
    graph.put("owner", &[], Phase::Alive);
    assert_eq!(graph.0.plan("a"), Plan::Nothing);
}

#[test]
fn a_foreground_deletion_waits_for_the_dependents_that_block_it() {
    let mut graph = Graph::default();
    graph.put("owner", &[], Phase::Alive);
    graph.put("a", &["!owner"], Phase::Alive);
    graph.put("b", &["owner"], Phase::Alive);
    assert_eq!(
        graph.put("owner", &[], Phase::Foreground),
        ["a", "b", "owner"]
    );
    let both = vec!["a".into(), "b".into()];
    assert_eq!(graph.0.plan("owner"), Plan::Wait { dependents: both });
    assert_eq!(graph.0.plan("a"), Plan::CheckOwners);
    assert_eq!(graph.put("a", &["!owner"], Phase::Terminating), ["owner"]);
    let rest = vec!["b".into()];
    assert_eq!(graph.0.plan("owner"), Plan::Wait { dependents: rest });
    assert_eq!(graph.remove("a"), ["owner"]);
    assert_eq!(graph.0.plan("owner"), Plan::Release, "b does not block it");
    assert_eq!(graph.put("owner", &[], Phase::Terminating), none());
}

#[test]
fn a_dependent_that_no_longer_blocks_releases_its_owner() {
    let mut graph = Graph::default();
    graph.put("owner", &[], Phase::Foreground);
    graph.put("a", &["!owner"], Phase::Alive);
    assert_eq!(graph.put("a", &["owner"], Phase::Alive), ["a", "owner"]);
    assert_eq!(graph.0.plan("owner"), Plan::Release);
    assert_eq!(graph.put("a", &[], Phase::Alive), ["owner"]);
}

#[test]
fn an_orphaning_deletion_names_all_dependents() {
    let mut graph = Graph::default();
    graph.put("owner", &[], Phase::Alive);
    graph.put("a", &["!owner"], Phase::Alive);
    assert_eq!(graph.put("owner", &[], Phase::Orphaning), ["owner"]);
    let dependents = vec!["a".into()];
    assert_eq!(graph.0.plan("owner"), Plan::Orphan { dependents });
    assert_eq!(
        graph.0.plan("a"),
        Plan::Nothing,
        "not before it lost its owner"
    );
}

#[test]
fn objects_that_own_each_other_are_detected() {
    let mut graph = Graph::default();
    graph.put("a", &["!b"], Phase::Alive);
    graph.put("b", &["!a"], Phase::Alive);
    assert_eq!(graph.0.plan("a"), Plan::Nothing);
    assert_eq!(graph.put("a", &["!b"], Phase::Foreground), ["a", "b"]);
    assert!(graph.0.has_waiting_dependent("b") && graph.0.has_dependents("b"));
    assert!(!graph.0.has_waiting_dependent("a"));
}

#[test]
fn what_did_not_change_is_not_looked_at() {
    let mut graph = Graph::default();
    assert_eq!(graph.put("a", &["gone"], Phase::Alive), ["a"]);
    assert_eq!(graph.put("a", &["gone"], Phase::Alive), none());
}
