//! The loop that keeps a cache up to date: lists, then watches, and repeats after a failure.

use super::Shared;
use super::state::Content;
use super::time_budget::TimeBudget;
use crate::storage::Storage;
use crate::storage::error::StorageError;
use kubist_storage::memory::Tree;
use kubist_storage::{Event, RangeRequest, Revision, Watch, WatchBatch, WatchRangeRequest};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::time::{Instant, sleep};

/// The page size of the list, as upstream.
const PAGE: usize = 10_000;

/// Runs the loop; never returns.
pub(super) async fn run(shared: &Shared) {
    loop {
        // The cause of the failure does not matter: the cache is rebuilt.
        drop(follow(shared).await);
        shared.stop();
        sleep(shared.config.restart_after).await;
    }
}

async fn follow(shared: &Shared) -> Result<(), StorageError> {
    let (tree, revision) = list(shared).await?;
    let request =
        WatchRangeRequest::new(shared.raw.keys().range("")).from(Revision(revision).next());
    let mut watch = shared.raw.kv.watch(request).await?;
    shared.begin(tree, revision);
    let mut budget = TimeBudget::new(Instant::now());
    let mut requested = Instant::now();
    loop {
        tokio::select! {
            biased;
            batch = watch.next() => match batch {
                None => return Ok(()),
                Some(batch) => take_batch(shared, batch?, &mut budget).await,
            },
            () = shared.freshness.due(requested, shared.config.progress_every) => {
                requested = Instant::now();
                request_progress(shared, &watch);
            }
        }
    }
}

fn request_progress(shared: &Shared, watch: &Watch) {
    shared.freshness.record_request();
    watch.request_progress();
}

async fn take_batch(shared: &Shared, batch: WatchBatch, budget: &mut TimeBudget) {
    shared.raw.codec.metrics().delivered(batch.events.len());
    let same = |a: &Arc<Event>, b: &Arc<Event>| a.revision == b.revision;
    for events in batch.events.chunk_by(same) {
        shared.take(events, budget).await;
    }
    let revision = batch.revision.0;
    if let Some(content) = &mut shared.state.lock().content {
        content.reached(revision);
    }
    shared.freshness.reach(revision);
    shared.dispatched.store(revision, Ordering::Release);
    shared.freshness.record_answer();
}

/// Lists all objects in one snapshot.
async fn list(shared: &Shared) -> Result<(Tree, u64), StorageError> {
    let mut tree = Tree::default();
    let mut range = shared.raw.keys().range("");
    let mut at = None;
    loop {
        let request = RangeRequest {
            range: range.clone(),
            at,
            limit: Some(PAGE),
        };
        let page = shared.raw.kv.range(request).await?;
        let revision = *at.get_or_insert(page.revision);
        let last = page.kvs.last().map(|kv| kv.key.clone());
        for kv in page.kvs {
            tree.insert(kv);
        }
        match last {
            Some(last) if page.more => {
                let mut next = last.to_vec();
                next.push(0);
                range = range.resumed_at(next);
            }
            _ => return Ok((tree, revision.0)),
        }
    }
}

impl Shared {
    fn begin(&self, tree: Tree, revision: u64) {
        let content = Content::new(tree, revision, self.config.history);
        {
            let mut state = self.state.lock();
            if state.closed {
                return;
            }
            state.content = Some(content);
            state.trusted = true;
        }
        self.counted().initializations.add(1);
        self.dispatched.store(revision, Ordering::Release);
        self.freshness.reach(revision);
        self.ready.send_replace(true);
    }

    /// Ends all watches: the events that they would miss are unknown.
    pub(super) fn stop(&self) {
        self.ready.send_replace(false);
        let (watchers, content) = {
            let mut state = self.state.lock();
            if state.content.is_some() {
                state.down_since = Instant::now();
                state.generation += 1;
            }
            (state.watchers.clear(), state.content.take())
        };
        drop((watchers, content));
    }
}
