//! `Engine`: what stores are made over, and how what they store is encoded and encrypted.

use crate::RawStorage;
use crate::registry_config::RegistryConfig;
use crate::storage::{MadeStorage, StorageFactory};
use crate::storage_key::NoPlace;
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::GroupResource;
use kubist_storage::Kv;
use std::sync::Arc;

/// What stores are made over.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(super) kv: Arc<dyn Kv>,
    pub(super) factory: StorageFactory,
}

impl Engine {
    /// The engine of the configuration.
    pub(super) fn of(config: &RegistryConfig) -> Self {
        Self {
            kv: Arc::clone(&config.kv),
            factory: storage_factory(config),
        }
    }

    /// Where servers say that they are there.
    pub(crate) fn leases(&self, resource: &GroupResource, kind: &'static Kind) -> RawStorage {
        self.factory.raw(resource, false, kind)
    }

    /// The objects of a custom resource.
    pub(crate) fn custom(
        &self,
        kind: &'static Kind,
        facts: &ResourceFacts,
        renames_versions: bool,
    ) -> Result<MadeStorage, NoPlace> {
        let (plural, namespaced) = (facts.plural, facts.namespaced);
        self.factory
            .custom(kind, plural, namespaced, renames_versions)
    }
}

fn storage_factory(config: &RegistryConfig) -> StorageFactory {
    let (kv, root) = (Arc::clone(&config.kv), config.key_root.as_str());
    let factory = StorageFactory::new(kv, root, config.cache_bytes_max)
        .with_watch_cache(config.watch_cache.clone());
    let factory = match &config.encryption {
        Some(live) => factory.with_encryption(live.clone()),
        None => factory,
    };
    let transformers = config.transformers.iter().cloned();
    transformers.fold(factory, |factory, (resource, transformer)| {
        factory.with_transformer(resource, transformer)
    })
}
