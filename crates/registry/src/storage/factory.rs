//! Decides for each resource how it is kept: key prefix, watch cache, transformer, encoding.

use super::{Storage, WatchCache, upstream_form};
use crate::metrics::ResourceMetrics;
use crate::storage::cacher::{Cacher, CacherConfig};
use crate::storage::raw::RawStorage;
use crate::stored::cache::StoredCache;
use crate::stored::codec::{StorageEncoding, StoredCodec};
use crate::stored::key::{KeyLayout, NoPlace};
use crate::stored::scheme::StoredKind;
use crate::stored::transformer::{Identity, LiveEncryption, TransformCounts, Transformer};
use crate::strategy::{PlainStrategy, Strategy};
use hashbrown::HashMap;
use kubist_api::find_kind;
use kubist_apimachinery::GroupResource;
use kubist_storage::Kv;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    encryption: Option<LiveEncryption>,
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
    /// Whether a custom resource's versions differ in their name only.
    pub renames_versions: bool,
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
            encryption: None,
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

    /// The same with a configuration that can be replaced, which says of all resources what is
    /// done to their values.
    #[must_use]
    pub fn with_encryption(mut self, encryption: LiveEncryption) -> Self {
        self.encryption = Some(encryption);
        self
    }

    /// The same with an encoding for one resource. Default: upstream's, which is protobuf but for
    /// definitions of custom resources and APIServices.
    #[must_use]
    pub fn with_encoding(mut self, resource: GroupResource, encoding: StorageEncoding) -> Self {
        self.encodings.insert(resource, encoding);
        self
    }

    /// Forgets what was made of stored values and was not asked for lately.
    pub(crate) fn forget_unused(&self) {
        self.made.forget_unused();
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
            renames_versions: true,
            indexed_field: INDEXED
                .iter()
                .find(|(of_group, of_plural, _)| **group == **of_group && **plural == **of_plural)
                .map(|(.., field)| *field),
        }
    }

    /// The storage of a custom resource with objects of `kind`, in JSON. Whether it has a watch
    /// cache, and what is done to its values, goes by its group and plural. `renames_versions`:
    /// whether an object that is stored in another version is one of `kind` under another name;
    /// else it cannot be read.
    ///
    /// # Errors
    /// Its keys could be those of something else.
    pub fn custom(
        &self,
        kind: impl Into<StoredKind>,
        plural: &str,
        namespaced: bool,
        renames_versions: bool,
    ) -> Result<MadeStorage, NoPlace> {
        let kind = kind.into();
        let resource = GroupResource::new(kind.kind.facts().group, plural);
        let options = StorageOptions {
            renames_versions,
            ..self.custom_options(&resource, namespaced)?
        };
        // It has no indexed field that a strategy would have to know.
        let strategy: Arc<dyn Strategy> = Arc::new(PlainStrategy::default());
        Ok(self.make(&resource, options, kind, &strategy))
    }

    /// The same without a watch cache.
    pub(crate) fn custom_raw(
        &self,
        kind: impl Into<StoredKind>,
        plural: &str,
        namespaced: bool,
    ) -> Result<RawStorage, NoPlace> {
        let kind = kind.into();
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

    /// Where the objects of a custom resource are.
    ///
    /// # Errors
    /// As [`custom`](Self::custom).
    pub(crate) fn custom_keys(&self, group: &str, plural: &str) -> Result<KeyLayout, NoPlace> {
        KeyLayout::custom(&self.key_root, group, plural, false)
    }

    /// The storage of a resource with objects of `kind`, without a watch cache.
    pub(crate) fn raw(
        &self,
        resource: &GroupResource,
        namespaced: bool,
        kind: impl Into<StoredKind>,
    ) -> RawStorage {
        self.raw_with(resource, &self.options(resource, namespaced), kind.into())
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
            .with_metrics(self.metrics_of(&resource.group, &resource.resource));
        codec = if options.renames_versions {
            codec.with_cache(Arc::clone(&self.made))
        } else {
            // What others remember of the same values may have been renamed.
            codec.without_other_versions()
        };
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
        kind: impl Into<StoredKind>,
        strategy: &Arc<dyn Strategy>,
    ) -> MadeStorage {
        let options = self.options(resource, namespaced);
        self.make(resource, options, kind.into(), strategy)
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
