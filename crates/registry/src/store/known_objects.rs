//! `KnownObjects`: stored objects as admission reads them.
//!
//! With a watch cache they come from it, at least as new as the last write through this server, so
//! that a request costs storage nothing for a quota or a limit that is not there. What another
//! server has just written may be seen a moment later, as upstream. Without one, or while it is far
//! behind, reads are consistent.

use crate::storage::error::Operation;
use crate::storage::predicate::Predicate;
use crate::storage::{ListRequest, Scope};
use crate::store::Store;
use crate::stored::{Stored, version_text};
use crate::strategy::BoxFuture;
use crate::strategy::admission::Lookup;
use hashbrown::HashMap;
use kubist_apimachinery::{AnyObject, ListOptions, Status};
use std::fmt;
use std::sync::Arc;

/// All stores, by storage group and plural.
type ByName = HashMap<(&'static str, &'static str), Arc<Store>>;

/// Stored objects as admission reads them.
pub(crate) struct KnownObjects {
    by_name: ByName,
}

impl KnownObjects {
    pub(crate) fn new(by_name: ByName) -> Self {
        Self { by_name }
    }
}

impl Lookup for KnownObjects {
    fn get<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn AnyObject>>, Status>> {
        Box::pin(async move {
            let Some(store) = self.by_name.get(&(group, plural)) else {
                return Ok(None);
            };
            let written = store.storage.written();
            let stored = match one_at(store, namespace, name, written).await {
                // The cache is far behind.
                Err(_) if written.is_some() => one_at(store, namespace, name, None).await?,
                read => read?,
            };
            stored.map(|it| it.object().map(Arc::clone)).transpose()
        })
    }

    fn list<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn AnyObject>>, Status>> {
        Box::pin(async move {
            let Some(store) = self.by_name.get(&(group, plural)) else {
                return Ok(Vec::new());
            };
            let written = store.storage.written();
            let all = match all_at(store, namespace, written).await {
                Err(_) if written.is_some() => all_at(store, namespace, None).await?,
                read => read?,
            };
            Ok(readable(&all))
        })
    }
}

impl fmt::Debug for KnownObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownObjects")
            .field("stores", &self.by_name.len())
            .finish()
    }
}

/// Returns the objects that can be decoded: one that cannot does not hide the others.
pub(crate) fn readable(all: &[Stored]) -> Vec<Arc<dyn AnyObject>> {
    let readable = all.iter().filter_map(|stored| stored.object().ok());
    readable.map(Arc::clone).collect()
}

/// Reads one object of a store in a state as [`Storage::get`](crate::Storage::get) has it; `None`
/// if it does not exist.
pub(crate) async fn one_at(
    store: &Store,
    namespace: &str,
    name: &str,
    not_older_than: Option<u64>,
) -> Result<Option<Stored>, Status> {
    let Ok(key) = store.storage.keys().key(namespace, name) else {
        return Ok(None);
    };
    let found = store.storage.get(&key, not_older_than).await;
    found.map_err(|error| error.to_status(Operation::Get, &store.resource(), name))
}

/// Lists the objects of a store, in one namespace or in all, in such a state.
pub(crate) async fn all_at(
    store: &Store,
    namespace: &str,
    not_older_than: Option<u64>,
) -> Result<Vec<Stored>, Status> {
    let resource_version = match not_older_than {
        None => Default::default(),
        Some(0) => "0".into(),
        Some(revision) => version_text(revision).into(),
    };
    let options = ListOptions {
        resource_version,
        ..ListOptions::default()
    };
    let request = ListRequest {
        resource: &store.resource(),
        scope: Scope {
            namespace,
            name: None,
        },
        predicate: &Predicate::everything(Arc::clone(&store.strategy)),
        options: &options,
    };
    Ok(store.storage.list(request).await?.items)
}
