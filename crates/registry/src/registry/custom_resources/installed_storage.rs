//! `InstalledStorage`: the storage of a definition's objects, with its watch cache.

use crate::custom::content::ServedContent;
use crate::custom::shape::Shape;
use crate::registry::RunningCache;
use crate::storage::DryRunnable;
use crate::store::DefinedBy;
use crate::store::stores::Stores;
use crate::stored::key::NoPlace;
use kubist_api::Kind;
use std::sync::Arc;

/// The storage of a definition's objects. It is kept, together with its watch cache, as long as the
/// storage version does not change.
#[derive(Clone, Debug)]
pub(super) struct InstalledStorage {
    pub(super) definition: DefinedBy,
    pub(super) inner: DryRunnable,
    pub(super) namespaced: bool,
    /// The versions in which objects may be stored.
    pub(super) versions: Arc<[&'static Kind]>,
    pub(super) cache: Option<Arc<RunningCache>>,
}

impl InstalledStorage {
    /// Creates the storage of objects of this shape, and fills its watch cache.
    pub(super) async fn make(
        stores: &Stores,
        shape: &Shape,
        definition: DefinedBy,
        versions: Arc<[&'static Kind]>,
    ) -> Result<Self, NoPlace> {
        let made = stores
            .engine
            .custom(shape.kind, shape.facts, Arc::clone(&versions))?;
        let cache = match made.cacher {
            Some(cacher) => Some(Arc::new(RunningCache::start(cacher).await)),
            None => None,
        };
        Ok(Self {
            definition,
            inner: DryRunnable(made.storage),
            namespaced: shape.facts.namespaced,
            versions,
            cache,
        })
    }

    /// Reports whether it is the storage of this content.
    pub(super) fn matches(&self, content: &ServedContent) -> bool {
        let ServedContent {
            stored: shape,
            by: definition,
            ..
        } = content;
        std::ptr::eq(self.inner.kind().kind, shape.kind)
            && same_kinds(&self.versions, content.conversion.versions())
            && self.namespaced == shape.facts.namespaced
            && self.definition == *definition
    }
}

/// Reports whether two sets of versions are equal. Kinds are unique, so they are compared by
/// address.
fn same_kinds(ours: &[&'static Kind], others: impl Iterator<Item = &'static Kind>) -> bool {
    let address = |kind: &'static Kind| std::ptr::from_ref(kind).addr();
    ours.iter().map(|it| address(it)).eq(others.map(address))
}
