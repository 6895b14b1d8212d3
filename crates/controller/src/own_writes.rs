//! Own writes that must be seen before a name is reconciled again.
//!
//! A name whose writes the cache does not show yet waits here, outside of any worker, and goes
//! back into the queue when they are shown or the time is up: it never waits for ever, and the
//! writes that it waited for in vain are not waited for again. What was written for which name is
//! the reconciler's to record, in a [`WriteLog`].

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

/// A log of writes, and the cache in which they will be seen; the kinds are forgotten.
pub(crate) trait OwnWrites: Send + Sync {
    /// Whether the cache shows everything that was written for this name.
    fn are_shown(&self, key: &ObjectName) -> bool;
    /// Waits until it does; false if it does not in time.
    fn shown<'a>(&'a self, key: &'a ObjectName, until: Instant) -> BoxFuture<'a, bool>;
    /// Waits no more for what is not shown now.
    fn give_up(&self, key: &ObjectName);
}

pub(crate) struct Logged<F, K> {
    pub(crate) lister: Lister<F>,
    pub(crate) log: WriteLog<K>,
}

impl<F: Object, K: 'static> OwnWrites for Logged<F, K> {
    fn are_shown(&self, key: &ObjectName) -> bool {
        self.log.unseen_of(&self.lister, key).is_empty()
    }

    fn shown<'a>(&'a self, key: &'a ObjectName, until: Instant) -> BoxFuture<'a, bool> {
        let wait = self.log.wait_for_key(&self.lister, key, sleep_until(until));
        Box::pin(async move { wait.await.is_ok() })
    }

    fn give_up(&self, key: &ObjectName) {
        for written in self.log.unseen_of(&self.lister, key) {
            self.log.forget(&written);
        }
    }
}

/// Where names wait. Dropping it ends the waiting.
pub(crate) struct WaitingRoom {
    pub(crate) own_writes: Arc<[Box<dyn OwnWrites>]>,
    pub(crate) timeout: Duration,
    /// One task for each name that waits: no more than there are names in the queue.
    waiting: Mutex<JoinSet<()>>,
}

impl WaitingRoom {
    pub(crate) fn new(own_writes: Vec<Box<dyn OwnWrites>>, timeout: Duration) -> Self {
        Self {
            own_writes: own_writes.into(),
            timeout,
            waiting: Mutex::default(),
        }
    }

    /// Gives the work back if it can begin; otherwise it comes back through the queue.
    pub(crate) fn admit(
        &self,
        shared: &Arc<Shared>,
        work: Work<ObjectName>,
    ) -> Option<Work<ObjectName>> {
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
                if !it.shown(&work, until).await {
                    it.give_up(&work);
                    in_time = false;
                }
            }
            if !in_time {
                shared.counts.lock().own_writes_overdue += 1;
                tracing::warn!(controller = %shared.name, key = %*work, "own writes not seen in time");
            }
            work.postpone(Duration::ZERO);
        });
        None
    }
}
