//! `Finishing`: runs a started sequence of writes to completion, even if the request is dropped.
//!
//! Dropping a future cancels a request. A request that has allocated an address must not stop
//! before its service is stored, or before the result is reported: the address would never be
//! released. So this work runs in a task, and the request only waits for it.

use kubist_apimachinery::Status;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;

/// The maximum of concurrent work items. It exceeds the limit of requests in flight, so that only
/// abandoned work can fill it.
const CONCURRENT_MAX: usize = 1024;

/// Runs work to completion, as long as the runtime lives. A clone is another handle.
#[derive(Clone, Debug)]
pub struct Finishing(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tasks: Mutex<JoinSet<()>>,
    places: Arc<Semaphore>,
}

/// A place for one work item; released on drop.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Default for Finishing {
    fn default() -> Self {
        Self(Arc::new(Inner {
            tasks: Mutex::default(),
            places: Arc::new(Semaphore::new(CONCURRENT_MAX)),
        }))
    }
}

impl Finishing {
    /// Waits for a place. Waiters are served in order.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped; the position in the queue is lost.
    pub async fn place(&self) -> Result<Place, Status> {
        let permit = Arc::clone(&self.0.places).acquire_owned().await;
        let permit = permit.map_err(Status::internal_error)?;
        Ok(Place { _permit: permit })
    }

    /// Runs work in a task and waits for its result. The work holds its [place](Self::place) for as
    /// long as it needs. Returns an error if the work did not complete: it panicked, or the server
    /// is shutting down.
    ///
    /// # Cancel safety
    ///
    /// After the first poll, dropping the future only stops the waiting. The work goes on.
    /// Its result is dropped.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Status> {
        let (done, result) = oneshot::channel();
        self.finish(async move {
            // The request may have been dropped.
            drop(done.send(work.await));
        });
        let ended = |_| Status::internal_error("the write was aborted");
        result.await.map_err(ended)
    }

    /// Runs work in a task without waiting for it. It belongs to work that has, or had, a place.
    /// Without a runtime, that is during process shutdown, it does not run.
    pub fn finish(&self, work: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let mut tasks = self.0.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(work, &runtime);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::{sleep, timeout};

    const SOON: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn work_completes_even_if_the_request_is_dropped() {
        let finishing = Finishing::default();
        let (done, result) = oneshot::channel();
        let place = finishing.place().await.expect("there is room");
        let work = finishing.run(async move {
            sleep(SOON * 2).await;
            drop((place, done.send(())));
        });
        assert!(timeout(SOON, work).await.is_err(), "it was cancelled");
        result.await.expect("it is done all the same");
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_work_is_limited() {
        let finishing = Finishing::default();
        for _ in 0..CONCURRENT_MAX {
            let place = finishing.place().await.expect("there is room");
            let work = finishing.run(async move {
                sleep(SOON * 10_000).await;
                drop(place);
            });
            assert!(timeout(SOON, work).await.is_err());
        }
        assert!(timeout(SOON, finishing.place()).await.is_err());
        sleep(SOON * 20_000).await;
        finishing.place().await.expect("there is room again");
        finishing.finish(async {});
        let tasks = finishing.0.tasks.lock();
        assert!(tasks.len() <= 1, "completed tasks are removed");
    }
}
