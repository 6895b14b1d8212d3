//! The annotations of Deployments and their ReplicaSets.

use kubist_api::apps::v1::ReplicaSet;
use kubist_apimachinery::Str;
use std::collections::BTreeMap;

/// The revision of a template, incremented by each change.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// Earlier revisions of a template that was restored.
pub(super) const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The Deployment's replicas when the ReplicaSet was last scaled.
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// The same including surge.
pub(super) const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";

/// Parses an annotation; `None` if it is absent or not a number.
pub(super) fn number<T: std::str::FromStr>(
    annotations: &BTreeMap<Str, Str>,
    key: &str,
) -> Option<T> {
    annotations.get(key)?.parse().ok()
}

/// Sets an annotation and reports whether its value changed.
pub(super) fn put(set: &mut ReplicaSet, key: &str, value: Str) -> bool {
    let annotations = &mut set.metadata.annotations;
    let changed = annotations.get(key) != Some(&value);
    if changed {
        annotations.insert(key.into(), value);
    }
    changed
}
