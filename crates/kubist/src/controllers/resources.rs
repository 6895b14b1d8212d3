//! Which resources a controller of all objects has to look after.

use std::collections::BTreeSet;

use kubist_apimachinery::ApiResource;
use kubist_client::{DiscoveredResource, Discovery};

/// The resources with all these verbs, each group's in its preferred version.
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

/// Events are served twice: under the core group, and as this.
fn is_alias(resource: &ApiResource) -> bool {
    resource.group == "events.k8s.io" && resource.plural == "events"
}
