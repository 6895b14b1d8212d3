//! Aggregated discovery (`apidiscovery.k8s.io/v2`): all groups in the responses of `/api` and
//! `/apis`.

use super::{DiscoveredResource, Discovery, FailedGroup};
use crate::Client;
use crate::error::ApiError;
use kubist_apimachinery::{ApiResource, GroupVersion, Str};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                      application/json";

/// Responses of an old server have none of these fields.
#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupList {
    #[serde(deserialize_with = "null_is_none")]
    kind: Str,
    #[serde(deserialize_with = "null_is_none")]
    items: Vec<Group>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Group {
    #[serde(deserialize_with = "null_is_none")]
    metadata: Metadata,
    #[serde(deserialize_with = "null_is_none")]
    versions: Vec<Version>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    #[serde(deserialize_with = "null_is_none")]
    name: Str,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Version {
    #[serde(rename = "version")]
    #[serde(deserialize_with = "null_is_none")]
    name: Str,
    #[serde(deserialize_with = "null_is_none")]
    freshness: Str,
    #[serde(deserialize_with = "null_is_none")]
    resources: Vec<Resource>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Resource {
    #[serde(rename = "resource")]
    #[serde(deserialize_with = "null_is_none")]
    plural: Str,
    response_kind: Option<Kind>,
    #[serde(deserialize_with = "null_is_none")]
    scope: Str,
    #[serde(rename = "singularResource")]
    #[serde(deserialize_with = "null_is_none")]
    singular: Str,
    #[serde(deserialize_with = "null_is_none")]
    verbs: Vec<Str>,
    #[serde(deserialize_with = "null_is_none")]
    short_names: Vec<Str>,
    #[serde(deserialize_with = "null_is_none")]
    categories: Vec<Str>,
    #[serde(deserialize_with = "null_is_none")]
    subresources: Vec<Subresource>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Kind {
    #[serde(deserialize_with = "null_is_none")]
    kind: Str,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Subresource {
    #[serde(rename = "subresource")]
    #[serde(deserialize_with = "null_is_none")]
    name: Str,
    #[serde(deserialize_with = "null_is_none")]
    verbs: Vec<Str>,
}

/// Go encodes an empty list as null; other servers may do the same.
pub(super) fn null_is_none<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Returns `None` if the server does not support aggregated discovery.
pub(super) async fn discover(client: &Client) -> Result<Option<Discovery>, ApiError> {
    let mut discovery = Discovery::default();
    for path in ["/api", "/apis"] {
        let list = match client.document::<GroupList>(path, ACCEPT).await {
            Ok((list, _)) if list.kind == "APIGroupDiscoveryList" => list,
            Ok(_) => return Ok(None),
            // An extension API server has no core group.
            Err(error) if path == "/api" && error.is_not_found() => continue,
            Err(error) => return Err(error),
        };
        for group in list.items {
            for version in group.versions {
                add(&mut discovery, &group.metadata.name, version);
            }
        }
    }
    Ok(Some(discovery))
}

fn add(discovery: &mut Discovery, group: &Str, version: Version) {
    if version.freshness == "Stale" {
        let group_version = GroupVersion::new(group.clone(), version.name.clone());
        discovery.failed.push(FailedGroup {
            group_version,
            error: None,
        });
    }
    for resource in version.resources {
        // Entries without a kind only hold subresources; they cannot be read or written.
        let Some(Kind { kind }) = resource.response_kind else {
            continue;
        };
        let subresources: BTreeMap<_, _> = resource
            .subresources
            .into_iter()
            .map(|it| (it.name, it.verbs))
            .collect();
        discovery.resources.push(DiscoveredResource {
            resource: ApiResource {
                group: group.clone(),
                version: version.name.clone(),
                kind,
                plural: resource.plural,
                singular: resource.singular,
                namespaced: resource.scope == "Namespaced",
            },
            short_names: resource.short_names,
            categories: resource.categories,
            verbs: resource.verbs,
            subresources,
        });
    }
}
