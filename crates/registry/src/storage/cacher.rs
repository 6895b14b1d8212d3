//! `Cacher`: storage with a watch cache, a decorator of [`RawStorage`].
//!
//! It follows the engine like a reflector and keeps all objects in order, the last events and the
//! watchers. Writes go to storage; reads and watches are answered here where that gives the right
//! answer (see `delegation`). The cache holds stored values, so encrypted ones stay encrypted in
//! it, and one that cannot be read spoils nothing but itself.
//!
//! [`run`](Cacher::run) has to run beside it. When what it follows breaks off, all watches end and
//! it begins anew.

mod consistency;
mod delegation;
mod dispatch;
mod feed;
mod freshness;
mod reading;
mod ring;
mod state;
mod time_budget;
mod watchers;
mod watching;

use self::delegation::Answers;
use self::freshness::Freshness;
use self::reading::Source;
use self::state::{Content, State};
use crate::metrics::ResourceMetrics;
use crate::storage::error::{Operation, StorageError};
use crate::storage::raw::RawStorage;
use crate::storage::watch::EventStream;
use crate::storage::{
    Allowed, Change, CreateRequest, DeleteRequest, ListRequest, Listed, Outcome, Storage,
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
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How a watch cache behaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacherConfig {
    /// How long a watch may be away without having to list again, if there is room for what
    /// happened meanwhile. Default: 75 s, as upstream.
    pub history: Duration,
    /// How long a request waits for the cache to come to a version. Default: 3 s, as upstream.
    pub fresh_within: Duration,
    /// How often the engine is asked for progress while somebody waits. Default: 100 ms, as
    /// upstream.
    pub progress_every: Duration,
    /// The pause before the cache begins anew. Default: 1 s, as upstream.
    pub restart_after: Duration,
    /// How often the cache is compared with storage, at most half as long more. Default: every
    /// five minutes, as upstream; None is never.
    pub consistency_every: Option<Duration>,
    /// The field by which watchers are told apart, such as `spec.nodeName` of pods. Default: none.
    pub indexed_field: Option<&'static str>,
}

impl Default for CacherConfig {
    fn default() -> Self {
        Self {
            history: ring::FRESH_FOR,
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

/// Lock order: `state`, then those of `freshness`. Nobody is woken under `state`.
struct Shared {
    raw: RawStorage,
    strategy: Arc<dyn Strategy>,
    config: CacherConfig,
    state: Mutex<State>,
    freshness: Freshness,
    /// Events up to here are in the buffers of those who want them.
    dispatched: AtomicU64,
    ready: watch::Sender<bool>,
    /// Whether the engine has ever answered when asked for progress.
    progress_seen: AtomicBool,
}

/// How much a watch cache holds. What it has done is in its [metrics](Cacher::metrics).
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
    /// How often it began anew.
    pub generation: u64,
    /// Up to here it holds everything (`apiserver_watch_cache_resource_version`); 0 while it is
    /// not ready.
    pub revision: u64,
    /// Whether the last comparison with storage found the same. Storage answers reads otherwise.
    pub trusted: bool,
}

impl Cacher {
    /// A cache over `raw`. `strategy` knows the indexed field. Nothing is read before
    /// [`run`](Self::run). Needs a tokio runtime with time enabled.
    pub fn new(raw: RawStorage, strategy: Arc<dyn Strategy>, config: CacherConfig) -> Self {
        let shared = Shared {
            raw,
            strategy,
            config,
            state: Mutex::new(State::new(Instant::now())),
            freshness: Freshness::new(),
            dispatched: AtomicU64::new(0),
            ready: watch::Sender::new(false),
            progress_seen: AtomicBool::new(false),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Reads everything and follows the engine, again and again, and compares itself with it from
    /// time to time. To be run once beside it; never returns.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves a cache that stands still, and can be run again.
    pub async fn run(&self) {
        tokio::join!(feed::run(&self.shared), consistency::run(&self.shared));
    }

    /// Compares it with storage now. Whether it may answer reads from here on; what came of it is
    /// counted.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no trace.
    pub async fn check(&self) -> bool {
        self.shared.check().await;
        self.shared.is_trusted()
    }

    /// Ends all watches. It answers nothing any more.
    pub(crate) fn close(&self) {
        self.shared.state.lock().closed = true;
        self.shared.stop();
    }

    /// Waits until it has read everything.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no trace.
    pub async fn wait_until_ready(&self) {
        let mut ready = self.shared.ready.subscribe();
        // The sender lives as long as this handle.
        drop(ready.wait_for(|it| *it).await);
    }

    /// How much it holds; zeros while it is not ready.
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

    /// What is counted about its resource, by this cache and by those before it.
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
        let knows = revision == 0 || shared.learns_progress();
        if !knows || !shared.answers_reads() {
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
        let answers = delegation::of_list(&position, &request)?;
        // While storage answers everything, nothing is asked of the cache.
        let asked = self.shared.answers_reads();
        let view = self.shared.view(answers, &request).await;
        let failed = |error: &StorageError| error.to_status(Operation::List, request.resource, "");
        let view = view.map_err(|error| failed(&error))?;
        let listed = match &view {
            Some(view) => list::list(&self.shared.raw.codec, view, request).await,
            None => self.shared.raw.list(request).await,
        };
        if answers == Answers::MostRecent && asked {
            let cache = self.shared.counted();
            cache
                .consistent_reads(listed.is_ok(), view.is_none())
                .add(1);
        }
        listed
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
        request: CreateRequest,
    ) -> BoxFuture<'_, Result<Stored, StorageError>> {
        self.shared.raw.create(key, object, request)
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
        mut request: UpdateRequest<'a>,
        change: &'a mut dyn Change,
    ) -> BoxFuture<'a, Result<Outcome, StorageError>> {
        request.suggestion = request.suggestion.or_else(|| self.shared.suggestion(&key));
        self.shared.raw.update(key, request, change)
    }

    fn delete<'a>(
        &'a self,
        key: String,
        mut request: DeleteRequest<'a>,
        allowed: &'a Allowed<'a>,
    ) -> BoxFuture<'a, Result<Stored, StorageError>> {
        request.suggestion = request.suggestion.or_else(|| self.shared.suggestion(&key));
        self.shared.raw.delete(key, request, allowed)
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
        self.shared.freshness.ask();
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
