//! `Revisions`: the current revision of a store, to be waited for.

use kubist::storage::memory::MemoryKv;
use kubist::storage::{KeyRange, KvWatch as _, Revision, WatchRangeRequest};
use tokio::sync::watch;

/// Follows the revision of a store.
#[derive(Clone, Debug)]
pub(crate) struct Revisions {
    kv: MemoryKv,
    reached: watch::Sender<u64>,
}

impl Revisions {
    pub(crate) fn of(kv: MemoryKv) -> Self {
        let (reached, _) = watch::channel(kv.stats().revision.0);
        Self { kv, reached }
    }

    /// Returns the revision this many before the current one, or the oldest that can be read: a
    /// store that began with a snapshot file has no earlier ones.
    pub(crate) fn before(&self, revisions: u64) -> u64 {
        let stats = self.kv.stats();
        let oldest = stats.compacted.max(Revision::EMPTY_STORE).0;
        stats.revision.0.saturating_sub(revisions).max(oldest)
    }

    /// Waits until the store has reached this revision.
    pub(crate) async fn reach(&self, revision: u64) {
        let mut reached = self.reached.subscribe();
        // The sender lives as long as `self`.
        drop(reached.wait_for(|it| *it >= revision).await);
    }

    /// Tells those who wait. Runs until the store is closed.
    pub(crate) async fn run(self) {
        let next = self.kv.stats().revision.0 + 1;
        let request = WatchRangeRequest::new(KeyRange::all()).from(Revision(next));
        let Ok(mut watch) = self.kv.watch(request).await else {
            return;
        };
        while let Some(Ok(batch)) = watch.next().await {
            self.reached.send_replace(batch.revision.0);
        }
    }
}
