//! Discovery for servers before 1.27: a group list, then one request for each version.

use super::aggregated::null_is_none;
use super::{DiscoveredResource, Discovery, FailedGroup};
use crate::Client;
use crate::error::ApiError;
use crate::request::JSON;
use kubist_apimachinery::{ApiResource, GroupVersion, Str};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct CoreVersions {
    #[serde(deserialize_with = "null_is_none")]
    versions: Vec<Str>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupList {
    #[serde(deserialize_with = "null_is_none")]
    groups: Vec<Group>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Group {
    name: Str,
    #[serde(deserialize_with = "null_is_none")]
    versions: Vec<Version>,
    #[serde(deserialize_with = "null_is_none")]
    preferred_version: Version,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(default)]
struct Version {
    version: Str,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ResourceList {
    #[serde(deserialize_with = "null_is_none")]
    resources: Vec<Resource>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Resource {
    name: Str,
    singular_name: Str,
    namespaced: bool,
    kind: Str,
    #[serde(deserialize_with = "null_is_none")]
    verbs: Vec<Str>,
    #[serde(deserialize_with = "null_is_none")]
    short_names: Vec<Str>,
    #[serde(deserialize_with = "null_is_none")]
    categories: Vec<Str>,
}

pub(super) async fn discover(client: &Client) -> Result<Discovery, ApiError> {
    let mut discovery = Discovery::default();
    for group_version in group_versions(client).await? {
        match client
            .document::<ResourceList>(&group_version.path(), JSON)
            .await
        {
            Ok((list, _)) => add(&mut discovery, &group_version, list),
            Err(error) => {
                discovery.failed.push(FailedGroup {
                    group_version,
                    error: Some(error),
                });
            }
        }
    }
    Ok(discovery)
}

async fn group_versions(client: &Client) -> Result<Vec<GroupVersion>, ApiError> {
    let core = match client.document::<CoreVersions>("/api", JSON).await {
        Ok((core, _)) => core.versions,
        Err(error) if error.is_not_found() => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut found: Vec<_> = core
        .into_iter()
        .map(|it| GroupVersion::new("", it))
        .collect();
    let (list, _) = client.document::<GroupList>("/apis", JSON).await?;
    for mut group in list.groups {
        // The preferred version comes first; the others keep the server's order.
        group
            .versions
            .sort_by_key(|version| *version != group.preferred_version);
        let versions = group.versions.into_iter();
        found.extend(versions.map(|it| GroupVersion::new(group.name.clone(), it.version)));
    }
    Ok(found)
}

fn add(discovery: &mut Discovery, group_version: &GroupVersion, list: ResourceList) {
    let (below, own): (Vec<_>, Vec<_>) = list
        .resources
        .into_iter()
        .partition(|it| it.name.contains('/'));
    for resource in own {
        let subresources = below.iter().filter_map(|it| {
            let (parent, name) = it.name.split_once('/')?;
            (parent == resource.name.as_str()).then(|| (Str::from(name), it.verbs.clone()))
        });
        discovery.resources.push(DiscoveredResource {
            subresources: subresources.collect(),
            resource: ApiResource {
                group: group_version.group.clone(),
                version: group_version.version.clone(),
                kind: resource.kind,
                plural: resource.name,
                singular: resource.singular_name,
                namespaced: resource.namespaced,
            },
            short_names: resource.short_names,
            categories: resource.categories,
            verbs: resource.verbs,
        });
    }
}
