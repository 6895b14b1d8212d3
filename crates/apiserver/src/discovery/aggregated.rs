//! Aggregated discovery: `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`.

use super::add_names;
use kubist_api::{ResourceFacts, SubresourceFacts, find_kind};
use kubist_registry::{ServedGroup, ServedResource, ServedVersion};
use serde_json::{Value, json};

/// Returns the document of the core group, or that of all other groups.
pub(crate) fn aggregated(groups: &[ServedGroup], core: bool) -> Value {
    let groups = groups.iter().filter(|group| group.name.is_empty() == core);
    let items: Vec<Value> = groups.map(group).collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn group(facts: &ServedGroup) -> Value {
    let metadata = if facts.name.is_empty() {
        json!({})
    } else {
        json!({"name": facts.name})
    };
    let versions: Vec<Value> = facts.versions.iter().map(version).collect();
    json!({"metadata": metadata, "versions": versions})
}

fn version(facts: &ServedVersion) -> Value {
    let resources: Vec<Value> = facts.resources.iter().map(resource).collect();
    json!({"version": facts.version, "resources": resources, "freshness": "Current"})
}

fn resource(served: &ServedResource) -> Value {
    let facts = served.facts;
    let kind = response_kind(facts);
    let mut entry = json!({
        "resource": facts.plural,
        "responseKind": kind,
        "scope": if facts.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": facts.singular,
        "verbs": served.verbs,
    });
    add_names(&mut entry, facts);
    if !served.subresources.is_empty() {
        let subresources = served.subresources.iter();
        let subresources = subresources.map(|(it, verbs)| subresource(facts, it, verbs));
        entry["subresources"] = subresources.collect();
    }
    entry
}

/// The resource's own group and version are left empty, except for custom resources.
fn subresource(resource: &ResourceFacts, facts: &SubresourceFacts, verbs: &[&str]) -> Value {
    let own = (facts.group, facts.version) == (resource.group, resource.version);
    let (group, version) = if own && is_built_in(resource) {
        ("", "")
    } else {
        (facts.group, facts.version)
    };
    json!({
        "subresource": facts.name,
        "responseKind": {"group": group, "version": version, "kind": facts.kind},
        "verbs": verbs,
    })
}

/// The resource's own group and version are left empty, except for custom resources.
fn response_kind(facts: &ResourceFacts) -> Value {
    let (group, version) = if is_built_in(facts) {
        ("", "")
    } else {
        (facts.group, facts.version)
    };
    json!({"group": group, "version": version, "kind": facts.kind})
}

fn is_built_in(facts: &ResourceFacts) -> bool {
    find_kind(facts.group, facts.version, facts.kind).is_some()
}
