//! `Engine`: what stores are built over: storage, encoding and encryption.

use crate::storage::error::StorageError;
use crate::storage::raw::RawStorage;
use crate::storage::{MadeStorage, StorageFactory};
use crate::stored::key::NoPlace;
use crate::stored::scheme::StoredKind;
use kubist_api::{Kind, ResourceFacts};
use kubist_storage::RangeRequest;
use std::sync::Arc;

/// What stores are built over.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) factory: StorageFactory,
}

impl Engine {
    /// Creates the store of a custom resource.
    pub(crate) fn custom(
        &self,
        kind: &'static Kind,
        facts: &ResourceFacts,
        versions: Arc<[&'static Kind]>,
    ) -> Result<MadeStorage, NoPlace> {
        let (plural, namespaced) = (facts.plural, facts.namespaced);
        self.factory
            .custom(StoredKind::plain(kind), plural, namespaced, versions)
    }
}

impl Engine {
    /// Creates the raw storage of a custom resource that is not served.
    pub(crate) fn custom_raw(
        &self,
        kind: &'static Kind,
        facts: &ResourceFacts,
    ) -> Result<RawStorage, NoPlace> {
        self.factory
            .custom_raw(StoredKind::plain(kind), facts.plural, facts.namespaced)
    }

    /// Reports whether any object of a custom resource is stored. `false` if its name cannot be a
    /// storage key.
    pub(crate) async fn has_custom_objects(
        &self,
        group: &str,
        plural: &str,
    ) -> Result<bool, StorageError> {
        let Ok(keys) = self.factory.custom_keys(group, plural) else {
            return Ok(false);
        };
        let found = self
            .factory
            .engines()
            .main()
            .range(RangeRequest::new(keys.range("")).limit(1));
        Ok(!found.await?.kvs.is_empty())
    }
}
