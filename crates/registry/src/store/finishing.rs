//! `Finishing`: a sequence of writes that has begun goes on to its end, whoever still waits for it.
//!
//! Dropping a future cancels a request. One that has taken an address, and has not stored its
//! service or has stored it and not said so, may not end there: nobody would give back what it has
//! taken. So such work runs as a task, which the request only waits for.

use kubist_apimachinery::Status;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;

/// Pieces of work that are under way at most: more than requests may be in flight, so that it is
/// those that nobody waits for any more which fill it.
const AT_ONCE_MAX: usize = 1024;

/// Runs work to its end, as long as the runtime lives. A clone is another handle.
#[derive(Clone, Debug)]
pub struct Finishing(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tasks: Mutex<JoinSet<()>>,
    places: Arc<Semaphore>,
}

/// A place for one piece of work; free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Default for Finishing {
    fn default() -> Self {
        Self(Arc::new(Inner {
            tasks: Mutex::default(),
            places: Arc::new(Semaphore::new(AT_ONCE_MAX)),
        }))
    }
}

impl Finishing {
    /// Waits for a place. Those who wait are served in turn.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped; the turn is lost.
    pub async fn place(&self) -> Result<Place, Status> {
        let permit = Arc::clone(&self.0.places).acquire_owned().await;
        let permit = permit.map_err(Status::internal_error)?;
        Ok(Place { _permit: permit })
    }

    /// Runs work, and waits for it. It holds a [place](Self::place) as long as it needs one. An
    /// error if it did not come to its end: it has panicked, or the server ends.
    ///
    /// # Cancel safety
    ///
    /// Once it was polled, dropping it only gives up the waiting. What the work comes to is dropped
    /// then.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Status> {
        let (done, result) = oneshot::channel();
        self.finish(async move {
            // Nobody may be waiting any more.
            drop(done.send(work.await));
        });
        let ended = |_| Status::internal_error("the write did not come to its end");
        result.await.map_err(ended)
    }

    /// Runs work that nobody waits for. It belongs to work that has, or had, a place. Without a
    /// runtime, which only the end of a process is, it does not run.
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
    async fn work_comes_to_its_end_though_nobody_waits() {
        let finishing = Finishing::default();
        let (done, result) = oneshot::channel();
        let place = finishing.place().await.expect("there is room");
        let work = finishing.run(async move {
            sleep(SOON * 2).await;
            drop((place, done.send(())));
        });
        assert!(timeout(SOON, work).await.is_err(), "it was given up");
        result.await.expect("it is done all the same");
    }

    #[tokio::test(start_paused = true)]
    async fn so_much_is_under_way_and_no_more() {
        let finishing = Finishing::default();
        for _ in 0..AT_ONCE_MAX {
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
        assert!(tasks.len() <= 1, "what is done is forgotten");
    }
}
