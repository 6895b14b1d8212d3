//! Starting, waiting for and stopping the informers of a factory.

use super::SharedInformerFactory;
use super::entry::{Erased, Key};
use crate::{InformerState, InformerStats, SyncError};
use kubist_apimachinery::Str;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One informer of a factory, as its name, state and figures.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InformerSummary {
    /// The kind, and the selection if there is one.
    pub name: Str,
    /// Where it stands.
    pub state: InformerState,
    /// What it has done, and what it holds.
    pub stats: InformerStats,
}

/// How the first list of one informer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncResult {
    /// The informer's name.
    pub name: Str,
    /// [`InformerState::Synced`], [`InformerState::NotServed`], [`InformerState::Stopped`], or
    /// [`InformerState::Created`] if nobody runs it.
    pub state: InformerState,
    /// What keeps it from listing or watching, if anything does.
    pub problem: Option<Str>,
}

/// Informers whose first list will not be complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no first list: {}", .informers.iter().map(|it| format!("{}: {}", it.name, it.error)).collect::<Vec<_>>().join(", "))]
pub struct NotSynced {
    /// Which, and why.
    pub informers: Vec<Unsynced>,
}

/// An informer whose first list will not be complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsynced {
    /// Its name.
    pub name: Str,
    /// Why.
    pub error: SyncError,
}

impl<S: Send + Sync + 'static> SharedInformerFactory<S> {
    /// Runs every informer that is not running yet, in tasks that the factory owns. To be called
    /// again after further informers were asked for. After [`Self::shutdown`] it does nothing.
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
            // A child, so that the informer ends with the factory and with nothing else.
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

    /// Waits until each informer that was asked for so far has its first list.
    ///
    /// It waits for a kind that the server does not serve, too; [`Self::sync_results`] does not.
    ///
    /// # Errors
    /// Some stopped before, or nobody runs them: [`Self::start`] was forgotten.
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

    /// Waits until it is known of each informer that was asked for so far how its first list
    /// stands, and says so.
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

    /// Starts, waits until `token` is cancelled, and shuts down: a factory as one future.
    pub async fn run(&self, token: CancellationToken) {
        self.start();
        token.cancelled().await;
        self.shutdown().await;
    }

    /// Stops all informers and waits until they have. They cannot be started again.
    pub async fn shutdown(&self) {
        self.inner.token.cancel();
        let mut tasks = std::mem::take(&mut *self.inner.tasks.lock());
        while tasks.join_next().await.is_some() {}
    }

    /// Each informer's state and figures.
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

/// Runs until the token is cancelled, or nobody has used the informer for so long: then true.
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
        () = &mut run => return false,
        () = unused => {}
    }
    token.cancel();
    run.await;
    true
}

/// Forgets an informer that was given up, unless another has taken its place.
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
