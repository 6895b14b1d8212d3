//! `VersionedStorage`: the objects of a definition, as seen in one of its versions.
//!
//! Lies over the storage that all versions share, which keeps every object in the version it was
//! stored in. Reads convert to the version of the view; writes convert from it to the storage
//! version. A write is computed in the version of the view, as upstream: validation and field
//! ownership are those of the version that the client uses.
//!

use crate::custom::conversion::Conversion;
use crate::custom::version_view::View;
use crate::storage::convert::ConvertStored;
use crate::storage::error::StorageError;
use crate::storage::predicate::Predicate;
use crate::storage::watch::EventStream;
use crate::storage::{
    Allowed, Change, Changed, DeleteRequest, ListRequest, Listed, Outcome, PutOptions, Storage,
    StorageState, StorageStats, StorageWatchRequest, UpdateRequest,
};
use crate::stored::Stored;
use crate::stored::key::KeyLayout;
use crate::stored::scheme::StoredKind;
use crate::strategy::BoxFuture;
use kubist_api::Kind;
use kubist_apimachinery::{AnyObject, Status};
use std::sync::Arc;

/// The objects of a definition in one version.
#[derive(Debug)]
pub(crate) struct VersionedStorage {
    inner: Arc<dyn Storage>,
    view: Arc<View>,
}

impl VersionedStorage {
    /// Creates a view of `inner` in the version `kind`.
    pub(crate) fn new(
        inner: Arc<dyn Storage>,
        kind: &'static Kind,
        conversion: Arc<Conversion>,
    ) -> Self {
        let view = View::new(conversion, kind, inner.kind().kind);
        Self {
            inner,
            view: Arc::new(view),
        }
    }

    /// Returns the predicate under which the storage below selects objects.
    fn predicate(&self, predicate: &Predicate) -> Predicate {
        let view: Arc<dyn ConvertStored> = Arc::clone(&self.view) as _;
        predicate.clone().after(view)
    }

    async fn list_objects(&self, request: ListRequest<'_>) -> Result<Listed, Status> {
        if self.view.changes_objects() {
            let predicate = self.predicate(request.predicate);
            let request = ListRequest {
                predicate: &predicate,
                ..request
            };
            return self.inner.list(request).await;
        }
        let mut listed = self.inner.list(request).await?;
        for stored in &mut listed.items {
            if !self.view.is_ready(stored) {
                *stored = stored.in_version(self.view.kind().kind)?;
            }
        }
        Ok(listed)
    }

    async fn create_object(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
    ) -> Result<Stored, StorageError> {
        let object = self.view.to_stored(object).await?;
        let created = self.inner.create(key, object, request).await?;
        Ok(self.view.one(&created).await?)
    }

    async fn get_object(
        &self,
        key: &str,
        not_older_than: Option<u64>,
    ) -> Result<Option<Stored>, StorageError> {
        match self.inner.get(key, not_older_than).await? {
            Some(stored) => Ok(Some(self.view.one(&stored).await?)),
            None => Ok(None),
        }
    }

    async fn update_object(
        &self,
        key: String,
        request: UpdateRequest<'_>,
        change: &mut dyn Change,
    ) -> Result<Outcome, StorageError> {
        let view = &*self.view;
        let mut converted = ConvertedChange {
            view,
            change,
            current: None,
            last: None,
        };
        let mut outcome = self.inner.update(key, request, &mut converted).await?;
        let (current, last) = (converted.current, converted.last);
        outcome.stored = match (current, last) {
            (Some(current), Some(last)) if outcome.deleted => {
                Stored::from_object(view.kind(), current.revision(), last)
            }
            (Some(current), None) if outcome.deleted => {
                current.at_revision(outcome.stored.revision())
            }
            // Nothing was written.
            (Some(current), _) if current.revision() == outcome.stored.revision() => current,
            _ => view.one(&outcome.stored).await?,
        };
        Ok(outcome)
    }
}

/// A change in the version of a view, of objects in the versions they are stored in.
struct ConvertedChange<'a> {
    view: &'a View,
    change: &'a mut dyn Change,
    /// The object of the last attempt, in the version of the view.
    current: Option<Stored>,
    /// The last state of an object that the last attempt removes.
    last: Option<Box<dyn AnyObject>>,
}

impl Change for ConvertedChange<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            (self.current, self.last) = (None, None);
            if let Some(current) = current {
                self.current = Some(self.view.one(current).await?);
            }
            Ok(match self.change.attempt(self.current.as_ref()).await? {
                Changed::Write(object, options) => {
                    Changed::Write(self.view.to_stored(object).await?, options)
                }
                Changed::Create(object, options) => {
                    Changed::Create(self.view.to_stored(object).await?, options)
                }
                Changed::Delete(last) => {
                    self.last = Some(last);
                    Changed::Remove
                }
                other @ (Changed::Keep | Changed::Remove) => other,
            })
        })
    }
}

impl Storage for VersionedStorage {
    fn kind(&self) -> StoredKind {
        self.view.kind()
    }

    fn keys(&self) -> &KeyLayout {
        self.inner.keys()
    }

    fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
    ) -> BoxFuture<'_, Result<Stored, StorageError>> {
        Box::pin(self.create_object(key, object, request))
    }

    fn as_written(&self, object: Stored) -> BoxFuture<'_, Result<Stored, StorageError>> {
        Box::pin(async move {
            let written = self.view.to_stored(object.to_object()?).await?;
            let kind = self.inner.kind();
            let written = Stored::from_object(kind, object.revision(), written);
            Ok(self.view.one(&written).await?)
        })
    }

    fn get<'a>(
        &'a self,
        key: &'a str,
        not_older_than: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<Stored>, StorageError>> {
        Box::pin(self.get_object(key, not_older_than))
    }

    fn written(&self) -> Option<u64> {
        self.inner.written()
    }

    fn list<'a>(&'a self, request: ListRequest<'a>) -> BoxFuture<'a, Result<Listed, Status>> {
        Box::pin(self.list_objects(request))
    }

    fn update<'a>(
        &'a self,
        key: String,
        request: UpdateRequest<'a>,
        change: &'a mut dyn Change,
    ) -> BoxFuture<'a, Result<Outcome, StorageError>> {
        Box::pin(self.update_object(key, request, change))
    }

    /// As [`Storage::delete`], with objects in the versions they are stored in.
    fn delete<'a>(
        &'a self,
        key: String,
        request: DeleteRequest<'a>,
        allowed: &'a Allowed<'a>,
    ) -> BoxFuture<'a, Result<Stored, StorageError>> {
        self.inner.delete(key, request, allowed)
    }

    fn watch<'a>(
        &'a self,
        request: StorageWatchRequest<'a>,
    ) -> BoxFuture<'a, Result<EventStream, Status>> {
        if !self.view.changes_objects() {
            return self.inner.watch(request);
        }
        let predicate = self.predicate(request.predicate);
        Box::pin(async move {
            let request = StorageWatchRequest {
                predicate: &predicate,
                ..request
            };
            self.inner.watch(request).await
        })
    }
}

impl StorageState for VersionedStorage {
    fn count(&self) -> BoxFuture<'_, Result<usize, StorageError>> {
        self.inner.count()
    }

    fn stats(&self) -> BoxFuture<'_, Result<StorageStats, StorageError>> {
        self.inner.stats()
    }

    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>> {
        self.inner.revision()
    }

    fn compacted(&self) -> u64 {
        self.inner.compacted()
    }

    fn request_progress(&self) {
        self.inner.request_progress();
    }

    fn readiness(&self) -> Result<(), StorageError> {
        self.inner.readiness()
    }
}
