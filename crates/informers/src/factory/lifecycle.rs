//! Starts, stops and waits for the informers of a factory.

use super::SharedInformerFactory;
use super::entry::{Erased, Key};
use crate::{InformerState, InformerStats, SyncError};
use kubist_apimachinery::Str;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The name, state and figures of one informer of a factory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InformerSummary {
    /// The kind, and the selection if there is one.
    pub name: Str,
    /// The state.
    pub state: InformerState,
    /// The figures.
    pub stats: InformerStats,
}

/// The state of one informer's first list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncResult {
    /// The informer's name.
    pub name: Str,
    /// [`InformerState::Synced`], [`InformerState::NotServed`], [`InformerState::Stopped`], or
    /// [`InformerState::Created`] if nobody runs it.
    pub state: InformerState,
    /// The problem that prevents it from listing or watching, if any.
    pub problem: Option<Str>,
}

/// The first lists of some informers will not be complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no first list: {}", .informers.iter().map(|it| format!("{}: {}", it.name, it.error)).collect::<Vec<_>>().join(", "))]
pub struct NotSynced {
    /// The informers and the reasons.
    pub informers: Vec<Unsynced>,
}

/// An informer whose first list will not be complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsynced {
    /// The informer's name.
    pub name: Str,
    /// The reason.
    pub error: SyncError,
}

impl<S: Send + Sync + 'static> SharedInformerFactory<S> {
    /// Runs every informer that is not running yet, in tasks that the factory owns. Call it again
    /// after requesting further informers. After [`Self::shutdown`] it has no effect.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self) {
        if self.inner.token.is_cancelled() {
            return;
        }
        let mut tasks = self.inner.tasks.lock();
        while tasks.try_join_next().is_some() {}
        for (key, entry) in self.inner.informers.lock().iter_mut() {
            if std::mem::replace(&mut entry.started, true) {
                continue;
            }
            // A child token, so that the informer ends with the factory and not vice versa.
            let token = self.inner.token.child_token();
            let informer = Arc::clone(&entry.erased);
            let (key, factory) = (key.clone(), Arc::downgrade(&self.inner));
            let unused_after = self.inner.config.unused_after;
            tasks.spawn(async move {
                let given_up = run_while_used(&informer, token, unused_after).await;
                if let Some(factory) = factory.upgrade().filter(|_| given_up) {
                    forget(&factory.informers, &key, &informer);
                }
            });
        }
    }

    /// Waits until every informer requested so far has completed its first list.
    ///
    /// It also waits for kinds that the server does not serve; [`Self::sync_results`] does not.
    ///
    /// # Errors
    /// Some informers stopped first, or nobody runs them because [`Self::start`] was not called.
    pub async fn wait_for_sync(&self) -> Result<(), NotSynced> {
        let mut informers = Vec::new();
        for informer in self.all() {
            if let Err(error) = Arc::clone(&informer).synced().await {
                informers.push(Unsynced {
                    name: informer.name(),
                    error,
                });
            }
        }
        if informers.is_empty() {
            Ok(())
        } else {
            Err(NotSynced { informers })
        }
    }

    /// Waits until the outcome of the first list is known for every informer requested so far, and
    /// returns the outcomes.
    pub async fn sync_results(&self) -> Vec<SyncResult> {
        let mut results = Vec::new();
        for informer in self.all() {
            results.push(SyncResult {
                name: informer.name(),
                state: Arc::clone(&informer).settled().await,
                problem: informer.last_problem(),
            });
        }
        results
    }

    /// Starts the informers, waits until `token` is cancelled, and shuts down.
    pub async fn run(&self, token: CancellationToken) {
        self.start();
        token.cancelled().await;
        self.shutdown().await;
    }

    /// Stops all informers and waits for them. They cannot be started again.
    pub async fn shutdown(&self) {
        self.inner.token.cancel();
        let mut tasks = std::mem::take(&mut *self.inner.tasks.lock());
        while tasks.join_next().await.is_some() {}
    }

    /// Returns the state and figures of each informer.
    pub fn summary(&self) -> Vec<InformerSummary> {
        let summary = |it: Arc<dyn Erased>| InformerSummary {
            name: it.name(),
            state: it.state(),
            stats: it.stats(),
        };
        self.all().into_iter().map(summary).collect()
    }

    fn all(&self) -> Vec<Arc<dyn Erased>> {
        let informers = self.inner.informers.lock();
        informers
            .values()
            .map(|it| Arc::clone(&it.erased))
            .collect()
    }
}

/// Runs until the token is cancelled or the informer has been unused for the given time; returns
/// true in the latter case.
async fn run_while_used(
    informer: &Arc<dyn Erased>,
    token: CancellationToken,
    unused_after: Option<Duration>,
) -> bool {
    let run = Arc::clone(informer).run(token.clone());
    let Some(unused_after) = unused_after else {
        run.await;
        return false;
    };
    let mut run = std::pin::pin!(run);
    let unused = async {
        loop {
            let made = Arc::clone(informer).unused().await;
            tokio::time::sleep(unused_after).await;
            if informer.retire(made) {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        () = &mut run => return false,
        () = unused => {}
    }
    token.cancel();
    run.await;
    true
}

/// Removes an informer that was stopped, unless another has replaced it.
fn forget(
    informers: &parking_lot::Mutex<std::collections::BTreeMap<Key, super::Entry>>,
    key: &Key,
    informer: &Arc<dyn Erased>,
) {
    let mut informers = informers.lock();
    let is_same = informers
        .get(key)
        .is_some_and(|it| Arc::ptr_eq(&it.erased, informer));
    let forgotten = if is_same { informers.remove(key) } else { None };
    drop(informers);
    drop(forgotten);
}
