//! `WatchCacheConfig`: the resources that have a watch cache, and upstream's option for them.

use crate::storage::cacher::CacherConfig;
use kubist_apimachinery::GroupResource;
use std::str::FromStr;

/// The resources that have a watch cache.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct WatchCacheConfig {
    /// Whether watch caches are enabled. Default: no; see the decision record on it.
    pub enabled: bool,
    /// Exceptions.
    pub sizes: WatchCacheSizes,
    /// The configuration of the caches. The indexed field is that of the resource.
    pub config: CacherConfig,
}

impl WatchCacheConfig {
    /// Enables a watch cache for every resource.
    pub fn everywhere() -> Self {
        Self {
            enabled: true,
            ..Self::default()
        }
    }

    /// Reports whether a resource has a watch cache.
    pub fn covers(&self, resource: &GroupResource) -> bool {
        self.enabled && self.sizes.get(resource) != Some(0)
    }
}

/// The watch cache sizes by resource, in the syntax of upstream's option. A cache adapts its size,
/// so only zero has an effect: it disables the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchCacheSizes(Vec<(GroupResource, usize)>);

/// The error of an invalid text of watch cache sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{item:?} is not a watch cache size; expected `resource[.group]#size`")]
pub struct WatchCacheSizesError {
    item: String,
}

impl WatchCacheSizes {
    /// Returns the size set for a resource.
    pub fn get(&self, resource: &GroupResource) -> Option<usize> {
        let found = self.0.iter().find(|(of, _)| of == resource);
        found.map(|(_, size)| *size)
    }
}

impl FromStr for WatchCacheSizes {
    type Err = WatchCacheSizesError;

    /// Parses `resource[.group]#size,…`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut sizes = Vec::new();
        for item in text.split(',').filter(|it| !it.is_empty()) {
            let error = || WatchCacheSizesError {
                item: item.to_owned(),
            };
            let (resource, size) = item.split_once('#').ok_or_else(error)?;
            let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
            if plural.is_empty() {
                return Err(error());
            }
            let size = size.parse().map_err(|_| error())?;
            sizes.push((GroupResource::new(group, plural), size));
        }
        Ok(Self(sizes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_upstream_writes_them() {
        let sizes: WatchCacheSizes = "pods#0,deployments.apps#100".parse().expect("valid");
        assert_eq!(sizes.get(&GroupResource::new("", "pods")), Some(0));
        assert_eq!(
            sizes.get(&GroupResource::new("apps", "deployments")),
            Some(100)
        );
        assert_eq!(sizes.get(&GroupResource::new("", "nodes")), None);
        for text in ["pods", "pods#", "#1", "pods#-1", "pods#x"] {
            assert!(text.parse::<WatchCacheSizes>().is_err(), "{text}");
        }
    }

    #[test]
    fn size_zero_is_no_cache_and_no_other_size_matters() {
        let cache = WatchCacheConfig {
            enabled: true,
            sizes: "pods#0,nodes#7".parse().expect("valid"),
            ..WatchCacheConfig::default()
        };
        let covers = |plural| cache.covers(&GroupResource::new("", plural));
        assert_eq!(
            ["pods", "nodes", "services"].map(covers),
            [false, true, true]
        );
        assert!(!WatchCacheConfig::default().covers(&GroupResource::new("", "nodes")));
    }
}
