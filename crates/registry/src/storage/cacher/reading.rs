//! Reads of a cache: the newest state, a past state, or the events after one.

use super::delegation::{self, ListSource};
use super::watching::{Begin, Watching};
use super::{Shared, ring, watchers};
use crate::metrics::CacheMetrics;
use crate::storage::error::{Operation, StorageError};
use crate::storage::index::{Indexed, ObjectIndex};
use crate::storage::reader::{Interest, Reader, RequestedState, Snapshot, WatchSource};
use crate::storage::{ListRequest, StorageState};
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use futures_core::Stream;
use kubist_apimachinery::{GroupResource, Status};
use kubist_storage::memory::Tree;
use kubist_storage::{
    KvFuture, RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchBatch, WatchError,
};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// A snapshot of a cache.
#[derive(Debug)]
pub(super) struct View {
    pub(super) tree: Tree,
    pub(super) revision: u64,
    pub(super) index: Arc<ObjectIndex>,
}

impl Reader for View {
    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        let count = self.tree.count(&request.range);
        let limit = request.limit.unwrap_or(usize::MAX);
        let mut kvs = Vec::with_capacity(count.min(limit));
        kvs.extend(self.tree.range(&request.range).take(limit).cloned());
        KvFuture::ready(Ok(RangeResponse {
            more: kvs.len() < count,
            kvs,
            count,
            revision: Revision(self.revision),
        }))
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        KvFuture::ready(Ok(Revision(self.revision)))
    }

    fn is_cache(&self) -> bool {
        true
    }

    fn indexed(&self) -> Option<Indexed<'_>> {
        Some(Indexed {
            index: &self.index,
            tree: self.tree.clone(),
            revision: self.revision,
            oldest: 0,
        })
    }
}

impl Shared {
    pub(super) fn readiness(&self) -> Result<(), StorageError> {
        let state = self.state.lock();
        if state.content.is_some() {
            return Ok(());
        }
        Err(StorageError::NotReady {
            retry_after: retry_after(state.down_since.elapsed()),
        })
    }

    /// Reports whether the engine reports progress. A remote engine may not have done so yet, and
    /// may never; once it has, it is trusted, even while some of its servers are down.
    pub(super) fn engine_reports_progress(&self) -> bool {
        if self.progress_seen.load(Ordering::Relaxed) {
            return true;
        }
        let supported = self.raw.kv.supports_progress_requests();
        self.progress_seen.fetch_or(supported, Ordering::Relaxed);
        supported
    }

    pub(super) async fn wait_fresh(&self, revision: u64) -> Result<(), StorageError> {
        let begun = Instant::now();
        let waited = self.freshness.wait(revision, self.config.fresh_within);
        let waited = waited.await;
        self.counted().read_wait.observe(begun.elapsed());
        waited
    }

    /// Returns the metrics.
    pub(super) fn counted(&self) -> &CacheMetrics {
        &self.raw.codec.metrics().cache
    }

    /// Reports whether the cache serves reads that need not go to storage.
    pub(super) fn serves_reads(&self) -> bool {
        let state = self.state.lock();
        state.content.is_some() && state.trusted
    }

    /// Returns the cached object under a key.
    pub(super) fn cached(&self, key: &str) -> Result<Option<Stored>, StorageError> {
        let kv = {
            let state = self.state.lock();
            let Some(content) = &state.content else {
                drop(state);
                return self.readiness().map(|()| None);
            };
            content.tree().get(key.as_bytes()).cloned()
        };
        Ok(kv.map(|kv| self.raw.codec.stored(&kv)))
    }

    /// Returns a start state for a write; a write works without one too.
    pub(super) fn suggestion(&self, key: &str) -> Option<Stored> {
        self.cached(key).ok().flatten()
    }

    /// Returns the snapshot that serves a list; `None` if storage serves it.
    pub(super) async fn view(
        &self,
        list_source: ListSource,
        request: &ListRequest<'_>,
    ) -> Result<Option<View>, StorageError> {
        if let Err(error) = self.readiness() {
            return if delegation::without_cache(list_source, request) {
                Ok(None)
            } else {
                Err(error)
            };
        }
        if !self.is_trusted() || (list_source != ListSource::Any && !self.engine_reports_progress())
        {
            return Ok(None);
        }
        match list_source {
            ListSource::Storage => Ok(None),
            ListSource::Any => self.newest().map(Some),
            ListSource::NotOlderThan(revision) => {
                self.wait_fresh(revision).await?;
                self.newest().map(Some)
            }
            ListSource::MostRecent => {
                let head = self.raw.revision().await?;
                if self.wait_fresh(head).await.is_ok() {
                    return self.newest().map(Some);
                }
                // The cache lags too far behind, so storage serves the list.
                Ok(None)
            }
            ListSource::Exact(revision) => {
                self.wait_fresh(revision).await?;
                Ok(self.past(revision))
            }
        }
    }

    fn newest(&self) -> Result<View, StorageError> {
        let state = self.state.lock();
        if let Some(content) = &state.content {
            return Ok(View {
                tree: content.tree().clone(),
                revision: content.revision(),
                index: Arc::clone(&self.index),
            });
        }
        drop(state);
        Err(StorageError::NotReady { retry_after: 1 })
    }

    /// Returns the state at a revision, unless it is compacted or not in the cache.
    fn past(&self, revision: u64) -> Option<View> {
        if revision < self.raw.compacted() {
            return None;
        }
        let past = {
            let state = self.state.lock();
            state.content.as_ref()?.at(revision)?
        };
        Some(View {
            tree: past.tree(),
            revision,
            index: Arc::clone(&self.index),
        })
    }

    async fn until(&self, requested: RequestedState) -> Result<(), StorageError> {
        match requested {
            RequestedState::Any => Ok(()),
            RequestedState::MostRecent => {
                let head = self.raw.revision().await?;
                self.wait_fresh(head).await
            }
            RequestedState::NotOlderThan(revision) => self.wait_fresh(revision).await,
        }
    }

    fn register(
        &self,
        interest: &Interest,
        after: u64,
        generation: Option<u64>,
    ) -> Result<Option<Begin>, WatchError> {
        let mut state = self.state.lock();
        let now_at = state.generation;
        let Some(content) = &state.content else {
            return Ok(None);
        };
        if generation.is_some_and(|it| it != now_at) {
            return Ok(None);
        }
        let until = content.revision();
        content
            .events(after.min(until), until, 0)
            .map_err(|too_old| WatchError::Compacted {
                requested: Revision(after).next(),
                compacted: Revision(too_old.oldest),
            })?;
        let indexed = self.config.indexed_field;
        let capacity = content.capacity();
        let place = state.watchers.place(interest, indexed);
        let used = indexed.is_some_and(|field| interest.predicate.exact(field).is_some());
        let size = ring::buffer_size(capacity, self.config.history, indexed.is_some(), used);
        let (sender, buffer) = mpsc::channel(size);
        state.watchers.add(Arc::new(watchers::Outlet {
            place: place.clone(),
            buffer: sender,
        }));
        Ok(Some(Begin {
            place,
            range: interest.range.clone(),
            after,
            until,
            buffer,
            generation: now_at,
        }))
    }
}

/// The source of watches.
#[derive(Debug)]
pub(super) struct Source(pub(super) Arc<Shared>);

impl WatchSource for Source {
    fn snapshot(&self, requested: RequestedState) -> BoxFuture<'_, Result<Snapshot, StorageError>> {
        Box::pin(async move {
            self.0.until(requested).await?;
            let generation = self.0.state.lock().generation;
            let view = self.0.newest()?;
            Ok(Snapshot {
                revision: view.revision,
                reader: Arc::new(view),
                generation,
            })
        })
    }

    fn head(&self, requested: RequestedState) -> BoxFuture<'_, Result<u64, StorageError>> {
        Box::pin(async move {
            match requested {
                RequestedState::Any => Ok(self.0.newest()?.revision),
                _ => self.0.raw.revision().await,
            }
        })
    }

    fn follow<'a>(
        &'a self,
        interest: &'a Interest,
        after: u64,
        generation: Option<u64>,
    ) -> BoxFuture<'a, Result<Watch, WatchError>> {
        let begun = self.0.register(interest, after, generation);
        Box::pin(async move {
            Ok(match begun? {
                Some(begin) => Watching::start(Arc::clone(&self.0), begin),
                // The cache was rebuilt meanwhile: the watch ends at once.
                None => Watch::new(Ended, || ()),
            })
        })
    }

    fn is_cache(&self) -> bool {
        true
    }

    fn check_ready(&self) -> Result<(), Status> {
        let ready = self.0.readiness();
        ready.map_err(|error| error.to_status(Operation::List, &GroupResource::default(), ""))
    }
}

/// A watch that has ended.
struct Ended;

impl Stream for Ended {
    type Item = Result<WatchBatch, WatchError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(None)
    }
}

/// Returns the retry delay for a cache that has been down for this time, in seconds, as upstream.
fn retry_after(down: Duration) -> i32 {
    const GROWTH: f64 = 0.06;
    #[expect(clippy::cast_possible_truncation, reason = "it is between 1 and 30")]
    let seconds = (GROWTH * down.as_secs_f64()).exp().clamp(1.0, 30.0) as i32;
    seconds
}
