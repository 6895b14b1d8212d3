//! Which nodes a Pod may be on: node selectors, required node affinity and taints. No I/O.
//!
//! Resources, other Pods and preferences are not looked at.

use kubist_api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration,
};

/// The taint of a node that is cordoned.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Why a node does not fit, in the scheduler's words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Misfit {
    Unschedulable,
    Selector,
    Taint(String),
}

impl Misfit {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Unschedulable => "node(s) were unschedulable".to_owned(),
            Self::Selector => "node(s) didn't match Pod's node affinity/selector".to_owned(),
            Self::Taint(taint) => format!("node(s) had untolerated taint(s) {{{taint}}}"),
        }
    }
}

/// Checks whether the scheduler may put a Pod there.
pub(crate) fn check(spec: &PodSpec, node: &Node) -> Result<(), Misfit> {
    let cordon = Taint {
        key: UNSCHEDULABLE.into(),
        effect: "NoSchedule".into(),
        ..Taint::default()
    };
    if node.spec.unschedulable && !tolerates(&spec.tolerations, &cordon) {
        return Err(Misfit::Unschedulable);
    }
    let forbids = |it: &&Taint| matches!(it.effect.as_str(), "NoSchedule" | "NoExecute");
    let mut taints = node.spec.taints.iter().filter(forbids);
    if let Some(taint) = taints.find(|it| !tolerates(&spec.tolerations, it)) {
        return Err(Misfit::Taint(format!("{}: {}", taint.key, taint.value)));
    }
    if selects(spec, node) {
        Ok(())
    } else {
        Err(Misfit::Selector)
    }
}

/// Reports whether the node has the labels and the name that the Pod wants.
pub(crate) fn selects(spec: &PodSpec, node: &Node) -> bool {
    let labels = &node.metadata.labels;
    let mut wanted = spec.node_selector.iter();
    if !wanted.all(|(key, value)| labels.get(key) == Some(value)) {
        return false;
    }
    let affinity = spec.affinity.as_deref();
    let affinity = affinity.and_then(|it| it.node_affinity.as_deref());
    let required = affinity.and_then(|it| {
        it.required_during_scheduling_ignored_during_execution
            .as_deref()
    });
    required.is_none_or(|it| {
        it.node_selector_terms
            .iter()
            .any(|term| matches(term, node))
    })
}

/// Reports whether one of the tolerations is for this taint.
pub(crate) fn tolerates(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|it| {
        let effect = it.effect.is_empty() || it.effect == taint.effect;
        let key = it.key.is_empty() || it.key == taint.key;
        let value = match it.operator.as_str() {
            "Exists" => true,
            "" | "Equal" => it.value == taint.value && !it.key.is_empty(),
            _ => false,
        };
        effect && key && value
    })
}

/// An empty term matches nothing.
fn matches(term: &NodeSelectorTerm, node: &Node) -> bool {
    let labels = |it: &NodeSelectorRequirement| {
        let value = node.metadata.labels.get(&*it.key).map(|it| &**it);
        meets(it, value)
    };
    let fields = |it: &NodeSelectorRequirement| {
        it.key == "metadata.name" && meets(it, Some(&node.metadata.name))
    };
    let is_empty = term.match_expressions.is_empty() && term.match_fields.is_empty();
    !is_empty && term.match_expressions.iter().all(labels) && term.match_fields.iter().all(fields)
}

fn meets(requirement: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let among = |value: &str| requirement.values.iter().any(|it| *it == *value);
    let numbers = || {
        let bound = requirement.values.first()?.parse::<i64>().ok()?;
        Some((value?.parse::<i64>().ok()?, bound))
    };
    match requirement.operator.as_str() {
        "In" => value.is_some_and(among),
        "NotIn" => !value.is_some_and(among),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => numbers().is_some_and(|(value, bound)| value > bound),
        "Lt" => numbers().is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{Affinity, NodeAffinity, NodeSelector};

    fn node() -> Node {
        let mut node = Node::default();
        node.metadata.name = "node-1".into();
        let labels = [("zone", "a"), ("cpus", "8")];
        node.metadata.labels = labels.map(|(key, value)| (key.into(), value.into())).into();
        node
    }

    fn requirement(key: &str, operator: &str, values: &[&str]) -> NodeSelectorRequirement {
        NodeSelectorRequirement {
            key: key.into(),
            operator: operator.into(),
            values: values.iter().map(|it| (*it).into()).collect(),
        }
    }

    fn requiring(terms: Vec<NodeSelectorTerm>) -> PodSpec {
        let selector = NodeSelector {
            node_selector_terms: terms,
        };
        let affinity = NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(Box::new(selector)),
            ..NodeAffinity::default()
        };
        PodSpec {
            affinity: Some(Box::new(Affinity {
                node_affinity: Some(Box::new(affinity)),
                ..Affinity::default()
            })),
            ..PodSpec::default()
        }
    }

    #[test]
    fn labels_and_names_are_required() {
        for (key, operator, values, matches) in [
            ("zone", "In", vec!["a", "b"], true),
            ("zone", "In", vec!["b"], false),
            ("zone", "NotIn", vec!["b"], true),
            ("absent", "NotIn", vec!["b"], true),
            ("zone", "Exists", vec![], true),
            ("absent", "Exists", vec![], false),
            ("absent", "DoesNotExist", vec![], true),
            ("cpus", "Gt", vec!["4"], true),
            ("cpus", "Lt", vec!["4"], false),
            ("zone", "Gt", vec!["4"], false),
        ] {
            let term = NodeSelectorTerm {
                match_expressions: vec![requirement(key, operator, &values)],
                ..NodeSelectorTerm::default()
            };
            assert_eq!(
                selects(&requiring(vec![term]), &node()),
                matches,
                "{key} {operator}"
            );
        }
        let named = |name: &str| NodeSelectorTerm {
            match_fields: vec![requirement("metadata.name", "In", &[name])],
            ..NodeSelectorTerm::default()
        };
        assert!(selects(
            &requiring(vec![named("other"), named("node-1")]),
            &node()
        ));
        assert!(!selects(&requiring(vec![named("other")]), &node()));
        assert!(!selects(
            &requiring(vec![NodeSelectorTerm::default()]),
            &node()
        ));
        let mut spec = PodSpec::default();
        spec.node_selector.insert("zone".into(), "b".into());
        assert_eq!(check(&spec, &node()), Err(Misfit::Selector));
    }

    #[test]
    fn taints_keep_pods_away_unless_they_are_tolerated() {
        let mut node = node();
        let mut spec = PodSpec::default();
        node.spec.unschedulable = true;
        assert_eq!(check(&spec, &node), Err(Misfit::Unschedulable));
        let exists = |key: &str, effect: &str| Toleration {
            key: key.into(),
            operator: "Exists".into(),
            effect: effect.into(),
            ..Toleration::default()
        };
        spec.tolerations.push(exists(UNSCHEDULABLE, "NoSchedule"));
        assert_eq!(check(&spec, &node), Ok(()));
        for effect in ["PreferNoSchedule", "NoExecute"] {
            node.spec.taints.push(Taint {
                key: "for".into(),
                value: "db".into(),
                effect: effect.into(),
                ..Taint::default()
            });
        }
        assert_eq!(check(&spec, &node), Err(Misfit::Taint("for: db".into())));
        spec.tolerations.push(Toleration {
            key: "for".into(),
            value: "web".into(),
            ..Toleration::default()
        });
        assert!(check(&spec, &node).is_err());
        spec.tolerations.push(exists("", ""));
        assert_eq!(check(&spec, &node), Ok(()));
    }
}
