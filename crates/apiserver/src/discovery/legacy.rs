//! Discovery in many documents: `/api`, `/apis`, a group, a version of a group.

use super::add_names;
use kubist_api::{GROUPS, GroupFacts, ResourceFacts, SubresourceFacts, VersionFacts};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

/// The document of `/api`.
pub(crate) fn api_versions(address: Option<SocketAddr>) -> Value {
    let core = GROUPS.iter().filter(|group| group.name.is_empty());
    let versions = core.flat_map(|group| group.versions.iter().map(|it| it.version));
    let address = address.map_or_else(|| "localhost".to_owned(), |address| address.to_string());
    json!({
        "kind": "APIVersions",
        "versions": versions.collect::<Vec<_>>(),
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// The document of `/apis`.
pub(crate) fn api_groups() -> Value {
    let groups = GROUPS.iter().filter(|group| !group.name.is_empty());
    let groups: Vec<Value> = groups.map(|facts| Value::Object(group(facts))).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// The document of `/apis/<group>`.
pub(crate) fn api_group(facts: &GroupFacts) -> Value {
    let mut document = group(facts);
    document.insert("kind".to_owned(), json!("APIGroup"));
    document.insert("apiVersion".to_owned(), json!("v1"));
    Value::Object(document)
}

fn group(facts: &GroupFacts) -> Map<String, Value> {
    let version = |version: &VersionFacts| json!({"groupVersion": version.api_version, "version": version.version});
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

/// The document of a version of a group.
pub(crate) fn resource_list(group: &str, facts: &VersionFacts) -> Value {
    let resources = facts.resources.iter().flat_map(|resource| {
        let subresources = resource.subresources.iter();
        std::iter::once(resource_entry(resource)).chain(subresources.map(|it| entry(resource, it)))
    });
    let mut document = Map::new();
    document.insert("kind".to_owned(), json!("APIResourceList"));
    // Upstream's oldest group says no version of its own.
    if !group.is_empty() {
        document.insert("apiVersion".to_owned(), json!("v1"));
    }
    document.insert("groupVersion".to_owned(), json!(facts.api_version));
    document.insert("resources".to_owned(), Value::Array(resources.collect()));
    Value::Object(document)
}

fn resource_entry(facts: &ResourceFacts) -> Value {
    let mut entry = json!({
        "name": facts.plural,
        "singularName": facts.singular,
        "namespaced": facts.namespaced,
        "kind": facts.kind,
        "verbs": facts.verbs,
    });
    add_names(&mut entry, facts);
    if !facts.storage_version_hash.is_empty() {
        entry["storageVersionHash"] = json!(facts.storage_version_hash);
    }
    entry
}

fn entry(resource: &ResourceFacts, facts: &SubresourceFacts) -> Value {
    let mut entry = json!({
        "name": format!("{}/{}", resource.plural, facts.name),
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": facts.kind,
        "verbs": facts.verbs,
    });
    if (facts.group, facts.version) != (resource.group, resource.version) {
        entry["version"] = json!(facts.version);
        if !facts.group.is_empty() {
            entry["group"] = json!(facts.group);
        }
    }
    entry
}
