//! Labels that say where a node is, which its Pods get from it.

use kubist_apimachinery::{Status, Str};
use kubist_registry::Lookup;
use std::collections::BTreeMap;

/// The labels that Pods get, as upstream.
const LABELS: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// What the labels of a node say of where it is; nothing if there is no such node.
pub(crate) async fn of_node(
    objects: &dyn Lookup,
    name: &str,
) -> Result<BTreeMap<Str, Str>, Status> {
    let node = objects.get("", "nodes", "", name).await?;
    let Some(node) = node else {
        return Ok(BTreeMap::new());
    };
    let labels = node.meta().labels.iter();
    let told = labels.filter(|(key, _)| LABELS.contains(&key.as_str()));
    Ok(told
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect())
}
