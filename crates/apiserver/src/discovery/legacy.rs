//! Unaggregated discovery: `/api`, `/apis`, groups and group versions.

use super::add_names;
use kubist_api::{ResourceFacts, SubresourceFacts};
use kubist_registry::{ServedGroup, ServedResource, ServedVersion};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

/// Returns the document of `/api`.
pub(crate) fn api_versions(groups: &[ServedGroup], address: Option<SocketAddr>) -> Value {
    let core = groups.iter().filter(|group| group.name.is_empty());
    let versions = core.flat_map(|group| group.versions.iter().map(|it| it.version.as_str()));
    let address = address.map_or_else(|| "localhost".to_owned(), |address| address.to_string());
    json!({
        "kind": "APIVersions",
        "versions": versions.collect::<Vec<_>>(),
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// Returns the document of `/apis`.
pub(crate) fn api_groups(groups: &[ServedGroup]) -> Value {
    let groups = groups.iter().filter(|group| !group.name.is_empty());
    let groups: Vec<Value> = groups.map(|facts| Value::Object(group(facts))).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// Returns the document of `/apis/<group>`.
pub(crate) fn api_group(facts: &ServedGroup) -> Value {
    let mut document = group(facts);
    document.insert("kind".to_owned(), json!("APIGroup"));
    document.insert("apiVersion".to_owned(), json!("v1"));
    Value::Object(document)
}

fn group(facts: &ServedGroup) -> Map<String, Value> {
    let version = |version: &ServedVersion| json!({"groupVersion": version.api_version, "version": version.version});
    let preferred = facts
        .versions
        .iter()
        .find(|it| it.version == facts.preferred);
    let mut group = Map::new();
    group.insert("name".to_owned(), json!(facts.name));
    let versions: Vec<Value> = facts.versions.iter().map(version).collect();
    group.insert("versions".to_owned(), Value::Array(versions));
    if let Some(preferred) = preferred {
        group.insert("preferredVersion".to_owned(), version(preferred));
    }
    group
}

/// Returns the document of a group version.
pub(crate) fn resource_list(group: &str, facts: &ServedVersion) -> Value {
    let resources = facts.resources.iter().flat_map(|resource| {
        let subresources = resource.subresources.iter();
        let entries = subresources.map(|(it, verbs)| entry(resource.facts, it, verbs));
        std::iter::once(resource_entry(resource)).chain(entries)
    });
    let mut document = Map::new();
    document.insert("kind".to_owned(), json!("APIResourceList"));
    // Upstream's core group has no `apiVersion`.
    if !group.is_empty() {
        document.insert("apiVersion".to_owned(), json!("v1"));
    }
    document.insert("groupVersion".to_owned(), json!(facts.api_version));
    document.insert("resources".to_owned(), Value::Array(resources.collect()));
    Value::Object(document)
}

fn resource_entry(served: &ServedResource) -> Value {
    let facts = served.facts;
    let mut entry = json!({
        "name": facts.plural,
        "singularName": facts.singular,
        "namespaced": facts.namespaced,
        "kind": facts.kind,
        "verbs": served.verbs,
    });
    add_names(&mut entry, facts);
    if !facts.storage_version_hash.is_empty() {
        entry["storageVersionHash"] = json!(facts.storage_version_hash);
    }
    entry
}

fn entry(resource: &ResourceFacts, facts: &SubresourceFacts, verbs: &[&str]) -> Value {
    let mut entry = json!({
        "name": format!("{}/{}", resource.plural, facts.name),
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": facts.kind,
        "verbs": verbs,
    });
    if (facts.group, facts.version) != (resource.group, resource.version) {
        entry["version"] = json!(facts.version);
        if !facts.group.is_empty() {
            entry["group"] = json!(facts.group);
        }
    }
    entry
}
