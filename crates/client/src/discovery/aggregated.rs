//! Aggregated discovery (`apidiscovery.k8s.io/v2`): all groups in the answers of `/api` and
//! `/apis`.

use std::collections::BTreeMap;

use kubist_apimachinery::{ApiResource, GroupVersion, Str};
use serde::Deserialize;

use super::{DiscoveredResource, Discovery, FailedGroup};
use crate::Client;
use crate::error::ApiError;

const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                      application/json";

/// Answers of an old server have none of the fields.
#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupList {
    kind: Str,
    items: Vec<Group>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Group {
    metadata: Metadata,
    versions: Vec<Version>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    name: Str,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Version {
    #[serde(rename = "version")]
    name: Str,
    freshness: Str,
    resources: Vec<Resource>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Resource {
    #[serde(rename = "resource")]
    plural: Str,
    response_kind: Option<Kind>,
    scope: Str,
    #[serde(rename = "singularResource")]
    singular: Str,
    verbs: Vec<Str>,
    short_names: Vec<Str>,
    categories: Vec<Str>,
    subresources: Vec<Subresource>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Kind {
    kind: Str,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Subresource {
    #[serde(rename = "subresource")]
    name: Str,
    verbs: Vec<Str>,
}

/// `None` if the server does not aggregate.
pub(super) async fn discover(client: &Client) -> Result<Option<Discovery>, ApiError> {
    let mut discovery = Discovery::default();
    for path in ["/api", "/apis"] {
        let list = match client.document::<GroupList>(path, ACCEPT).await {
            Ok((list, _)) if list.kind == "APIGroupDiscoveryList" => list,
            Ok(_) => return Ok(None),
            // A server of nothing but extensions has no core group.
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
        // Without a kind there is nothing to read or write: a path with subresources alone.
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
