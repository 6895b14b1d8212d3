//! `VersionedStorage`: the objects of a definition, as seen in one of its versions.
//!
//! Lies over the storage that all versions share, which keeps every object in the version it was
//! stored in. Reads convert to the version of the view; writes convert from it to the storage
//! version. A write is computed in the version of the view, as upstream: validation and field
//! ownership are those of the version that the client uses.
//!
//! A single object is converted for each read and each write. Lists and watches reuse a conversion
//! that is known for an object, as upstream's watch cache does.

use crate::custom::conversion::Conversion;
use crate::custom::pipeline::Pipeline;
use crate::storage::convert::ConvertStored;
use crate::storage::error::StorageError;
use crate::storage::predicate::Predicate;
use crate::storage::watch::EventStream;
use crate::storage::{
    Allowed, Change, Changed, CreateRequest, DeleteRequest, ListRequest, Listed, Outcome, Storage,
    StorageState, StorageStats, StorageWatchRequest, UpdateRequest,
};
use crate::stored::Stored;
use crate::stored::custom_object::custom;
use crate::stored::key::KeyLayout;
use crate::stored::scheme::StoredKind;
use crate::strategy::BoxFuture;
use kubist_api::Kind;
use kubist_apimachinery::{AnyObject, CustomObject, Status};
use std::sync::Arc;

/// The objects of a definition in one version.
#[derive(Debug)]
pub(crate) struct VersionedStorage {
    inner: Arc<dyn Storage>,
    view: Arc<View>,
}

/// One version of the objects of a definition.
#[derive(Debug)]
struct View {
    conversion: Arc<Conversion>,
    kind: StoredKind,
    /// The version in which objects are written.
    stored: &'static Kind,
}

impl VersionedStorage {
    /// Creates a view of `inner` in the version `kind`.
    pub(crate) fn new(
        inner: Arc<dyn Storage>,
        kind: &'static Kind,
        conversion: Arc<Conversion>,
    ) -> Self {
        let view = View {
            conversion,
            stored: inner.kind().kind,
            kind: StoredKind::plain(kind),
        };
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
        if self.view.converts_metadata() {
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
                *stored = stored.in_version(self.view.kind.kind)?;
            }
        }
        Ok(listed)
    }

    async fn create_object(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: CreateRequest,
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
                Stored::from_object(view.kind, current.revision(), last)
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

impl View {
    /// Reports whether reading can change what selectors match.
    fn converts_metadata(&self) -> bool {
        self.conversion.changes_objects()
    }

    /// Reports whether an object can be served as it is stored.
    fn is_ready(&self, stored: &Stored) -> bool {
        let pipeline = self.conversion.pipeline(self.kind.kind);
        let reading = pipeline.map_or(0, Pipeline::reading);
        std::ptr::eq(stored.kind(), self.kind.kind) && (reading == 0 || stored.is_complete(reading))
    }

    /// Converts one object anew.
    async fn one(&self, stored: &Stored) -> Result<Stored, Status> {
        let converted = self.converted(std::slice::from_ref(stored), false).await?;
        let missing = || Status::internal_error("an object was not converted");
        converted.into_iter().next().ok_or_else(missing)
    }

    /// Converts objects. `reuses`: whether a known conversion is used again.
    async fn converted(&self, objects: &[Stored], reuses: bool) -> Result<Vec<Stored>, Status> {
        let (id, kind) = (self.conversion.id(), self.kind.kind);
        let known = |stored: &Stored| {
            if self.is_ready(stored) {
                return Some(stored.clone());
            }
            stored.converted(id, kind).filter(|_| reuses)
        };
        let mut converted: Vec<Option<Stored>> = objects.iter().map(known).collect();
        let mut missing = Vec::new();
        for (known, stored) in converted.iter_mut().zip(objects) {
            if known.is_some() {
                continue;
            }
            match self.read(stored)? {
                Some(object) => missing.push(object),
                None => *known = Some(stored.clone()),
            }
        }
        let made = self.conversion.convert(missing, kind).await;
        let mut made = made.map_err(Status::unmapped_error)?.into_iter();
        for (known, stored) in converted.iter_mut().zip(objects) {
            if known.is_none()
                && let Some(object) = made.next()
            {
                let object = Stored::from_object(self.kind, stored.revision(), Box::new(object));
                stored.keep_converted(id, &object);
                *known = Some(object);
            }
        }
        Ok(converted.into_iter().flatten().collect())
    }

    /// Returns an object as it is before a conversion; none if it can be served as it is stored.
    fn read(&self, stored: &Stored) -> Result<Option<CustomObject>, Status> {
        let object = stored.to_object()?;
        let object = custom(&*object).ok_or_else(not_custom)?;
        let mut read = object.clone();
        if let Some(pipeline) = self.conversion.pipeline(stored.kind()) {
            pipeline.read(&mut read);
            if std::ptr::eq(stored.kind(), self.kind.kind) && read.content() == object.content() {
                stored.set_complete(pipeline.reading());
                return Ok(None);
            }
        }
        Ok(Some(read))
    }

    /// Converts an object to the version in which it is written.
    async fn to_stored(&self, object: Box<dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        if std::ptr::eq(self.kind.kind, self.stored) {
            return Ok(object);
        }
        let object = custom(&*object).cloned().ok_or_else(not_custom)?;
        let converted = self.conversion.convert(vec![object], self.stored).await;
        let converted = converted.map_err(Status::unmapped_error)?;
        let object = converted.into_iter().next().ok_or_else(not_custom)?;
        Ok(Box::new(object))
    }
}

fn not_custom() -> Status {
    Status::internal_error("a custom object was expected")
}

impl ConvertStored for View {
    fn convert<'a>(&'a self, objects: &'a [Stored]) -> BoxFuture<'a, Result<Vec<Stored>, Status>> {
        Box::pin(self.converted(objects, true))
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
                Changed::Write(object, ttl) => {
                    Changed::Write(self.view.to_stored(object).await?, ttl)
                }
                Changed::Create(object, request) => {
                    Changed::Create(self.view.to_stored(object).await?, request)
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
        self.view.kind
    }

    fn keys(&self) -> &KeyLayout {
        self.inner.keys()
    }

    fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: CreateRequest,
    ) -> BoxFuture<'_, Result<Stored, StorageError>> {
        Box::pin(self.create_object(key, object, request))
    }

    fn get<'a>(
        &'a self,
        key: &'a str,
        not_older_than: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<Stored>, StorageError>> {
        Box::pin(self.get_object(key, not_older_than))
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
        if !self.view.converts_metadata() {
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
