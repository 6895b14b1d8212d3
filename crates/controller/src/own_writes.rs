//! Keys that wait until the cache shows their own writes.
//!
//! A key whose writes the cache does not show yet waits here without a worker, and returns to the
//! queue when they are shown or after a timeout. Writes for which it waited in vain are not waited
//! for again. The reconciler records its writes in a [`WriteLog`].

use crate::Key;
use crate::stats::Shared;
use futures_core::future::BoxFuture;
use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{Lister, WriteLog};
use kubist_workqueue::Work;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// A log of writes and the cache that will show them, with their kinds erased.
pub(crate) trait OwnWrites<Q>: Send + Sync {
    /// Reports whether the cache shows all writes for this key.
    fn are_shown(&self, key: &Q) -> bool;
    /// Waits until it does; false after the timeout.
    fn wait_shown<'a>(&'a self, key: &'a Q, until: Instant) -> BoxFuture<'a, bool>;
    /// Forgets the writes that are not shown.
    fn forget(&self, key: &Q);
}

pub(crate) struct Logged<F, K> {
    pub(crate) lister: Lister<F>,
    pub(crate) log: WriteLog<K>,
}

impl<F: Object, K: 'static> OwnWrites<ObjectName> for Logged<F, K> {
    fn are_shown(&self, key: &ObjectName) -> bool {
        self.log.unseen_of(&self.lister, key).is_empty()
    }

    fn wait_shown<'a>(&'a self, key: &'a ObjectName, until: Instant) -> BoxFuture<'a, bool> {
        let wait = self.log.wait_for_key(&self.lister, key, sleep_until(until));
        Box::pin(async move { wait.await.is_ok() })
    }

    fn forget(&self, key: &ObjectName) {
        for written in self.log.unseen_of(&self.lister, key) {
            self.log.forget(&written);
        }
    }
}

/// The waiting keys. Dropping it ends their tasks.
pub(crate) struct PendingKeys<Q> {
    pub(crate) own_writes: Arc<[Box<dyn OwnWrites<Q>>]>,
    pub(crate) timeout: Duration,
    /// One task per waiting key, so no more than there are keys in the queue.
    waiting: Mutex<JoinSet<()>>,
}

impl<Q: Key> PendingKeys<Q> {
    pub(crate) fn new(own_writes: Vec<Box<dyn OwnWrites<Q>>>, timeout: Duration) -> Self {
        Self {
            own_writes: own_writes.into(),
            timeout,
            waiting: Mutex::default(),
        }
    }

    /// Returns the work if it can start; otherwise it returns through the queue.
    pub(crate) fn admit(&self, shared: &Arc<Shared<Q>>, work: Work<Q>) -> Option<Work<Q>> {
        if self.own_writes.iter().all(|it| it.are_shown(&work)) {
            return Some(work);
        }
        shared.counts.lock().own_writes_waits += 1;
        let (own_writes, shared) = (Arc::clone(&self.own_writes), Arc::clone(shared));
        let until = Instant::now() + self.timeout;
        let mut waiting = self.waiting.lock();
        while waiting.try_join_next().is_some() {}
        waiting.spawn(async move {
            let mut in_time = true;
            for it in own_writes.iter() {
                if !it.wait_shown(&work, until).await {
                    it.forget(&work);
                    in_time = false;
                }
            }
            if !in_time {
                shared.counts.lock().own_writes_overdue += 1;
                tracing::warn!(controller = %shared.name, key = %*work, "the cache did not show own writes in time");
            }
            work.postpone(Duration::ZERO);
        });
        None
    }
}
