//! What nodes may change of nodes: of themselves, and not what would bring them other Pods.

use kubist_api::core::v1::Node;
use kubist_apimachinery::{Status, Str};
use kubist_registry::admission::{Attributes, Operation};
use std::collections::{BTreeMap, BTreeSet};

/// The labels of Kubernetes that nodes set.
const LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];
/// The domains of labels that nodes set.
const DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/// The domain of labels that nodes never set.
const RESTRICTED: &str = "node-restriction.kubernetes.io";

pub(super) fn judge(attributes: &Attributes<'_>, node: &str) -> Result<(), Status> {
    let target = attributes.target();
    let requested = if target.name.is_empty() {
        attributes.object().map_or("", |it| it.meta().name.as_str())
    } else {
        target.name
    };
    if requested != node {
        return Err(attributes.forbidden(format_args!(
            "node \"{node}\" is not allowed to modify node \"{requested}\""
        )));
    }
    let refused = match (attributes.typed::<Node>(), attributes.old_typed::<Node>()) {
        (Some(new), None) => of_new(new, node),
        (Some(new), Some(old)) if target.operation == Operation::Update => {
            of_change(new, old, node)
        }
        _ => None,
    };
    refused.map_or(Ok(()), |why| Err(attributes.forbidden(why)))
}

fn of_new(new: &Node, node: &str) -> Option<String> {
    if new.spec.config_source.is_some() {
        return Some(format!(
            "node \"{node}\" is not allowed to create pods with a non-nil configSource"
        ));
    }
    let labels = forbidden_labels(&new.metadata.labels, &BTreeMap::new())?;
    Some(format!(
        "node \"{node}\" is not allowed to set the following labels: {labels}"
    ))
}

fn of_change(new: &Node, old: &Node, node: &str) -> Option<String> {
    let source = &new.spec.config_source;
    if source.is_some() && *source != old.spec.config_source {
        return Some(format!(
            "node \"{node}\" is not allowed to update configSource to a new non-nil configSource"
        ));
    }
    let changed = [
        (new.spec.taints != old.spec.taints, "taints"),
        (
            new.metadata.owner_references != old.metadata.owner_references,
            "ownerReferences",
        ),
    ];
    if let Some((_, what)) = changed.into_iter().find(|(changed, _)| *changed) {
        return Some(format!("node \"{node}\" is not allowed to modify {what}"));
    }
    let labels = forbidden_labels(&new.metadata.labels, &old.metadata.labels)?;
    Some(format!("is not allowed to modify labels: {labels}"))
}

/// Returns the labels that differ and that nodes do not change.
fn forbidden_labels(new: &BTreeMap<Str, Str>, old: &BTreeMap<Str, Str>) -> Option<String> {
    let names: BTreeSet<&Str> = new.keys().chain(old.keys()).collect();
    let differs = |name: &&Str| new.get(*name) != old.get(*name);
    let forbidden = names.into_iter().filter(differs);
    let forbidden = forbidden.filter(|it| is_forbidden(it));
    let forbidden: Vec<&str> = forbidden.map(Str::as_str).collect();
    (!forbidden.is_empty()).then(|| forbidden.join(", "))
}

fn is_forbidden(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let within = |of: &str| domain == of || domain.ends_with(&format!(".{of}"));
    let is_kubernetes = within("kubernetes.io") || within("k8s.io");
    let is_own = LABELS.contains(&label) || DOMAINS.iter().any(|it| within(it));
    within(RESTRICTED) || (is_kubernetes && !is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_set_their_own_labels_and_those_of_others() {
        for label in [
            "kubernetes.io/os",
            "x.node.kubernetes.io/y",
            "example.com/a",
            "a",
        ] {
            assert!(!is_forbidden(label), "{label}");
        }
        for label in [
            "node-restriction.kubernetes.io/a",
            "x.node-restriction.kubernetes.io/a",
            "node-role.kubernetes.io/control-plane",
            "k8s.io/a",
        ] {
            assert!(is_forbidden(label), "{label}");
        }
    }
}
