//! Discovery in one document: `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`.

use super::add_names;
use kubist_api::{GROUPS, GroupFacts, ResourceFacts, SubresourceFacts, VersionFacts};
use serde_json::{Value, json};

/// The document, of the core group or of all others.
pub(crate) fn aggregated(core: bool) -> Value {
    let groups = GROUPS.iter().filter(|group| group.name.is_empty() == core);
    let items: Vec<Value> = groups.map(group).collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn group(facts: &GroupFacts) -> Value {
    let metadata = if facts.name.is_empty() {
        json!({})
    } else {
        json!({"name": facts.name})
    };
    let versions: Vec<Value> = facts.versions.iter().map(version).collect();
    json!({"metadata": metadata, "versions": versions})
}

fn version(facts: &VersionFacts) -> Value {
    let resources: Vec<Value> = facts.resources.iter().map(resource).collect();
    json!({"version": facts.version, "resources": resources, "freshness": "Current"})
}

fn resource(facts: &ResourceFacts) -> Value {
    let mut entry = json!({
        "resource": facts.plural,
        "responseKind": {"group": "", "version": "", "kind": facts.kind},
        "scope": if facts.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": facts.singular,
        "verbs": facts.verbs,
    });
    add_names(&mut entry, facts);
    if !facts.subresources.is_empty() {
        let subresources = facts.subresources.iter().map(|it| subresource(facts, it));
        entry["subresources"] = subresources.collect();
    }
    entry
}

/// Names of the own group and version are left empty.
fn subresource(resource: &ResourceFacts, facts: &SubresourceFacts) -> Value {
    let own = (facts.group, facts.version) == (resource.group, resource.version);
    let (group, version) = if own {
        ("", "")
    } else {
        (facts.group, facts.version)
    };
    json!({
        "subresource": facts.name,
        "responseKind": {"group": group, "version": version, "kind": facts.kind},
        "verbs": facts.verbs,
    })
}
