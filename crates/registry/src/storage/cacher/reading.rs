//! How requests read a cache: the newest state, one of the past, or what follows one.

use super::delegation::{self, Answers};
use super::watching::{Begin, Watching};
use super::{Shared, ring, watchers};
use crate::metrics::CacheMetrics;
use crate::storage::error::{Operation, StorageError};
use crate::storage::reader::{Interest, Reader, Snapshot, Wanted, WatchSource};
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

/// One state of a cache.
#[derive(Debug)]
pub(super) struct View {
    pub(super) tree: Tree,
    pub(super) revision: u64,
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

    /// Whether it can be learnt how far the cache is. An engine that is elsewhere may not have said
    /// so yet, and may never; once it has, it is believed, also while a part of it is away.
    pub(super) fn learns_progress(&self) -> bool {
        if self.progress_seen.load(Ordering::Relaxed) {
            return true;
        }
        let answers = self.raw.kv.supports_progress_requests();
        self.progress_seen.fetch_or(answers, Ordering::Relaxed);
        answers
    }

    pub(super) async fn wait_fresh(&self, revision: u64) -> Result<(), StorageError> {
        let begun = Instant::now();
        let waited = self.freshness.wait(revision, self.config.fresh_within);
        let waited = waited.await;
        self.counted().read_wait.observe(begun.elapsed());
        waited
    }

    /// What is counted.
    pub(super) fn counted(&self) -> &CacheMetrics {
        &self.raw.codec.metrics().cache
    }

    /// Whether reads that need not go to storage are answered here.
    pub(super) fn answers_reads(&self) -> bool {
        let state = self.state.lock();
        state.content.is_some() && state.trusted
    }

    /// What the cache has under a key.
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

    /// What a write may begin with; none is as good.
    pub(super) fn suggestion(&self, key: &str) -> Option<Stored> {
        self.cached(key).ok().flatten()
    }

    /// The state that answers a list; None if storage does.
    pub(super) async fn view(
        &self,
        answers: Answers,
        request: &ListRequest<'_>,
    ) -> Result<Option<View>, StorageError> {
        if let Err(error) = self.readiness() {
            return if delegation::without_cache(answers, request) {
                Ok(None)
            } else {
                Err(error)
            };
        }
        if !self.is_trusted() || (answers != Answers::Any && !self.learns_progress()) {
            return Ok(None);
        }
        match answers {
            Answers::Storage => Ok(None),
            Answers::Any => self.newest().map(Some),
            Answers::NotOlderThan(revision) => {
                self.wait_fresh(revision).await?;
                self.newest().map(Some)
            }
            Answers::MostRecent => {
                let head = self.raw.revision().await?;
                if self.wait_fresh(head).await.is_ok() {
                    return self.newest().map(Some);
                }
                // The cache is too far behind; storage is not.
                Ok(None)
            }
            Answers::Exact(revision) => {
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
            });
        }
        drop(state);
        Err(StorageError::NotReady { retry_after: 1 })
    }

    /// The state at a revision, unless storage has given it up, or the cache does not have it.
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
        })
    }

    async fn until(&self, wanted: Wanted) -> Result<(), StorageError> {
        match wanted {
            Wanted::Any => Ok(()),
            Wanted::MostRecent => {
                let head = self.raw.revision().await?;
                self.wait_fresh(head).await
            }
            Wanted::NotOlderThan(revision) => self.wait_fresh(revision).await,
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

/// What watches read.
#[derive(Debug)]
pub(super) struct Source(pub(super) Arc<Shared>);

impl WatchSource for Source {
    fn snapshot(&self, wanted: Wanted) -> BoxFuture<'_, Result<Snapshot, StorageError>> {
        Box::pin(async move {
            self.0.until(wanted).await?;
            let generation = self.0.state.lock().generation;
            let view = self.0.newest()?;
            Ok(Snapshot {
                revision: view.revision,
                reader: Arc::new(view),
                generation,
            })
        })
    }

    fn head(&self, wanted: Wanted) -> BoxFuture<'_, Result<u64, StorageError>> {
        Box::pin(async move {
            match wanted {
                Wanted::Any => Ok(self.0.newest()?.revision),
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
                // The cache began anew in between: the watch ends at once.
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

/// A watch that is over.
struct Ended;

impl Stream for Ended {
    type Item = Result<WatchBatch, WatchError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(None)
    }
}

/// When to ask again a cache that has been down for so long, in seconds, as upstream.
fn retry_after(down: Duration) -> i32 {
    const GROWTH: f64 = 0.06;
    #[expect(clippy::cast_possible_truncation, reason = "it is between 1 and 30")]
    let seconds = (GROWTH * down.as_secs_f64()).exp().clamp(1.0, 30.0) as i32;
    seconds
}
