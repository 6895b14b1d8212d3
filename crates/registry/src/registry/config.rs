//! `RegistryConfig`: the configuration of a registry.

use crate::registry::runtime_config::RuntimeConfig;
use crate::rest::capability::RestStorage;
use crate::storage::WatchCacheConfig;
use crate::store::admission::AdmissionChain;
use crate::store::clock::{SystemClock, WallClock};
use crate::store::hooks::Hooks;
use crate::store::kinds::Kinds;
use crate::stored::transformer::{LiveEncryption, Transformer};
use crate::webhook::WebhookCaller;
use kubist_apimachinery::GroupResource;
use kubist_storage::Kv;
use std::sync::Arc;

/// The configuration of a registry.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegistryConfig {
    /// The storage engine.
    pub kv: Arc<dyn Kv>,
    /// Engines of their own for built-in resources, as upstream's `--etcd-servers-overrides`; the
    /// last one of a resource counts. An engine that several share should be one handle. Each has
    /// revisions of its own, and a create whose namespace is in another engine is taken back if
    /// the namespace has changed meanwhile. Default: none.
    pub engines: Vec<(GroupResource, Arc<dyn Kv>)>,
    /// The served kinds, such as those of `kubist-kinds`.
    pub kinds: Arc<dyn Kinds>,
    /// The source of timestamps. Default: the machine's clock.
    pub clock: Arc<dyn WallClock>,
    /// The seed of uids and generated names. Two servers on one store need two seeds. Default: the
    /// clock's time when the registry is created.
    pub seed: Option<u64>,
    /// The prefix of all keys. Default: `/registry`, as upstream.
    pub key_root: String,
    /// The estimated size in bytes of the cache of decoded and encoded objects. Default: 512 MiB.
    pub cache_bytes_max: usize,
    /// Which resources have a watch cache. Default: none.
    pub watch_cache: WatchCacheConfig,
    /// The transformers of stored values, such as encryption, by resource. Default: none.
    pub transformers: Vec<(GroupResource, Arc<dyn Transformer>)>,
    /// Reloadable encryption, which replaces `transformers`. Default: none.
    pub encryption: Option<LiveEncryption>,
    /// The served versions of built-in groups. Default: the stable ones, as upstream.
    pub runtime_config: RuntimeConfig,
    /// The concurrent deletes of a collection delete. Default: 1, as upstream.
    pub delete_collection_workers: usize,
    /// The hooks of resources: group, plural, and hooks. Default: only those of the kinds, such as
    /// the allocation of service addresses.
    pub hooks: Vec<(String, String, Arc<dyn Hooks>)>,
    /// Changes and judges requests. Default: nothing does.
    pub admission: AdmissionChain,
    /// Calls webhooks. Default: none; an operation that needs a webhook fails.
    pub webhooks: Option<Arc<dyn WebhookCaller>>,
    /// Further served resources; they take precedence over others of the same name. Default: none.
    pub resources: Vec<Arc<dyn RestStorage>>,
}

impl RegistryConfig {
    /// Returns the defaults, over `kv`, for `kinds`.
    pub fn new(kv: Arc<dyn Kv>, kinds: Arc<dyn Kinds>) -> Self {
        Self {
            kv,
            engines: Vec::new(),
            kinds,
            clock: Arc::new(SystemClock),
            seed: None,
            key_root: "/registry".to_owned(),
            cache_bytes_max: 512 << 20,
            watch_cache: WatchCacheConfig::default(),
            transformers: Vec::new(),
            encryption: None,
            runtime_config: RuntimeConfig::default(),
            delete_collection_workers: 1,
            hooks: Vec::new(),
            admission: AdmissionChain::default(),
            webhooks: None,
            resources: Vec::new(),
        }
    }
}
