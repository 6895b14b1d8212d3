//! One run of a controller: wait for the informers, run the workers, stop.

use crate::event_source::Attached;
use crate::own_writes::PendingKeys;
use crate::run_error::RunError;
use crate::stats::Shared;
use crate::worker::Worker;
use crate::{Key, Reconciler};
use futures_util::future::{join_all, select_all};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

pub(crate) struct Run<Q> {
    pub(crate) shared: Arc<Shared<Q>>,
    /// The handlers, removed when this is dropped.
    pub(crate) attached: Vec<Box<dyn Attached>>,
    pub(crate) pending: Arc<PendingKeys<Q>>,
    pub(crate) workers: usize,
    pub(crate) sync_timeout: Option<Duration>,
    pub(crate) reconcile_timeout: Option<Duration>,
    pub(crate) stop_timeout: Duration,
}

impl<Q: Key> Run<Q> {
    pub(crate) async fn until(
        &self,
        reconciler: impl Reconciler<Q>,
        token: CancellationToken,
    ) -> Result<(), RunError> {
        tokio::select! {
            biased;
            () = token.cancelled() => return Ok(()),
            synced = self.sync() => synced?,
        }
        // A child token, so that the workers also stop when an informer does.
        let token = token.child_token();
        let mut workers = self.start(reconciler, &token);
        let result = tokio::select! {
            biased;
            () = token.cancelled() => Ok(()),
            error = self.informer_stopped() => Err(error),
            Some(Err(_)) = workers.join_next() => Err(self.worker_panicked()),
        };
        token.cancel();
        result.and(self.stop(workers).await)
    }

    async fn sync(&self) -> Result<(), RunError> {
        let waits = self.attached.iter().map(|it| self.sync_with(&**it));
        join_all(waits).await.into_iter().collect()
    }

    async fn sync_with(&self, attached: &dyn Attached) -> Result<(), RunError> {
        let (controller, informer) = (self.shared.name.clone(), attached.informer().clone());
        let synced = async {
            if !attached.started().await {
                return Err(RunError::InformerNotStarted {
                    controller: controller.clone(),
                    informer: informer.clone(),
                });
            }
            if attached.synced().await {
                return Ok(());
            }
            Err(RunError::InformerStopped {
                controller: controller.clone(),
                informer: informer.clone(),
                problem: attached.problem(),
            })
        };
        let Some(limit) = self.sync_timeout else {
            return synced.await;
        };
        match timeout(limit, synced).await {
            Ok(synced) => synced,
            Err(_) => Err(RunError::SyncTimeout {
                controller,
                informer,
                waited: limit,
                problem: attached.problem(),
            }),
        }
    }

    fn start(&self, reconciler: impl Reconciler<Q>, token: &CancellationToken) -> JoinSet<()> {
        let reconciler = Arc::new(reconciler);
        let mut workers = JoinSet::new();
        for _ in 0..self.workers {
            let worker = Worker {
                shared: Arc::clone(&self.shared),
                reconciler: Arc::clone(&reconciler),
                pending: Arc::clone(&self.pending),
                timeout: self.reconcile_timeout,
                token: token.clone(),
            };
            workers.spawn(worker.run());
        }
        workers
    }

    async fn informer_stopped(&self) -> RunError {
        let ((), index, _) = select_all(self.attached.iter().map(|it| it.ended())).await;
        RunError::InformerStopped {
            controller: self.shared.name.clone(),
            informer: self.attached[index].informer().clone(),
            problem: self.attached[index].problem(),
        }
    }

    /// Waits for the workers until the stop timeout.
    async fn stop(&self, mut workers: JoinSet<()>) -> Result<(), RunError> {
        let patience = sleep(self.stop_timeout);
        tokio::pin!(patience);
        let mut result = Ok(());
        loop {
            tokio::select! {
                biased;
                ended = workers.join_next() => match ended {
                    None => return result,
                    Some(Ok(())) => {}
                    Some(Err(_)) => result = Err(self.worker_panicked()),
                },
                () = &mut patience => {
                    workers.shutdown().await;
                    return result;
                }
            }
        }
    }

    fn worker_panicked(&self) -> RunError {
        RunError::WorkerPanicked {
            controller: self.shared.name.clone(),
        }
    }
}
