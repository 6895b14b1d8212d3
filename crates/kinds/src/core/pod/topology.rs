//! Topology labels, which Pods inherit from their node.

use kubist_apimachinery::{Status, Str};
use kubist_registry::Lookup;
use std::collections::BTreeMap;

/// The labels that Pods inherit, as upstream.
const LABELS: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Returns the topology labels of a node, or none if the node does not exist.
pub(crate) async fn of_node(
    objects: &dyn Lookup,
    name: &str,
) -> Result<BTreeMap<Str, Str>, Status> {
    let node = objects.get("", "nodes", "", name).await?;
    let Some(node) = node else {
        return Ok(BTreeMap::new());
    };
    let labels = node.meta().labels.iter();
    let inherited = labels.filter(|(key, _)| LABELS.contains(&key.as_str()));
    Ok(inherited
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect())
}
