//! `RegistryConfig`: how a registry is set up.

use crate::registry::runtime_config::RuntimeConfig;
use crate::rest::capability::RestStorage;
use crate::storage::WatchCache;
use crate::store::clock::{SystemClock, WallClock};
use crate::store::hooks::Hooks;
use crate::store::kinds::Kinds;
use crate::stored::transformer::{LiveEncryption, Transformer};
use kubist_apimachinery::GroupResource;
use kubist_storage::Kv;
use std::sync::Arc;

/// How a registry is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegistryConfig {
    /// Where everything is stored.
    pub kv: Arc<dyn Kv>,
    /// The kinds that are served, such as those of `kubist-kinds`.
    pub kinds: Arc<dyn Kinds>,
    /// Where timestamps come from. Default: the machine's clock.
    pub clock: Arc<dyn WallClock>,
    /// What uids and generated names come from. Two servers on one store need two seeds.
    /// Default: the clock's time when the registry is made.
    pub seed: Option<u64>,
    /// The folder of all keys. Default: `/registry`, as upstream.
    pub key_root: String,
    /// Estimated bytes of decoded and encoded objects that are remembered. Default: 512 MiB.
    pub cache_bytes_max: usize,
    /// Which resources have a watch cache. Default: none.
    pub watch_cache: WatchCache,
    /// What is done to the values of a resource on their way to storage and back, such as
    /// encryption. Default: nothing.
    pub transformers: Vec<(GroupResource, Arc<dyn Transformer>)>,
    /// The same by a configuration that can be replaced; then `transformers` counts for nothing.
    /// Default: none.
    pub encryption: Option<LiveEncryption>,
    /// Which versions of built-in groups are served. Default: the stable ones, as upstream.
    pub runtime_config: RuntimeConfig,
    /// How many objects of a collection are deleted at a time. Default: 1, as upstream.
    pub delete_collection_workers: usize,
    /// What happens beside the writes of resources: group, plural, and hooks. Default: none but
    /// those that the kinds bring, such as the allocation of addresses to services.
    pub hooks: Vec<(String, String, Arc<dyn Hooks>)>,
    /// Resources that are served beside those that are stored; they come before others of the
    /// same name. Default: none.
    pub resources: Vec<Arc<dyn RestStorage>>,
}

impl RegistryConfig {
    /// The defaults, over `kv`, for `kinds`.
    pub fn new(kv: Arc<dyn Kv>, kinds: Arc<dyn Kinds>) -> Self {
        Self {
            kv,
            kinds,
            clock: Arc::new(SystemClock),
            seed: None,
            key_root: "/registry".to_owned(),
            cache_bytes_max: 512 << 20,
            watch_cache: WatchCache::default(),
            transformers: Vec::new(),
            encryption: None,
            runtime_config: RuntimeConfig::default(),
            delete_collection_workers: 1,
            hooks: Vec::new(),
            resources: Vec::new(),
        }
    }
}
