//! Warnings about node labels that were renamed or have no effect.

use kubist_api::core::v1::NodeSelectorTerm;
use kubist_apimachinery::{FieldPath, validate_name};

/// Deprecated labels, and what to use instead.
const LABELS: [(&str, &str); 8] = [
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

/// Returns the warning for a node label that was renamed.
pub(crate) fn deprecated(label: &str) -> Option<&'static str> {
    let found = LABELS.iter().find(|(name, _)| *name == label);
    found.map(|(_, message)| *message)
}

/// Warns of deprecated labels in a node selector term, and of invalid label values if `values`.
pub(crate) fn term(
    found: &mut Vec<String>,
    term: &NodeSelectorTerm,
    values: bool,
    path: &FieldPath,
) {
    for (index, it) in term.match_expressions.iter().enumerate() {
        let path = path.child("matchExpressions").index(index);
        if let Some(message) = deprecated(&it.key) {
            found.push(format!("{}: {} is {message}", path.child("key"), it.key));
        }
        if values {
            for (index, value) in it.values.iter().enumerate() {
                for problem in validate_name::label_value(value) {
                    let path = path.child("values").index(index);
                    found.push(format!("{path}: {value} is invalid, {problem}"));
                }
            }
        }
    }
}
