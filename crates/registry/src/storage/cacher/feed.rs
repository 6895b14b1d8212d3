//! The loop that keeps a cache up to date: lists, then watches, and repeats after a failure.

use super::Shared;
use super::recall::Recall;
use super::state::Content;
use super::time_budget::TimeBudget;
use crate::storage::Storage;
use crate::storage::error::StorageError;
use kubist_storage::memory::Tree;
use kubist_storage::{
    Event, RangeRequest, Revision, Watch, WatchBatch, WatchError, WatchRangeRequest,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// The page size of the list, as upstream.
const PAGE: usize = 10_000;
/// How long a cache that begins waits for the events before its list.
const RECALL_MAX: Duration = Duration::from_secs(1);
/// The time between two requests of progress meanwhile: an etcd catches up every 100 ms.
const ASK_AGAIN: Duration = Duration::from_millis(50);

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
    let (mut watch, past) = begin_watch(shared, revision).await?;
    shared.begin(tree, revision, past);
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

/// Watches from the list on. The events before it are taken first, if they come in time.
async fn begin_watch(shared: &Shared, list: u64) -> Result<(Watch, Option<Recall>), StorageError> {
    let until = Instant::now() + RECALL_MAX;
    let mut recall = Recall::before(list);
    while let Some(past) = recall.take() {
        let after = Revision(past.begun_at()).next();
        let request = WatchRangeRequest::new(shared.raw.keys().range("")).from(after);
        // Only here: the cache knows the state before what comes after its list.
        let mut watch = shared.raw.kv.watch(request.previous()).await?;
        match timeout_at(until, recalled(past, &mut watch)).await {
            Ok(Recalled::All(past)) => {
                return Ok((watch_after(shared, list).await?, Some(past)));
            }
            Ok(Recalled::Compacted(to)) => recall = Recall::after(to, list),
            Ok(Recalled::Failed) | Err(_) => {}
        }
    }
    Ok((watch_after(shared, list).await?, None))
}

async fn watch_after(shared: &Shared, revision: u64) -> Result<Watch, StorageError> {
    let after = Revision(revision).next();
    let request = WatchRangeRequest::new(shared.raw.keys().range("")).from(after);
    Ok(shared.raw.kv.watch(request).await?)
}

/// How it ended to recall events.
enum Recalled {
    /// All are here.
    All(Recall),
    /// There is nothing before this revision.
    Compacted(u64),
    /// The watch failed.
    Failed,
}

/// Takes the events before the list from a watch.
async fn recalled(mut past: Recall, watch: &mut Watch) -> Recalled {
    loop {
        // The answer tells that all is there, even if it is nothing. An etcd answers only once the
        // watch has caught up, and does not say that it has not.
        watch.request_progress();
        let Ok(batch) = timeout(ASK_AGAIN, watch.next()).await else {
            continue;
        };
        let batch = match batch {
            Some(Ok(batch)) => batch,
            Some(Err(WatchError::Compacted { compacted, .. })) => {
                return Recalled::Compacted(compacted.0);
            }
            Some(Err(_)) | None => return Recalled::Failed,
        };
        let list = past.until();
        let split = batch.events.partition_point(|it| it.revision.0 <= list);
        past.take(batch.events.get(..split).unwrap_or_default());
        if batch.revision.0 >= list {
            return Recalled::All(past);
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
    fn begin(&self, tree: Tree, revision: u64, past: Option<Recall>) {
        let mut content = Content::new(tree, revision, self.config.history);
        if let Some(past) = past {
            content.recall(past.into_events(), Instant::now());
        }
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
