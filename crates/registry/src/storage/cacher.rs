//! `Cacher`: storage with a watch cache, a decorator of [`RawStorage`].
//!
//! Follows the engine like a reflector and keeps all objects in order, the recent events and the
//! watchers. Writes go to storage; reads and watches are served from the cache where the result is
//! correct (see `delegation`). The cache holds stored values, so encrypted values stay encrypted in
//! it, and a value that cannot be decoded affects only itself.
//!
//! [`run`](Cacher::run) must run beside it. When its watch of the engine breaks off, all watches
//! end and the cache is rebuilt.

mod consistency;
mod delegation;
mod dispatch;
mod feed;
mod followed;
mod freshness;
mod reading;
mod recall;
mod ring;
mod state;
mod time_budget;
mod watchers;
mod watching;

use self::delegation::ListSource;
use self::freshness::Freshness;
use self::reading::Source;
use self::state::{Content, State};
use crate::metrics::ResourceMetrics;
use crate::storage::error::{Operation, StorageError};
use crate::storage::index::ObjectIndex;
use crate::storage::raw::RawStorage;
use crate::storage::watch::EventStream;
use crate::storage::{
    Allowed, Change, DeleteRequest, ListRequest, Listed, Outcome, PutOptions, Storage,
    StorageState, StorageStats, StorageWatchRequest, UpdateRequest, list,
};
use crate::stored::Stored;
use crate::stored::key::KeyLayout;
use crate::stored::scheme::StoredKind;
use crate::strategy::{BoxFuture, Strategy};
use kubist_apimachinery::{AnyObject, Status};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The configuration of a watch cache.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacherConfig {
    /// How long a watch may be disconnected without a new list, if the ring has room for the events
    /// of that time. Default: 75 s, as upstream.
    pub history: Duration,
    /// The maximum wait of a request until the cache reaches a version. Default: 3 s, as upstream.
    pub fresh_within: Duration,
    /// The interval of progress requests to the engine while a request waits. Default: 100 ms, as
    /// upstream.
    pub progress_every: Duration,
    /// The pause before the cache is rebuilt. Default: 1 s, as upstream.
    pub restart_after: Duration,
    /// The interval of comparisons with storage, plus a jitter of at most 50%. Default: five
    /// minutes, as upstream; `None` disables them.
    pub consistency_every: Option<Duration>,
    /// The field that watchers are indexed by, such as `spec.nodeName` of pods. Default: none.
    pub indexed_field: Option<&'static str>,
}

impl Default for CacherConfig {
    fn default() -> Self {
        Self {
            history: ring::DEFAULT_HISTORY,
            fresh_within: Duration::from_secs(3),
            progress_every: Duration::from_millis(100),
            restart_after: Duration::from_secs(1),
            consistency_every: Some(Duration::from_secs(300)),
            indexed_field: None,
        }
    }
}

/// Storage with a watch cache. A clone is another handle.
#[derive(Clone)]
pub struct Cacher {
    shared: Arc<Shared>,
}

/// Lock order: `state`, then those of `freshness`. No task is woken while `state` is locked.
struct Shared {
    raw: RawStorage,
    index: Arc<ObjectIndex>,
    strategy: Arc<dyn Strategy>,
    config: CacherConfig,
    state: Mutex<State>,
    freshness: Freshness,
    /// Events up to here are in the buffers of the interested watchers.
    dispatched: AtomicU64,
    ready: watch::Sender<bool>,
    /// Whether the engine has ever answered a progress request.
    progress_seen: AtomicBool,
    /// The revision of the last write through this cache.
    written: AtomicU64,
}

/// The size of a watch cache. Its activity is in its [metrics](Cacher::metrics).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacherStats {
    /// Objects.
    pub objects: usize,
    /// Bytes of their stored values.
    pub bytes: usize,
    /// Events that fit into the ring now.
    pub capacity: usize,
    /// Watches.
    pub watchers: usize,
    /// The number of rebuilds.
    pub generation: u64,
    /// The cache is complete up to this revision (`apiserver_watch_cache_resource_version`); 0
    /// while it is not ready.
    pub revision: u64,
    /// Whether the last comparison with storage matched. Otherwise storage serves the reads.
    pub trusted: bool,
}

impl Cacher {
    /// Creates a cache over `raw`. `strategy` reads the indexed field. Nothing is read before
    /// [`run`](Self::run). Needs a tokio runtime with time enabled.
    pub fn new(raw: RawStorage, strategy: Arc<dyn Strategy>, config: CacherConfig) -> Self {
        let shared = Arc::new_cyclic(|shared| Shared {
            index: followed::index(&raw, shared),
            raw,
            strategy,
            config,
            state: Mutex::new(State::new(Instant::now())),
            freshness: Freshness::new(),
            dispatched: AtomicU64::new(0),
            ready: watch::Sender::new(false),
            progress_seen: AtomicBool::new(false),
            written: AtomicU64::new(0),
        });
        Self { shared }
    }

    /// Fills the cache and follows the engine, rebuilds after failures, and compares itself with
    /// storage at intervals. Run it once beside the cache; never returns.
    ///
    /// # Cancel safety
    ///
    /// Dropping it stops the updates; it can be run again.
    pub async fn run(&self) {
        tokio::join!(feed::run(&self.shared), consistency::run(&self.shared));
    }

    /// Compares the cache with storage now. Returns whether it may serve reads from here on, and
    /// counts the result.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn check(&self) -> bool {
        self.shared.check().await;
        self.shared.is_trusted()
    }

    /// Returns the index of its objects.
    pub(crate) fn index(&self) -> &Arc<ObjectIndex> {
        &self.shared.index
    }

    /// Ends all watches. The cache serves no further requests.
    pub(crate) fn close(&self) {
        self.shared.state.lock().closed = true;
        self.shared.stop();
    }

    /// Waits until the cache is filled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn wait_until_ready(&self) {
        let mut ready = self.shared.ready.subscribe();
        // The sender lives as long as this handle.
        drop(ready.wait_for(|it| *it).await);
    }

    /// Returns the size of the cache; zeros while it is not ready.
    pub fn stats(&self) -> CacherStats {
        let state = self.shared.state.lock();
        let content = state.content.as_ref();
        CacherStats {
            objects: content.map_or(0, |it| it.tree().len()),
            bytes: content.map_or(0, Content::bytes),
            capacity: content.map_or(0, Content::capacity),
            watchers: state.watchers.len(),
            generation: state.generation,
            revision: content.map_or(0, Content::revision),
            trusted: state.trusted,
        }
    }

    /// Returns the metrics of its resource, over this cache and earlier ones.
    pub fn metrics(&self) -> &Arc<ResourceMetrics> {
        self.shared.raw.codec.metrics()
    }

    async fn get_object(
        &self,
        key: &str,
        not_older_than: Option<u64>,
    ) -> Result<Option<Stored>, StorageError> {
        let shared = &self.shared;
        let Some(revision) = not_older_than else {
            return shared.raw.get(key, None).await;
        };
        let is_known = revision == 0 || shared.engine_reports_progress();
        if !is_known || !shared.serves_reads() {
            return shared.raw.get(key, not_older_than).await;
        }
        shared.raw.keys().check(key)?;
        shared.wait_fresh(revision).await?;
        let stored = shared.cached(key)?;
        match stored.as_ref().and_then(Stored::failure) {
            Some(status) => Err(status.clone().into()),
            None => Ok(stored),
        }
    }

    async fn list_objects(&self, request: ListRequest<'_>) -> Result<Listed, Status> {
        let position = list::position(request.options)?;
        let list_source = delegation::of_list(&position, &request)?;
        // While storage serves all reads, consistent lists are not counted.
        let cache_serves = self.shared.serves_reads();
        let view = self.shared.view(list_source, &request).await;
        let failed = |error: &StorageError| error.to_status(Operation::List, request.resource, "");
        let view = view.map_err(|error| failed(&error))?;
        let listed = match &view {
            Some(view) => list::list(&self.shared.raw.codec, view, request).await,
            None => self.shared.raw.list(request).await,
        };
        if list_source == ListSource::MostRecent && cache_serves {
            let cache = self.shared.counted();
            cache
                .consistent_reads(listed.is_ok(), view.is_none())
                .add(1);
        }
        listed
    }
}

impl Shared {
    /// Notes the result of a write.
    fn wrote(&self, stored: Stored) -> Stored {
        self.written.fetch_max(stored.revision(), Ordering::AcqRel);
        stored
    }
}

impl Storage for Cacher {
    fn kind(&self) -> StoredKind {
        self.shared.raw.kind()
    }

    fn keys(&self) -> &KeyLayout {
        self.shared.raw.keys()
    }

    fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
    ) -> BoxFuture<'_, Result<Stored, StorageError>> {
        Box::pin(async move {
            let stored = self.shared.raw.create(key, object, request).await?;
            Ok(self.shared.wrote(stored))
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
        Some(self.shared.written.load(Ordering::Acquire))
    }

    fn list<'a>(&'a self, request: ListRequest<'a>) -> BoxFuture<'a, Result<Listed, Status>> {
        Box::pin(self.list_objects(request))
    }

    fn update<'a>(
        &'a self,
        key: String,
        mut request: UpdateRequest<'a>,
        change: &'a mut dyn Change,
    ) -> BoxFuture<'a, Result<Outcome, StorageError>> {
        request.suggestion = request.suggestion.or_else(|| self.shared.suggestion(&key));
        Box::pin(async move {
            let mut outcome = self.shared.raw.update(key, request, change).await?;
            outcome.stored = self.shared.wrote(outcome.stored);
            Ok(outcome)
        })
    }

    fn delete<'a>(
        &'a self,
        key: String,
        mut request: DeleteRequest<'a>,
        allowed: &'a Allowed<'a>,
    ) -> BoxFuture<'a, Result<Stored, StorageError>> {
        request.suggestion = request.suggestion.or_else(|| self.shared.suggestion(&key));
        Box::pin(async move {
            let stored = self.shared.raw.delete(key, request, allowed).await?;
            Ok(self.shared.wrote(stored))
        })
    }

    fn watch<'a>(
        &'a self,
        request: StorageWatchRequest<'a>,
    ) -> BoxFuture<'a, Result<EventStream, Status>> {
        let source = Arc::new(Source(Arc::clone(&self.shared)));
        Box::pin(EventStream::start(
            self.shared.raw.codec.clone(),
            source,
            request,
        ))
    }
}

impl StorageState for Cacher {
    fn count(&self) -> BoxFuture<'_, Result<usize, StorageError>> {
        let objects = self
            .shared
            .state
            .lock()
            .content
            .as_ref()
            .map(|it| it.tree().len());
        match objects {
            Some(objects) => Box::pin(async move { Ok(objects) }),
            None => self.shared.raw.count(),
        }
    }

    fn stats(&self) -> BoxFuture<'_, Result<StorageStats, StorageError>> {
        let stats = self
            .shared
            .state
            .lock()
            .content
            .as_ref()
            .map(|it| StorageStats {
                object_count: it.tree().len(),
                bytes: it.bytes(),
            });
        match stats {
            Some(stats) => Box::pin(async move { Ok(stats) }),
            None => self.shared.raw.stats(),
        }
    }

    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>> {
        self.shared.raw.revision()
    }

    fn compacted(&self) -> u64 {
        self.shared.raw.compacted()
    }

    fn request_progress(&self) {
        self.shared.freshness.request_progress();
    }

    fn readiness(&self) -> Result<(), StorageError> {
        self.shared.readiness()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("raw", &self.raw)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Cacher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cacher")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
