//! `StorageFactory`: decides the key layout, watch cache, transformer and encoding of each
//! resource.

use super::engines::Engines;
use super::{Storage, WatchCacheConfig, upstream_form};
use crate::metrics::ResourceMetrics;
use crate::storage::cacher::{Cacher, CacherConfig};
use crate::storage::index::{IndexConfig, ObjectIndex, indexed_fields};
use crate::storage::raw::RawStorage;
use crate::stored::cache::StoredCache;
use crate::stored::codec::{StorageEncoding, StoredCodec};
use crate::stored::key::{KeyLayout, NoPlace};
use crate::stored::scheme::StoredKind;
use crate::stored::transformer::{Identity, LiveEncryption, TransformCounts, Transformer};
use crate::strategy::{PlainStrategy, Strategy};
use hashbrown::HashMap;
use kubist_api::{Kind, find_kind};
use kubist_apimachinery::{GroupResource, Str};
use kubist_storage::Kv;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Weak};

/// The fields that watch caches index watchers by, as upstream: every kubelet watches the pods of
/// its node.
const INDEXED: [(&str, &str, &str); 1] = [("", "pods", "spec.nodeName")];

/// Stands for all groups, and for all resources, as upstream.
const EVERY: &str = "*";

/// The storage of a resource, as built by the factory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MadeStorage {
    /// The storage for the store.
    pub storage: Arc<dyn Storage>,
    /// The watch cache, if it has one; the caller must run it.
    pub cacher: Option<Cacher>,
}

/// Builds the storage of each resource over one engine.
#[derive(Debug)]
pub struct StorageFactory {
    engines: Engines,
    key_root: String,
    watch_cache: WatchCacheConfig,
    transformers: HashMap<GroupResource, Arc<dyn Transformer>>,
    encryption: Option<LiveEncryption>,
    /// The transformers in use, each with its own counts.
    in_use: Mutex<BTreeMap<GroupResource, Arc<dyn Transformer>>>,
    encodings: HashMap<GroupResource, StorageEncoding>,
    /// The cache of decoded objects, shared by all resources.
    made: Arc<StoredCache>,
    /// The indexes of the storages that still exist.
    indexes: Mutex<Vec<Weak<ObjectIndex>>>,
    /// The metrics, one set per resource, until the resource is removed.
    metrics: Mutex<CountedResources>,
}

/// The metrics of resources.
#[derive(Debug, Default)]
struct CountedResources {
    /// By group and plural.
    each: BTreeMap<(Str, Str), Arc<ResourceMetrics>>,
    /// Those beyond [`COUNTED_MAX`] together.
    others: Option<Arc<ResourceMetrics>>,
}

/// The maximum of resources with their own metrics; later ones are counted together as `other`.
const COUNTED_MAX: usize = 2_000;

/// The storage options of one resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StorageOptions {
    /// The key layout.
    pub keys: KeyLayout,
    /// Whether it has a watch cache.
    pub cached: bool,
    /// The transformer of its values.
    pub transformer: Arc<dyn Transformer>,
    /// The encoding of its objects.
    pub encoding: StorageEncoding,
    /// The version in which objects are written, if it differs from the storage version.
    pub version: Option<&'static str>,
    /// The versions in which objects of a custom resource may be stored. If empty, an object in
    /// any version is treated as one of the storage version.
    pub versions: Arc<[&'static Kind]>,
    /// The field that a watch cache indexes watchers by.
    pub indexed_field: Option<&'static str>,
    /// What lists by selectors are found by.
    pub index: IndexConfig,
}

impl StorageFactory {
    /// Creates a factory over `kv`, with keys below `key_root` and an object cache of about
    /// `cache_bytes_max` bytes.
    pub fn new(kv: Arc<dyn Kv>, key_root: impl Into<String>, cache_bytes_max: usize) -> Self {
        Self {
            engines: Engines::one(kv),
            key_root: key_root.into(),
            watch_cache: WatchCacheConfig::default(),
            transformers: HashMap::new(),
            encryption: None,
            in_use: Mutex::default(),
            encodings: HashMap::new(),
            made: Arc::new(StoredCache::new(cache_bytes_max)),
            indexes: Mutex::default(),
            metrics: Mutex::default(),
        }
    }

    /// Sets the watch caches.
    #[must_use]
    pub fn with_watch_cache(mut self, watch_cache: WatchCacheConfig) -> Self {
        self.watch_cache = watch_cache;
        self
    }

    /// Sets engines of their own for built-in resources. The last one of a resource counts.
    #[must_use]
    pub fn with_engines(mut self, apart: Vec<(GroupResource, Arc<dyn Kv>)>) -> Self {
        self.engines = self.engines.with(&self.key_root, apart);
        self
    }

    /// Returns the engines.
    pub(crate) fn engines(&self) -> &Engines {
        &self.engines
    }

    /// Sets the transformer of one resource, of all resources of a group without their own (the
    /// resource `*`), or of all (group and resource `*`). Default: [`Identity`].
    #[must_use]
    pub fn with_transformer(
        mut self,
        resource: GroupResource,
        transformer: Arc<dyn Transformer>,
    ) -> Self {
        self.transformers.insert(resource, transformer);
        self
    }

    /// Sets a reloadable encryption configuration, which covers the values of all resources.
    #[must_use]
    pub fn with_encryption(mut self, encryption: LiveEncryption) -> Self {
        self.encryption = Some(encryption);
        self
    }

    /// Sets the encoding of one resource. Default: upstream's, which is protobuf, except JSON for
    /// CustomResourceDefinitions and APIServices.
    #[must_use]
    pub fn with_encoding(mut self, resource: GroupResource, encoding: StorageEncoding) -> Self {
        self.encodings.insert(resource, encoding);
        self
    }

    /// Drops cached objects and indexes that were not used recently, and what was counted for
    /// resources that no longer exist.
    pub(crate) fn forget_unused(&self) {
        self.made.forget_unused();
        let indexes: Vec<_> = {
            let mut indexes = self.indexes.lock();
            indexes.retain(|it| it.strong_count() > 0);
            indexes.iter().filter_map(Weak::upgrade).collect()
        };
        for index in indexes {
            index.forget_unused();
        }
        let mut metrics = self.metrics.lock();
        metrics.each.retain(|_, it| Arc::strong_count(it) > 1);
        let mut in_use = self.in_use.lock();
        in_use.retain(|_, it| Arc::strong_count(it) > 1);
    }

    /// Returns the metrics of each resource with storage.
    pub fn metrics(&self) -> Vec<Arc<ResourceMetrics>> {
        let metrics = self.metrics.lock();
        let all = metrics.each.values().chain(&metrics.others);
        all.map(Arc::clone).collect()
    }

    fn metrics_of(&self, group: &str, plural: &str) -> Arc<ResourceMetrics> {
        let mut metrics = self.metrics.lock();
        let metrics = &mut *metrics;
        let is_full = metrics.each.len() >= COUNTED_MAX;
        match metrics.each.entry((group.into(), plural.into())) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(_) if is_full => {
                let new = || Arc::new(ResourceMetrics::new("", "other"));
                Arc::clone(metrics.others.get_or_insert_with(new))
            }
            Entry::Vacant(new) => {
                let made = Arc::new(ResourceMetrics::new(group, plural));
                Arc::clone(new.insert(made))
            }
        }
    }

    /// Returns the setting of a resource, else of its group, else of all.
    fn transformer(&self, resource: &GroupResource) -> Option<&Arc<dyn Transformer>> {
        let of = |group: &str, plural: &str| {
            let resource = GroupResource::new(group, plural);
            self.transformers.get(&resource)
        };
        let of_group = || of(&resource.group, EVERY);
        let found = self.transformers.get(resource).or_else(of_group);
        found.or_else(|| of(EVERY, EVERY))
    }

    /// Returns the transformer of a resource, with its own counts.
    fn counted_transformer(&self, resource: &GroupResource) -> Option<Arc<dyn Transformer>> {
        let live = self.encryption.as_ref();
        let live = live.map(|live| live.of(resource.clone()));
        let transformer = live.as_ref().or_else(|| self.transformer(resource))?;
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

    /// Returns the counts of the transformers, by resource.
    pub fn transformations(&self) -> Vec<(GroupResource, TransformCounts)> {
        let in_use = self.in_use.lock();
        let counts = in_use.iter().flat_map(|(resource, transformer)| {
            let counts = transformer.counts().into_iter();
            counts.map(move |it| (resource.clone(), it))
        });
        counts.collect()
    }

    /// Returns the storage options of a resource.
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
            versions: Arc::default(),
            indexed_field: INDEXED
                .iter()
                .find(|(of_group, of_plural, _)| **group == **of_group && **plural == **of_plural)
                .map(|(.., field)| *field),
            index: IndexConfig::default().fields(indexed_fields(group, plural)),
        }
    }

    /// Builds the storage of a custom resource with objects of `kind`, in JSON. Its group and
    /// plural determine its watch cache and transformer. `versions`: the versions in which objects
    /// may be stored; each object is returned in its own.
    ///
    /// # Errors
    /// Its keys could overlap with those of another resource.
    pub fn custom(
        &self,
        kind: StoredKind,
        plural: &str,
        namespaced: bool,
        versions: Arc<[&'static Kind]>,
    ) -> Result<MadeStorage, NoPlace> {
        let resource = GroupResource::new(kind.kind.facts().group, plural);
        let options = StorageOptions {
            versions,
            ..self.custom_options(&resource, namespaced)?
        };
        // A custom resource has no indexed field that needs a strategy.
        let strategy: Arc<dyn Strategy> = Arc::new(PlainStrategy::default());
        Ok(self.make(&resource, options, kind, &strategy))
    }

    /// As `custom`, without a watch cache.
    pub(crate) fn custom_raw(
        &self,
        kind: StoredKind,
        plural: &str,
        namespaced: bool,
    ) -> Result<RawStorage, NoPlace> {
        let resource = GroupResource::new(kind.kind.facts().group, plural);
        let options = self.custom_options(&resource, namespaced)?;
        Ok(self.raw_with(&resource, &options, kind))
    }

    fn custom_options(
        &self,
        resource: &GroupResource,
        namespaced: bool,
    ) -> Result<StorageOptions, NoPlace> {
        let (group, plural) = (&resource.group, &resource.resource);
        Ok(StorageOptions {
            keys: KeyLayout::custom(&self.key_root, group, plural, namespaced)?,
            encoding: StorageEncoding::Json,
            version: None,
            ..self.options(resource, namespaced)
        })
    }

    /// Returns the key layout of a custom resource.
    ///
    /// # Errors
    /// As [`custom`](Self::custom).
    pub(crate) fn custom_keys(&self, group: &str, plural: &str) -> Result<KeyLayout, NoPlace> {
        KeyLayout::custom(&self.key_root, group, plural, false)
    }

    /// Builds the storage of a resource with objects of `kind`, without a watch cache.
    pub(crate) fn raw(
        &self,
        resource: &GroupResource,
        namespaced: bool,
        kind: StoredKind,
    ) -> RawStorage {
        self.raw_with(resource, &self.options(resource, namespaced), kind)
    }

    fn raw_with(
        &self,
        resource: &GroupResource,
        options: &StorageOptions,
        kind: StoredKind,
    ) -> RawStorage {
        let facts = kind.kind.facts();
        let written_as = options
            .version
            .and_then(|version| find_kind(facts.group, version, facts.kind));
        let mut codec = StoredCodec::new(kind, options.keys.clone())
            .with_transformer(Arc::clone(&options.transformer))
            .with_encoding(options.encoding)
            .with_metrics(self.metrics_of(&resource.group, &resource.resource))
            .with_versions(Arc::clone(&options.versions))
            .with_cache(Arc::clone(&self.made));
        if let Some(version) = written_as {
            codec = codec.written_as(version);
        }
        RawStorage::new(self.engines.of(resource), codec).with_index(options.index)
    }

    /// Builds the storage of a resource with objects of `kind`.
    pub fn storage(
        &self,
        resource: &GroupResource,
        namespaced: bool,
        kind: StoredKind,
        strategy: &Arc<dyn Strategy>,
    ) -> MadeStorage {
        let options = self.options(resource, namespaced);
        self.make(resource, options, kind, strategy)
    }

    fn make(
        &self,
        resource: &GroupResource,
        options: StorageOptions,
        kind: StoredKind,
        strategy: &Arc<dyn Strategy>,
    ) -> MadeStorage {
        let raw = self.raw_with(resource, &options, kind);
        if !options.cached {
            self.indexes.lock().push(Arc::downgrade(&raw.index));
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
        self.indexes.lock().push(Arc::downgrade(cacher.index()));
        MadeStorage {
            storage: Arc::new(cacher.clone()),
            cacher: Some(cacher),
        }
    }
}
