//! The Pods of a DaemonSet: how they are made, and which nodes they are for.

use crate::node_fit::{selects, tolerates};
use kubist_api::apps::v1::DaemonSet;
use kubist_api::core::v1::{
    Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodSpec, Taint, Toleration,
};
use kubist_apimachinery::Str;
use kubist_controller::controller_reference;

/// The label with the hash of a Pod's template.
pub(super) const HASH: &str = "controller-revision-hash";
const GENERATION: &str = "pod-template-generation";
const GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";
const NODE_NAME: &str = "metadata.name";

/// The taints that every Pod of a DaemonSet tolerates.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
/// And one more, if it uses the node's network.
const OF_HOST_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// Whether a node has a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eligibility {
    /// It should have one.
    Wanted,
    /// It gets none, but one that it has may stay.
    Tolerated,
    /// It must not have one.
    Unwanted,
}

/// Returns the template's Pod spec with the tolerations of DaemonSets.
pub(super) fn tolerant(set: &DaemonSet) -> PodSpec {
    let mut spec = set.spec.template.spec.clone();
    let network = spec.host_network.then_some(OF_HOST_NETWORK);
    for (key, effect) in TOLERATED.into_iter().chain(network) {
        let toleration = Toleration {
            key: key.into(),
            operator: "Exists".into(),
            effect: effect.into(),
            ..Toleration::default()
        };
        spec.tolerations.retain(|it| {
            let same = it.key == toleration.key && it.effect == toleration.effect;
            !(same && it.operator == "Exists" && it.value.is_empty())
        });
        spec.tolerations.push(toleration);
    }
    spec
}

/// Decides whether a node has a Pod of this spec, which has its tolerations.
pub(super) fn eligibility(spec: &PodSpec, node: &Node) -> Eligibility {
    let is_named = spec.node_name.is_empty() || spec.node_name == node.metadata.name;
    if !is_named || !selects(spec, node) {
        return Eligibility::Unwanted;
    }
    let untolerated = |effects: &[&str]| {
        let of_effect = |it: &&Taint| effects.contains(&&*it.effect);
        let mut taints = node.spec.taints.iter().filter(of_effect);
        taints.any(|it| !tolerates(&spec.tolerations, it))
    };
    if untolerated(&["NoExecute"]) {
        Eligibility::Unwanted
    } else if untolerated(&["NoSchedule"]) {
        Eligibility::Tolerated
    } else {
        Eligibility::Wanted
    }
}

/// Returns the Pod of a node.
pub(super) fn made(set: &DaemonSet, spec: &PodSpec, hash: &str, node: &Str) -> Pod {
    let template = &set.spec.template;
    let mut pod = Pod {
        spec: spec.clone(),
        ..Pod::default()
    };
    let meta = &mut pod.metadata;
    meta.generate_name = format!("{}-", set.metadata.name).into();
    meta.namespace = set.metadata.namespace.clone();
    meta.labels = template.metadata.labels.clone();
    meta.annotations = template.metadata.annotations.clone();
    meta.finalizers.clone_from(&template.metadata.finalizers);
    meta.labels.insert(HASH.into(), hash.into());
    if let Some(generation) = generation(set) {
        meta.labels.insert(GENERATION.into(), generation.clone());
    }
    meta.owner_references = vec![controller_reference(set)];
    let affinity = pod.spec.affinity.get_or_insert_default();
    let affinity = affinity.node_affinity.get_or_insert_default();
    let name = NodeSelectorRequirement {
        key: NODE_NAME.into(),
        operator: "In".into(),
        values: vec![node.clone()],
    };
    affinity.required_during_scheduling_ignored_during_execution = Some(Box::new(NodeSelector {
        node_selector_terms: vec![NodeSelectorTerm {
            match_fields: vec![name],
            ..NodeSelectorTerm::default()
        }],
    }));
    pod
}

/// Returns the node that a Pod is on, or is for.
pub(super) fn node(pod: &Pod) -> Option<&Str> {
    if !pod.spec.node_name.is_empty() {
        return Some(&pod.spec.node_name);
    }
    let affinity = pod.spec.affinity.as_deref()?.node_affinity.as_deref()?;
    let required = affinity
        .required_during_scheduling_ignored_during_execution
        .as_deref()?;
    let mut fields = required
        .node_selector_terms
        .iter()
        .flat_map(|it| &it.match_fields);
    let name = fields.find(|it| it.key == NODE_NAME && it.operator == "In")?;
    match &name.values[..] {
        [name] => Some(name),
        _ => None,
    }
}

/// Reports whether a Pod is of the current template.
pub(super) fn is_updated(set: &DaemonSet, pod: &Pod, hash: &str) -> bool {
    let label = |key: &str| pod.metadata.labels.get(key);
    let same_hash = label(HASH).is_some_and(|it| *it == *hash);
    same_hash || generation(set).is_some_and(|it| label(GENERATION) == Some(it))
}

fn generation(set: &DaemonSet) -> Option<&Str> {
    set.metadata.annotations.get(GENERATION_ANNOTATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_for_its_node_and_tolerates_what_happens_to_nodes() {
        let mut set = DaemonSet::default();
        set.metadata.name = "log".into();
        set.metadata.uid = "u".into();
        let annotations = &mut set.metadata.annotations;
        annotations.insert(GENERATION_ANNOTATION.into(), "4".into());
        set.spec.template.spec.host_network = true;
        set.spec.template.spec.tolerations = vec![Toleration {
            key: TOLERATED[0].0.into(),
            operator: "Exists".into(),
            effect: TOLERATED[0].1.into(),
            toleration_seconds: Some(5),
            ..Toleration::default()
        }];
        let spec = tolerant(&set);
        assert_eq!(spec.tolerations.len(), 7, "one is replaced");
        let pod = made(&set, &spec, "bcd", &"node-2".into());
        assert_eq!(node(&pod), Some(&"node-2".into()));
        assert_eq!(pod.metadata.labels[GENERATION], "4");
        assert!(is_updated(&set, &pod, "bcd") && is_updated(&set, &pod, "other"));
        set.metadata.annotations.clear();
        assert!(!is_updated(&set, &pod, "other"));
        let mut bound = pod;
        bound.spec.node_name = "node-3".into();
        assert_eq!(node(&bound), Some(&"node-3".into()));
        assert_eq!(node(&Pod::default()), None);
    }

    #[test]
    fn taints_decide_who_is_wanted() {
        let spec = tolerant(&DaemonSet::default());
        let judged = |key: &str, effect: &str| {
            let mut node = Node::default();
            node.spec.taints.push(Taint {
                key: key.into(),
                effect: effect.into(),
                ..Taint::default()
            });
            eligibility(&spec, &node)
        };
        assert_eq!(eligibility(&spec, &Node::default()), Eligibility::Wanted);
        let cordon = "node.kubernetes.io/unschedulable";
        assert_eq!(judged(cordon, "NoSchedule"), Eligibility::Wanted);
        assert_eq!(judged("gpu", "NoSchedule"), Eligibility::Tolerated);
        assert_eq!(judged("gpu", "NoExecute"), Eligibility::Unwanted);
        assert_eq!(judged("gpu", "PreferNoSchedule"), Eligibility::Wanted);
        let mut named = spec.clone();
        named.node_name = "other".into();
        assert_eq!(eligibility(&named, &Node::default()), Eligibility::Unwanted);
    }
}
