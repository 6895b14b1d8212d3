//! Decides for each resource how it is kept: key prefix, watch cache, transformer, encoding.

use super::{Storage, upstream_form};
use crate::RawStorage;
use crate::cacher::{Cacher, CacherConfig};
use crate::metrics::ResourceMetrics;
use crate::storage_key::KeyLayout;
use crate::stored_cache::StoredCache;
use crate::stored_codec::{StorageEncoding, StoredCodec};
use crate::strategy::{PlainStrategy, Strategy};
use crate::transformer::{Identity, TransformCounts, Transformer};
use hashbrown::HashMap;
use kubist_api::{Kind, find_kind};
use kubist_apimachinery::GroupResource;
use kubist_storage::Kv;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

/// Which resources have a watch cache.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct WatchCache {
    /// Whether there are watch caches at all. Default: no; see the decision record on it.
    pub enabled: bool,
    /// Exceptions.
    pub sizes: WatchCacheSizes,
    /// How they behave. The indexed field is that of the resource.
    pub config: CacherConfig,
}

impl WatchCache {
    /// One for every resource.
    pub fn everywhere() -> Self {
        Self {
            enabled: true,
            ..Self::default()
        }
    }

    /// Whether a resource has one.
    pub fn covers(&self, resource: &GroupResource) -> bool {
        self.enabled && self.sizes.get(resource) != Some(0)
    }
}

/// Sizes of watch caches by resource, as upstream's option has them: a cache adapts its size, so
/// only zero means something, which is no cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchCacheSizes(Vec<(GroupResource, usize)>);

/// Why a text is not sizes of watch caches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{item:?} is not the size of a watch cache; one is `resource[.group]#size`")]
pub struct WatchCacheSizesError {
    item: String,
}

impl WatchCacheSizes {
    /// What was said of a resource.
    pub fn get(&self, resource: &GroupResource) -> Option<usize> {
        let found = self.0.iter().find(|(of, _)| of == resource);
        found.map(|(_, size)| *size)
    }
}

impl FromStr for WatchCacheSizes {
    type Err = WatchCacheSizesError;

    /// Reads `resource[.group]#size,…`.
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

/// The fields by which watch caches tell watchers apart, as upstream: every kubelet watches the
/// pods of its node.
const INDEXED: [(&str, &str, &str); 1] = [("", "pods", "spec.nodeName")];

/// Stands for all groups, and for all resources, as upstream.
const EVERY: &str = "*";

/// The storage of a resource, as the factory makes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MadeStorage {
    /// What the store calls.
    pub storage: Arc<dyn Storage>,
    /// The watch cache, if it has one, which somebody has to run.
    pub cacher: Option<Cacher>,
}

/// Makes the storage of each resource over one engine.
#[derive(Debug)]
pub struct StorageFactory {
    kv: Arc<dyn Kv>,
    key_root: String,
    watch_cache: WatchCache,
    transformers: HashMap<GroupResource, Arc<dyn Transformer>>,
    /// Those that are in use, which count apart.
    in_use: Mutex<BTreeMap<GroupResource, Arc<dyn Transformer>>>,
    encodings: HashMap<GroupResource, StorageEncoding>,
    /// What all resources remember together.
    made: Arc<StoredCache>,
    /// What is counted, one for each resource, whatever became of it.
    metrics: Mutex<Vec<Arc<ResourceMetrics>>>,
}

/// Resources that are counted apart; those that come later are counted together as `other`.
const COUNTED_MAX: usize = 2_000;

/// How one resource is kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StorageOptions {
    /// Where its objects are.
    pub keys: KeyLayout,
    /// Whether it has a watch cache.
    pub cached: bool,
    /// What is done to its values.
    pub transformer: Arc<dyn Transformer>,
    /// How its objects are encoded.
    pub encoding: StorageEncoding,
    /// The version in which they are written, where it is not the one that storage hands out.
    pub version: Option<&'static str>,
    /// The field by which a watch cache tells watchers apart.
    pub indexed_field: Option<&'static str>,
}

impl StorageFactory {
    /// A factory over `kv`, with keys below `key_root` and a memory of about `cache_bytes_max`
    /// bytes for what was made of stored values.
    pub fn new(kv: Arc<dyn Kv>, key_root: impl Into<String>, cache_bytes_max: usize) -> Self {
        Self {
            kv,
            key_root: key_root.into(),
            watch_cache: WatchCache::default(),
            transformers: HashMap::new(),
            in_use: Mutex::default(),
            encodings: HashMap::new(),
            made: Arc::new(StoredCache::new(cache_bytes_max)),
            metrics: Mutex::default(),
        }
    }

    /// The same with watch caches.
    #[must_use]
    pub fn with_watch_cache(mut self, watch_cache: WatchCache) -> Self {
        self.watch_cache = watch_cache;
        self
    }

    /// The same with a transformer for one resource, for all of a group that have none of their
    /// own (the resource `*`), or for all (group and resource `*`). Default: [`Identity`].
    #[must_use]
    pub fn with_transformer(
        mut self,
        resource: GroupResource,
        transformer: Arc<dyn Transformer>,
    ) -> Self {
        self.transformers.insert(resource, transformer);
        self
    }

    /// The same with an encoding for one resource. Default: upstream's, which is protobuf but for
    /// definitions of custom resources and APIServices.
    #[must_use]
    pub fn with_encoding(mut self, resource: GroupResource, encoding: StorageEncoding) -> Self {
        self.encodings.insert(resource, encoding);
        self
    }

    /// What is counted about each resource that storage was made for.
    pub fn metrics(&self) -> Vec<Arc<ResourceMetrics>> {
        self.metrics.lock().clone()
    }

    fn metrics_of(&self, group: &str, plural: &str) -> Arc<ResourceMetrics> {
        let mut metrics = self.metrics.lock();
        let named = |it: &&Arc<ResourceMetrics>| *it.group == *group && *it.resource == *plural;
        if let Some(known) = metrics.iter().find(named) {
            return Arc::clone(known);
        }
        if metrics.len() > COUNTED_MAX {
            return Arc::clone(&metrics[COUNTED_MAX]);
        }
        let made = if metrics.len() < COUNTED_MAX {
            Arc::new(ResourceMetrics::new(group, plural))
        } else {
            Arc::new(ResourceMetrics::new("", "other"))
        };
        metrics.push(Arc::clone(&made));
        made
    }

    /// What is said of a resource; else of its group, else of all.
    fn transformer(&self, resource: &GroupResource) -> Option<&Arc<dyn Transformer>> {
        let of = |group: &str, plural: &str| {
            let resource = GroupResource::new(group, plural);
            self.transformers.get(&resource)
        };
        let of_group = || of(&resource.group, EVERY);
        let found = self.transformers.get(resource).or_else(of_group);
        found.or_else(|| of(EVERY, EVERY))
    }

    /// The transformer of a resource, with counts of its own.
    fn counted_transformer(&self, resource: &GroupResource) -> Option<Arc<dyn Transformer>> {
        let transformer = self.transformer(resource)?;
        let mut in_use = self.in_use.lock();
        if let Some(known) = in_use.get(resource) {
            return Some(Arc::clone(known));
        }
        let apart = transformer.counted_apart();
        let made = apart.unwrap_or_else(|| Arc::clone(transformer));
        if in_use.len() < COUNTED_MAX {
            in_use.insert(resource.clone(), Arc::clone(&made));
        }
        Some(made)
    }

    /// What the transformers have done, by resource.
    pub fn transformations(&self) -> Vec<(GroupResource, TransformCounts)> {
        let in_use = self.in_use.lock();
        let counts = in_use.iter().flat_map(|(resource, transformer)| {
            let counts = transformer.counts().into_iter();
            counts.map(move |it| (resource.clone(), it))
        });
        counts.collect()
    }

    /// How a resource is kept.
    pub fn options(&self, resource: &GroupResource, namespaced: bool) -> StorageOptions {
        let (group, plural) = (&resource.group, &resource.resource);
        let transformer = self.counted_transformer(resource);
        let encoding = self.encodings.get(resource).copied();
        StorageOptions {
            keys: KeyLayout::built_in(&self.key_root, group, plural, namespaced),
            cached: self.watch_cache.covers(resource),
            transformer: transformer.unwrap_or_else(|| Arc::new(Identity)),
            encoding: encoding.unwrap_or_else(|| upstream_form::encoding(resource)),
            version: upstream_form::version(resource),
            indexed_field: INDEXED
                .iter()
                .find(|(of_group, of_plural, _)| **group == **of_group && **plural == **of_plural)
                .map(|(.., field)| *field),
        }
    }

    /// The storage of a custom resource with objects of `kind`, in JSON. Whether it has a watch
    /// cache, and what is done to its values, goes by its group and plural.
    pub fn custom(&self, kind: &'static Kind, plural: &str, namespaced: bool) -> MadeStorage {
        let group = kind.facts().group;
        let resource = GroupResource::new(group, plural);
        let options = StorageOptions {
            keys: KeyLayout::custom(&self.key_root, group, plural, namespaced),
            encoding: StorageEncoding::Json,
            version: None,
            ..self.options(&resource, namespaced)
        };
        // It has no indexed field that a strategy would have to know.
        let strategy: Arc<dyn Strategy> = Arc::new(PlainStrategy::default());
        self.make(&resource, options, kind, &strategy)
    }

    /// The storage of a resource with objects of `kind`, without a watch cache.
    pub(crate) fn raw(
        &self,
        resource: &GroupResource,
        namespaced: bool,
        kind: &'static Kind,
    ) -> RawStorage {
        self.raw_with(resource, &self.options(resource, namespaced), kind)
    }

    fn raw_with(
        &self,
        resource: &GroupResource,
        options: &StorageOptions,
        kind: &'static Kind,
    ) -> RawStorage {
        let facts = kind.facts();
        let written_as = options
            .version
            .and_then(|version| find_kind(facts.group, version, facts.kind));
        let mut codec = StoredCodec::new(kind, options.keys.clone())
            .with_transformer(Arc::clone(&options.transformer))
            .with_encoding(options.encoding)
            .with_metrics(self.metrics_of(&resource.group, &resource.resource))
            .with_cache(Arc::clone(&self.made));
        if let Some(version) = written_as {
            codec = codec.written_as(version);
        }
        RawStorage::new(Arc::clone(&self.kv), codec)
    }

    /// The storage of a resource with objects of `kind`.
    pub fn storage(
        &self,
        resource: &GroupResource,
        namespaced: bool,
        kind: &'static Kind,
        strategy: &Arc<dyn Strategy>,
    ) -> MadeStorage {
        self.make(resource, self.options(resource, namespaced), kind, strategy)
    }

    fn make(
        &self,
        resource: &GroupResource,
        options: StorageOptions,
        kind: &'static Kind,
        strategy: &Arc<dyn Strategy>,
    ) -> MadeStorage {
        let raw = self.raw_with(resource, &options, kind);
        if !options.cached {
            return MadeStorage {
                storage: Arc::new(raw),
                cacher: None,
            };
        }
        let config = CacherConfig {
            indexed_field: options.indexed_field,
            ..self.watch_cache.config.clone()
        };
        let cacher = Cacher::new(raw, Arc::clone(strategy), config);
        MadeStorage {
            storage: Arc::new(cacher.clone()),
            cacher: Some(cacher),
        }
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
        let cache = WatchCache {
            enabled: true,
            sizes: "pods#0,nodes#7".parse().expect("valid"),
            ..WatchCache::default()
        };
        let covers = |plural| cache.covers(&GroupResource::new("", plural));
        assert_eq!(
            ["pods", "nodes", "services"].map(covers),
            [false, true, true]
        );
        assert!(!WatchCache::default().covers(&GroupResource::new("", "nodes")));
    }
}
