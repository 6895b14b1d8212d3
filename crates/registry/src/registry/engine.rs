//! `Engine`: what stores are made over, and how what they store is encoded and encrypted.

use crate::registry::config::RegistryConfig;
use crate::storage::key::NoPlace;
use crate::storage::{MadeStorage, StorageFactory};
use crate::{RawStorage, StorageError};
use kubist_api::{Kind, ResourceFacts};
use kubist_storage::{Kv, RangeRequest};
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

impl Engine {
    /// The objects of a custom resource that is not served.
    pub(crate) fn custom_raw(
        &self,
        kind: &'static Kind,
        facts: &ResourceFacts,
    ) -> Result<RawStorage, NoPlace> {
        self.factory
            .custom_raw(kind, facts.plural, facts.namespaced)
    }

    /// Whether anything is stored where the objects of a custom resource are. Nothing is where it
    /// can have no place.
    pub(crate) async fn holds_custom(
        &self,
        group: &str,
        plural: &str,
    ) -> Result<bool, StorageError> {
        let Ok(keys) = self.factory.custom_keys(group, plural) else {
            return Ok(false);
        };
        let found = self.kv.range(RangeRequest::new(keys.range("")).limit(1));
        Ok(!found.await?.kvs.is_empty())
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
