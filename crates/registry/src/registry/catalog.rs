//! `ServedGroup`: everything that is served, as in discovery.
//!
//! Built-in groups in their order, with the embedder's resources, and then those of custom
//! resources. The verbs are those of the resources.

use crate::custom::version_rank::rank;
use crate::registry::Registry;
use crate::registry::custom_resources::served::Served;
use crate::registry::runtime_config::RuntimeConfig;
use crate::rest::Rest;
use crate::rest::capability::RestStorage;
use kubist_api::{GROUPS, ResourceFacts, SubresourceFacts};
use kubist_apimachinery::Str;
use std::cmp::Reverse;
use std::sync::Arc;

/// A served group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServedGroup {
    /// The name; empty for core.
    pub name: Str,
    /// The preferred version.
    pub preferred: Str,
    /// The versions, preferred first.
    pub versions: Vec<ServedVersion>,
}

/// A version of a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServedVersion {
    /// The version.
    pub version: Str,
    /// `group/version`, or the version alone for core.
    pub api_version: Str,
    /// The resources.
    pub resources: Vec<ServedResource>,
}

/// A resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServedResource {
    /// Its names.
    pub facts: &'static ResourceFacts,
    /// The verbs.
    pub verbs: Vec<&'static str>,
    /// The subresources with their verbs.
    pub subresources: Vec<(&'static SubresourceFacts, Vec<&'static str>)>,
}

impl ServedGroup {
    /// Returns a version of the group.
    pub fn version(&self, name: &str) -> Option<&ServedVersion> {
        self.versions.iter().find(|it| it.version == *name)
    }
}

impl ServedVersion {
    /// Returns a resource of the version, by its plural.
    pub fn resource(&self, plural: &str) -> Option<&ServedResource> {
        self.resources.iter().find(|it| it.facts.plural == plural)
    }
}

impl ServedResource {
    /// Returns a resource with its verbs.
    pub(crate) fn of(storage: &dyn RestStorage) -> Self {
        let facts = storage.facts();
        let subresources = facts.subresources.iter().map(|it| {
            let subresource = storage.subresource(it.name);
            // Subresources that connect to nodes are served elsewhere.
            let verbs =
                subresource.map_or_else(|| it.verbs.to_vec(), |subresource| subresource.verbs());
            (it, verbs)
        });
        Self {
            facts,
            verbs: storage.verbs(),
            subresources: subresources.collect(),
        }
    }

    /// Returns a resource that is not stored: reviews, bindings.
    fn unstored(facts: &'static ResourceFacts) -> Self {
        Self {
            facts,
            verbs: facts.verbs.to_vec(),
            subresources: facts
                .subresources
                .iter()
                .map(|it| (it, it.verbs.to_vec()))
                .collect(),
        }
    }
}

/// Returns the groups that do not change, with their resources.
pub(crate) fn built_in(registry: &Registry, config: &RuntimeConfig) -> Vec<ServedGroup> {
    let resource = |facts: &'static ResourceFacts| match registry.storage(
        facts.group,
        facts.version,
        facts.plural,
    ) {
        Some(storage) => ServedResource::of(&*storage),
        None => ServedResource::unstored(facts),
    };
    let groups = GROUPS.iter().filter_map(|group| {
        let versions = group.versions.iter().map(|version| {
            let resources = version.resources.iter();
            let resources = resources.filter(|it| config.serves_resource(it));
            ServedVersion {
                version: version.version.into(),
                api_version: version.api_version.into(),
                resources: resources.map(resource).collect(),
            }
        });
        let versions: Vec<ServedVersion> = versions.filter(|it| !it.resources.is_empty()).collect();
        let preferred = versions.iter().find(|it| it.version == *group.preferred);
        let preferred = preferred.or_else(|| versions.first())?.version.clone();
        Some(ServedGroup {
            name: group.name.into(),
            preferred,
            versions,
        })
    });
    groups.collect()
}

/// Adds resources that were defined or registered at run time.
pub(crate) fn with_more<'a>(
    groups: &[ServedGroup],
    more: impl Iterator<Item = &'a dyn RestStorage>,
) -> Arc<[ServedGroup]> {
    let mut groups = groups.to_vec();
    let before = groups.len();
    let mut more: Vec<&dyn RestStorage> = more.collect();
    more.sort_by_key(|it| (it.facts().group, it.facts().plural));
    for storage in more {
        add(&mut groups, storage);
    }
    for group in &mut groups[before..] {
        let rank = |it: &ServedVersion| Reverse(rank(&it.version));
        group.versions.sort_by_cached_key(rank);
        if let Some(first) = group.versions.first() {
            group.preferred = first.version.clone();
        }
    }
    groups.into()
}

fn add(groups: &mut Vec<ServedGroup>, storage: &dyn RestStorage) {
    let facts = storage.facts();
    let found = groups.iter().position(|it| it.name == *facts.group);
    let index = found.unwrap_or_else(|| {
        groups.push(ServedGroup {
            name: facts.group.into(),
            preferred: facts.version.into(),
            versions: Vec::new(),
        });
        groups.len() - 1
    });
    let versions = &mut groups[index].versions;
    let found = versions.iter().position(|it| it.version == *facts.version);
    let index = found.unwrap_or_else(|| {
        let api_version = match facts.group {
            "" => facts.version.into(),
            group => format!("{group}/{}", facts.version).into(),
        };
        versions.push(ServedVersion {
            version: facts.version.into(),
            api_version,
            resources: Vec::new(),
        });
        versions.len() - 1
    });
    versions[index].resources.push(ServedResource::of(storage));
}

/// Returns the custom resources of a snapshot that discovery shows, as storages.
pub(crate) fn custom(served: &Served) -> impl Iterator<Item = &dyn RestStorage> {
    let is_announced = |rest: &&Arc<Rest>| {
        let definition = rest.store.definition.as_ref();
        definition.is_none_or(|it| !served.unannounced.contains(&it.by.name))
    };
    let announced = served.resources.values().filter(is_announced);
    announced.map(|rest| &**rest as &dyn RestStorage)
}

#[cfg(test)]
mod tests {
    use crate::custom::version_rank::rank;

    #[test]
    fn versions_are_ranked_as_clients_expect() {
        let ranked = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
        ];
        for pair in ranked.windows(2) {
            assert!(rank(pair[0]) > rank(pair[1]), "{pair:?}");
        }
    }
}
