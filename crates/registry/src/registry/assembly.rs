//! Builds the components of a registry from its configuration.

use crate::finishing::Finishing;
use crate::registry::config::RegistryConfig;
use crate::registry::{served, storage_version};
use crate::storage::cacher::Cacher;
use crate::storage::{DryRunnable, StorageFactory};
use crate::store::Store;
use crate::store::engine::Engine;
use crate::store::field_managers::FieldManagers;
use crate::store::hooks::Hooks;
use crate::store::kinds::RegistryParts;
use crate::store::random::Random;
use crate::store::stores::Stores;
use crate::stored::scheme::StoredKind;
use hashbrown::HashMap;
use kubist_api::ResourceFacts;
use kubist_apimachinery::GroupResource;
use std::sync::{Arc, OnceLock};

/// Creates the shared state of a registry, without any store yet.
pub(super) fn empty_stores(config: &RegistryConfig) -> Stores {
    let now = config.clock.now().as_nanos();
    // Only the low bits differ.
    let low = u64::try_from(now & u128::from(u64::MAX)).expect("64 bits");
    let seed = config.seed.unwrap_or(low);
    let random = Arc::new(Random::new(seed));
    let engine = Engine {
        factory: storage_factory(config),
    };
    let cluster = config.kinds.cluster(&RegistryParts {
        factory: &engine.factory,
        scheme: config.kinds.scheme(),
        random: &random,
        clock: &config.clock,
    });
    Stores {
        by_name: HashMap::new(),
        engine,
        kinds: Arc::clone(&config.kinds),
        cluster,
        random,
        delete_collection_workers: config.delete_collection_workers.max(1),
        clock: Arc::clone(&config.clock),
        finishing: Finishing::default(),
        admission: config.admission.clone(),
        find_served: OnceLock::new(),
        known: OnceLock::new(),
    }
}

/// Returns the hooks of a resource: the server's own before those of the configuration.
pub(super) fn hooks(
    stores: &Stores,
    config: &RegistryConfig,
    group: &str,
    plural: &str,
) -> Vec<Arc<dyn Hooks>> {
    let mut hooks: Vec<Arc<dyn Hooks>> = Vec::new();
    let own = stores.cluster.as_ref();
    hooks.extend(own.and_then(|it| it.hooks(group, plural)));
    let named = config.hooks.iter();
    let named = named.filter(|it| (it.0.as_str(), it.1.as_str()) == (group, plural));
    hooks.extend(named.map(|(_, _, hooks)| Arc::clone(hooks)));
    hooks
}

/// Creates the store of a resource, and registers its watch cache.
pub(super) fn new_store(
    stores: &Stores,
    cachers: &mut Vec<(GroupResource, Cacher)>,
    group: &'static str,
    facts: &'static ResourceFacts,
) -> Option<Store> {
    let kind = StoredKind {
        kind: storage_version(group, facts)?,
        scheme: stores.kinds.scheme(),
    };
    let (plural, namespaced) = (facts.plural, facts.namespaced);
    let resource = GroupResource::new(group, plural);
    let strategy = stores.kinds.strategy(group, plural);
    let factory = &stores.engine.factory;
    let made = factory.storage(&resource, namespaced, kind, &strategy);
    cachers.extend(made.cacher.map(|cacher| (resource, cacher)));
    Some(Store {
        group,
        plural,
        namespaced,
        storage: DryRunnable(made.storage),
        strategy,
        has_status: facts.subresources.iter().any(|it| it.name == "status"),
        hooks: Vec::new(),
        finishing: Finishing::default(),
        field_managers: FieldManagers::built_in(),
        definition: None,
        served_as: Arc::default(),
        ends: None,
    })
}

/// Returns the served resources whose objects are in a store.
pub(super) fn served_as(
    config: &RegistryConfig,
    group: &str,
    plural: &str,
) -> Arc<[&'static ResourceFacts]> {
    let served = served(&config.runtime_config);
    let same = |it: &&'static ResourceFacts| {
        it.plural == plural && config.kinds.storage_group(it) == group
    };
    served.filter(same).collect()
}

fn storage_factory(config: &RegistryConfig) -> StorageFactory {
    let (kv, root) = (Arc::clone(&config.kv), config.key_root.as_str());
    let factory = StorageFactory::new(kv, root, config.cache_bytes_max)
        .with_watch_cache(config.watch_cache.clone())
        .with_engines(config.engines.clone());
    let factory = match &config.encryption {
        Some(live) => factory.with_encryption(live.clone()),
        None => factory,
    };
    let transformers = config.transformers.iter().cloned();
    transformers.fold(factory, |factory, (resource, transformer)| {
        factory.with_transformer(resource, transformer)
    })
}
