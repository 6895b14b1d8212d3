//! Selects the resources for controllers of all objects.

use kubist_apimachinery::ApiResource;
use kubist_client::{DiscoveredResource, Discovery};
use std::collections::BTreeSet;

/// Returns the resources that have all these verbs, each group's in its preferred version.
pub(super) fn with_verbs<'a>(
    discovery: &'a Discovery,
    verbs: &[&str],
) -> Vec<&'a DiscoveredResource> {
    let mut known = BTreeSet::new();
    let resources = discovery.resources().iter();
    resources
        .filter(|it| verbs.iter().all(|verb| it.has_verb(verb)))
        // The preferred version of each group comes first.
        .filter(|it| known.insert((it.resource.group.clone(), it.resource.plural.clone())))
        .filter(|it| !is_alias(&it.resource))
        .collect()
}

/// Reports whether this is the second group that serves events, besides the core group.
fn is_alias(resource: &ApiResource) -> bool {
    resource.group == "events.k8s.io" && resource.plural == "events"
}
