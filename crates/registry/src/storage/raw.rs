//! `RawStorage`: the objects of one resource over an engine, without API rules.
//!
//! Create, read, compare-and-set update and delete with upstream's semantics: preconditions, a
//! suggested start state, no write without a change. Objects are stored without resource version;
//! the version is the engine's revision.

mod delete;
mod update;

use crate::metrics::{ResourceMetrics, StorageRequest};
use crate::storage::error::StorageError;
use crate::storage::index::{IndexConfig, KvChanges, ObjectIndex};
use crate::storage::reader::KvReader;
use crate::storage::watch::EventStream;
use crate::storage::{
    Allowed, Change, DeleteRequest, ListRequest, Listed, Outcome, PutOptions, Storage,
    StorageState, StorageStats, StorageWatchRequest, UpdateRequest, list,
};
use crate::stored::Stored;
use crate::stored::codec::StoredCodec;
use crate::stored::key::KeyLayout;
use crate::stored::scheme::StoredKind;
use crate::strategy::BoxFuture;
use bytes::Bytes;
use kubist_apimachinery::wire::DecodeContext;
use kubist_apimachinery::{AnyObject, Status};
use kubist_storage::{
    DeleteRequest as Remove, Expected, KeyValue, Kv, KvFuture, PutRequest, RangeRequest, Revision,
    WriteOutcome,
};
use std::sync::Arc;
use std::time::Duration;

/// The objects of one resource over an engine. A clone is another handle.
#[derive(Clone, Debug)]
pub struct RawStorage {
    pub(crate) kv: Arc<dyn Kv>,
    pub(crate) codec: StoredCodec,
    pub(crate) index: Arc<ObjectIndex>,
}

/// The state that an update or a delete starts from.
struct Current {
    /// The object; `None` if it does not exist.
    stored: Option<Stored>,
    /// Its key-value version from the engine; `None` for a suggestion.
    kv: Option<Arc<KeyValue>>,
    /// Whether it came from the engine.
    fresh: bool,
}

impl RawStorage {
    /// Creates storage over `kv` with this codec.
    pub fn new(kv: Arc<dyn Kv>, codec: StoredCodec) -> Self {
        let index = Self::index(&kv, &codec, IndexConfig::default());
        Self { kv, codec, index }
    }

    /// Sets what lists by selectors are found by. Default: labels.
    #[must_use]
    pub fn with_index(mut self, config: IndexConfig) -> Self {
        self.index = Self::index(&self.kv, &self.codec, config);
        self
    }

    /// Drops the index of its objects if it was not used for some minutes of calls, and brings it
    /// up to date otherwise.
    pub fn forget_unused(&self) {
        self.index.forget_unused();
    }

    /// Returns the metrics of its resource.
    pub fn metrics(&self) -> &ResourceMetrics {
        self.codec.metrics()
    }

    fn index(kv: &Arc<dyn Kv>, codec: &StoredCodec, config: IndexConfig) -> Arc<ObjectIndex> {
        let changes = KvChanges {
            kv: Arc::clone(kv),
            range: codec.keys().range(""),
        };
        Arc::new(ObjectIndex::new(codec.clone(), config, Box::new(changes)))
    }

    fn reader(&self) -> KvReader {
        KvReader {
            kv: Arc::clone(&self.kv),
            index: Some(Arc::clone(&self.index)),
        }
    }

    async fn create_object(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
    ) -> Result<Stored, StorageError> {
        self.codec.keys().check(&key)?;
        // An invalid number is ignored, as upstream.
        if resource_version_of(&*object) != 0 {
            return Err(StorageError::VersionOnCreate);
        }
        let value = self.codec.encode(object)?;
        let guarded = !request.guards.is_empty();
        let bytes = Bytes::from(key);
        match self.put_new(&bytes, &value, request).await? {
            WriteOutcome::Committed { revision } => {
                Ok(self.codec.written(&bytes, revision.0, &value))
            }
            WriteOutcome::Conflict { current, .. } => {
                let key = text(&bytes);
                Err(match current {
                    Some(kv) => StorageError::exists(key, &self.codec.stored(&kv)),
                    None if guarded => StorageError::GuardChanged { key },
                    None => StorageError::Exists {
                        key,
                        terminating: false,
                    },
                })
            }
        }
    }

    /// Writes a value under an unused key.
    async fn put_new(
        &self,
        key: &Bytes,
        value: &Bytes,
        request: PutOptions,
    ) -> Result<WriteOutcome, StorageError> {
        let PutOptions { ttl, guards } = request;
        let put = PutRequest::new(key.clone(), self.codec.seal(key, value)?, Expected::Absent);
        self.put(StorageRequest::Create, put.guards(guards), ttl)
            .await
    }

    async fn get_object(
        &self,
        key: &str,
        not_older_than: Option<u64>,
    ) -> Result<Option<Stored>, StorageError> {
        self.codec.keys().check(key)?;
        let get = self.kv.get(key.as_bytes(), None);
        let response = self.timed(StorageRequest::Get, get).await?;
        let current = response.revision.0;
        if let Some(requested) = not_older_than
            && requested > current
        {
            return Err(StorageError::TooLarge { requested, current });
        }
        let stored = response.kv.map(|kv| self.codec.stored(&kv));
        let cx = &mut DecodeContext::new();
        if let Some(status) = stored.as_ref().and_then(|it| it.check(cx)) {
            return Err(status.clone().into());
        }
        Ok(stored)
    }

    async fn read(&self, key: &str) -> Result<Current, StorageError> {
        let get = self.kv.get(key.as_bytes(), None);
        let kv = self.timed(StorageRequest::Get, get).await?.kv;
        Ok(self.fresh(kv))
    }

    fn fresh(&self, kv: Option<Arc<KeyValue>>) -> Current {
        Current {
            stored: kv.as_deref().map(|kv| self.codec.stored(kv)),
            kv,
            fresh: true,
        }
    }

    async fn begin(&self, key: &str, suggestion: Option<Stored>) -> Result<Current, StorageError> {
        self.codec.keys().check(key)?;
        match suggestion {
            Some(stored) if stored.revision() > 0 => Ok(Current {
                stored: Some(stored),
                kv: None,
                fresh: false,
            }),
            _ => self.read(key).await,
        }
    }

    /// Waits for the engine, and records the duration.
    async fn timed<T, E>(
        &self,
        request: StorageRequest,
        answer: KvFuture<'_, Result<T, E>>,
    ) -> Result<T, E> {
        self.codec.metrics().time(request, answer).await
    }

    async fn put(
        &self,
        request: StorageRequest,
        mut put: PutRequest,
        ttl: Option<Duration>,
    ) -> Result<WriteOutcome, StorageError> {
        if let Some(ttl) = ttl {
            put = put.lease(self.kv.grant(ttl).await?);
        }
        Ok(self.timed(request, self.kv.put(put)).await?)
    }

    /// Removes a version; if it is no longer the newest, the newest.
    async fn remove(
        &self,
        key: &str,
        revision: u64,
    ) -> Result<Result<u64, Option<Arc<KeyValue>>>, StorageError> {
        let key = Bytes::copy_from_slice(key.as_bytes());
        let delete = Remove::new(key, Expected::Revision(Revision(revision)));
        let deleted = self
            .timed(StorageRequest::Delete, self.kv.delete(delete))
            .await;
        Ok(match deleted? {
            WriteOutcome::Committed { revision } => Ok(revision.0),
            WriteOutcome::Conflict { current, .. } => Err(current),
        })
    }

    async fn head(&self) -> Result<u64, StorageError> {
        Ok(self.kv.revision().await?.0)
    }

    async fn all(&self, limit: Option<usize>) -> Result<StorageStats, StorageError> {
        let mut request = RangeRequest::new(self.codec.keys().range(""));
        request.limit = limit;
        let of_what = match limit {
            Some(0) => StorageRequest::Count,
            _ => StorageRequest::List,
        };
        let found = self.timed(of_what, self.kv.range(request)).await?;
        Ok(StorageStats {
            object_count: found.count,
            bytes: found.kvs.iter().map(|kv| kv.value.len()).sum(),
        })
    }
}

impl Storage for RawStorage {
    fn kind(&self) -> StoredKind {
        self.codec.kind()
    }

    fn keys(&self) -> &KeyLayout {
        self.codec.keys()
    }

    fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
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
        Box::pin(async move {
            let reader = self.reader();
            let listing = list::list(&self.codec, &reader, request);
            let metrics = self.codec.metrics();
            metrics.time(StorageRequest::List, listing).await
        })
    }

    fn update<'a>(
        &'a self,
        key: String,
        request: UpdateRequest<'a>,
        change: &'a mut dyn Change,
    ) -> BoxFuture<'a, Result<Outcome, StorageError>> {
        Box::pin(self.update_object(key, request, change))
    }

    fn delete<'a>(
        &'a self,
        key: String,
        request: DeleteRequest<'a>,
        allowed: &'a Allowed<'a>,
    ) -> BoxFuture<'a, Result<Stored, StorageError>> {
        Box::pin(self.delete_object(key, request, allowed))
    }

    fn watch<'a>(
        &'a self,
        request: StorageWatchRequest<'a>,
    ) -> BoxFuture<'a, Result<EventStream, Status>> {
        let source = Arc::new(self.reader());
        Box::pin(EventStream::start(self.codec.clone(), source, request))
    }
}

impl StorageState for RawStorage {
    fn count(&self) -> BoxFuture<'_, Result<usize, StorageError>> {
        Box::pin(async { Ok(self.all(Some(0)).await?.object_count) })
    }

    fn stats(&self) -> BoxFuture<'_, Result<StorageStats, StorageError>> {
        Box::pin(self.all(None))
    }

    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>> {
        Box::pin(self.head())
    }

    fn compacted(&self) -> u64 {
        self.kv.compacted().0
    }

    fn request_progress(&self) {}

    fn readiness(&self) -> Result<(), StorageError> {
        Ok(())
    }
}

/// Returns the resource version of an object; zero if it has no valid one.
pub(crate) fn resource_version_of(object: &dyn AnyObject) -> u64 {
    object.meta().resource_version.parse().unwrap_or_default()
}

fn text(key: &Bytes) -> String {
    String::from_utf8_lossy(key).into_owned()
}
