//! The discovery documents of other servers. They are read into types, so that what is passed on to
//! clients is what they expect, whatever a server says.

#![expect(
    clippy::struct_field_names,
    reason = "they are the names in the documents"
)]

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `APIGroupDiscoveryList`.
#[derive(Debug, Deserialize)]
pub(super) struct GroupList {
    #[serde(default)]
    items: Vec<Group>,
}

#[derive(Debug, Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Named,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Debug, Default, Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Version {
    version: String,
    /// Read only if it is the version that is asked for.
    #[serde(default)]
    resources: Value,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    resource: String,
    #[serde(default)]
    response_kind: Option<Kind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default)]
    verbs: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_empty")]
    short_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_empty")]
    categories: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "has_none")]
    subresources: Option<Vec<Subresource>>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Subresource {
    subresource: String,
    #[serde(default)]
    response_kind: Option<Kind>,
    #[serde(default)]
    verbs: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct Kind {
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    kind: String,
}

fn is_empty(texts: &Option<Vec<String>>) -> bool {
    texts.as_ref().is_none_or(Vec::is_empty)
}

fn has_none(all: &Option<Vec<Subresource>>) -> bool {
    all.as_ref().is_none_or(Vec::is_empty)
}

impl GroupList {
    /// Returns the resources of a version, if the server has it.
    ///
    /// # Errors
    /// They are none.
    pub(super) fn version(
        self,
        group: &str,
        version: &str,
    ) -> Result<Option<Value>, serde_json::Error> {
        let mut groups = self.items.into_iter();
        let found = groups.find(|it| it.metadata.name == group);
        let mut versions = found.into_iter().flat_map(|it| it.versions);
        let Some(found) = versions.find(|it| it.version == version) else {
            return Ok(None);
        };
        let resources: Option<Vec<Resource>> = serde_json::from_value(found.resources)?;
        Ok(Some(passed_on(resources.unwrap_or_default())))
    }
}

/// Returns resources as clients expect them: those of some versions want a kind in each.
fn passed_on(mut resources: Vec<Resource>) -> Value {
    for resource in &mut resources {
        resource.response_kind.get_or_insert_default();
        resource.verbs.get_or_insert_default();
        for subresource in resource.subresources.iter_mut().flatten() {
            subresource.response_kind.get_or_insert_default();
            subresource.verbs.get_or_insert_default();
        }
    }
    serde_json::to_value(resources).unwrap_or_default()
}

/// `APIResourceList`, of servers without the other form.
#[derive(Debug, Deserialize)]
pub(super) struct ResourceList {
    #[serde(default)]
    resources: Option<Vec<Entry>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(flatten)]
    kind: Kind,
    #[serde(default)]
    verbs: Option<Vec<String>>,
    #[serde(default)]
    short_names: Option<Vec<String>>,
    #[serde(default)]
    categories: Option<Vec<String>>,
}

impl ResourceList {
    /// Returns the resources, each with its subresources.
    pub(super) fn resources(self) -> Value {
        let mut all: Vec<Resource> = Vec::new();
        for entry in self.resources.unwrap_or_default() {
            let (name, subresource) = match entry.name.split_once('/') {
                Some((name, subresource)) => (name, Some(subresource.to_owned())),
                None => (entry.name.as_str(), None),
            };
            let index = all.iter().position(|it| it.resource == name);
            let index = index.unwrap_or_else(|| {
                let scope = if entry.namespaced {
                    "Namespaced"
                } else {
                    "Cluster"
                };
                all.push(Resource {
                    resource: name.to_owned(),
                    scope: scope.to_owned(),
                    ..Resource::default()
                });
                all.len() - 1
            });
            let Some(resource) = all.get_mut(index) else {
                continue;
            };
            if let Some(subresource) = subresource {
                resource
                    .subresources
                    .get_or_insert_default()
                    .push(Subresource {
                        subresource,
                        response_kind: Some(entry.kind),
                        verbs: entry.verbs,
                    });
            } else {
                resource.response_kind = Some(entry.kind);
                resource.singular_resource = entry.singular_name;
                resource.verbs = entry.verbs;
                resource.short_names = entry.short_names;
                resource.categories = entry.categories;
            }
        }
        passed_on(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_of_a_version_become_resources_with_their_subresources() {
        let list = json!({"resources": [
            {"name": "fischers", "singularName": "fischer", "namespaced": false,
                "kind": "Fischer", "verbs": ["get"], "shortNames": ["f"]},
            {"name": "flunders/status", "singularName": "", "namespaced": true,
                "kind": "Flunder", "verbs": ["update"]},
            {"name": "flunders", "singularName": "flunder", "namespaced": true,
                "kind": "Flunder", "verbs": ["list"]},
        ]});
        let list: ResourceList = serde_json::from_value(list).unwrap();
        let kind = |kind: &str| json!({"group": "", "version": "", "kind": kind});
        let expected = json!([
            {"resource": "fischers", "responseKind": kind("Fischer"), "scope": "Cluster",
                "singularResource": "fischer", "verbs": ["get"], "shortNames": ["f"]},
            {"resource": "flunders", "responseKind": kind("Flunder"), "scope": "Namespaced",
                "singularResource": "flunder", "verbs": ["list"], "subresources": [
                    {"subresource": "status", "responseKind": kind("Flunder"),
                        "verbs": ["update"]}]},
        ]);
        assert_eq!(list.resources(), expected);
    }

    #[test]
    fn a_version_is_found_in_an_aggregated_document() {
        let document = json!({"items": [{"metadata": {"name": "a"}, "versions": [
            {"version": "v1", "resources": [{"resource": "bs", "verbs": ["get"]}]}]}]});
        let list = || serde_json::from_value::<GroupList>(document.clone()).unwrap();
        let found = list().version("a", "v1").unwrap().unwrap();
        assert_eq!(found[0]["responseKind"]["kind"], "");
        assert!(found[0].get("subresources").is_none());
        assert_eq!(list().version("a", "v2").unwrap(), None);
        assert_eq!(list().version("b", "v1").unwrap(), None);
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let version = |resources: Value| {
            json!({"items": [{"metadata": {"name": "a"}, "versions": [
                {"version": "v1", "resources": resources}]}]})
        };
        for resources in [
            json!(["x"]),
            json!("x"),
            json!([{"resource": 5}]),
            json!([{"resource": "x", "subresources": ["y"]}]),
            json!([{"resource": "x", "verbs": [1]}]),
        ] {
            let list: GroupList = serde_json::from_value(version(resources.clone())).unwrap();
            assert!(list.version("a", "v1").is_err(), "{resources}");
        }
        let list = json!({"resources": [{"name": 5}]});
        assert!(serde_json::from_value::<ResourceList>(list).is_err());
    }
}
