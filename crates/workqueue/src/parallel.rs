//! Runs many pieces of work with a few workers: client-go's `ParallelizeUntil`.
//!
//! Each piece is started at most once, in the order of its number, and at most `workers` run at a
//! time. After the stop none is started, and the running ones are finished. A piece that panics is
//! reported and does not affect the others. It is not a queue: the pieces are known in advance, and
//! nothing is retried.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use tokio::task::JoinSet;

/// The number of pieces and workers.
///
/// ```
/// use kubist_workqueue::Parallel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let squares = |piece: usize| async move {
///     let _square = piece * piece;
/// };
/// let done = Parallel::new(4, 100).run(squares, std::future::pending()).await;
/// assert_eq!((done.finished, done.panicked.len()), (100, 0));
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct Parallel {
    /// The maximum number of concurrent pieces; 0 counts as 1. No more workers are used than there
    /// are chunks.
    pub workers: usize,
    /// The number of pieces, which are numbered from 0.
    pub pieces: usize,
    /// How many pieces a worker takes at a time; 0 counts as 1. Default: 1. Larger chunks cost less
    /// for small pieces, but distribute them less evenly.
    pub chunk_size: usize,
}

/// The result of a parallel run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Finished {
    /// The number of completed pieces.
    pub finished: usize,
    /// The numbers of the pieces that panicked.
    pub panicked: Vec<usize>,
}

impl Parallel {
    /// Runs `pieces` with `workers`, one at a time.
    pub const fn new(workers: usize, pieces: usize) -> Self {
        Self {
            workers,
            pieces,
            chunk_size: 1,
        }
    }

    /// Runs all pieces, or those that were started before `stop` completed. The workers are tasks,
    /// so they use all threads of the runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running pieces.
    pub async fn run<F: Future<Output = ()> + Send>(
        self,
        work: impl Fn(usize) -> F + Send + Sync + 'static,
        stop: impl Future<Output = ()>,
    ) -> Finished {
        let work = move |piece| {
            let done = work(piece);
            async move {
                done.await;
                Ok::<_, Infallible>(())
            }
        };
        match self.try_run(work, stop).await {
            Ok(finished) => finished,
            Err(never) => match never {},
        }
    }

    /// Does the same as [`Self::run`], and the first piece that fails stops the others as `stop`
    /// does.
    ///
    /// # Errors
    ///
    /// The error of that piece.
    pub async fn try_run<E: Send + 'static, F: Future<Output = Result<(), E>> + Send>(
        self,
        work: impl Fn(usize) -> F + Send + Sync + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<Finished, E> {
        let chunk_size = self.chunk_size.max(1);
        let shared = Arc::new(Shared {
            work,
            next_chunk: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            pieces: self.pieces,
            chunk_size,
        });
        let mut workers = JoinSet::new();
        let chunks = self.pieces.div_ceil(chunk_size);
        for _ in 0..self.workers.clamp(1, chunks.max(1)) {
            let shared = Arc::clone(&shared);
            workers.spawn(async move { shared.work().await });
        }
        let mut stop = pin!(stop);
        let mut stopping = false;
        let (mut all, mut first) = (Finished::default(), None);
        loop {
            let ended = poll_fn(|cx| {
                if !stopping && stop.as_mut().poll(cx).is_ready() {
                    stopping = true;
                    shared.stopped.store(true, Ordering::Relaxed);
                }
                workers.poll_join_next(cx)
            });
            // A worker itself does not panic, and only this future can abort it.
            let Some(Ok((finished, error))) = ended.await else {
                break;
            };
            all.finished += finished.finished;
            all.panicked.extend(finished.panicked);
            first = first.or(error);
        }
        all.panicked.sort_unstable();
        first.map_or(Ok(all), Err)
    }
}

struct Shared<W> {
    work: W,
    next_chunk: AtomicUsize,
    stopped: AtomicBool,
    pieces: usize,
    chunk_size: usize,
}

impl<W> Shared<W> {
    /// Runs one worker, chunk by chunk, until no pieces are left or it is stopped.
    async fn work<E, F: Future<Output = Result<(), E>>>(&self) -> (Finished, Option<E>)
    where
        W: Fn(usize) -> F,
    {
        let mut done = Finished::default();
        loop {
            let chunk = self.next_chunk.fetch_add(1, Ordering::Relaxed);
            let begin = chunk.saturating_mul(self.chunk_size);
            if begin >= self.pieces {
                return (done, None);
            }
            for piece in begin..self.pieces.min(begin.saturating_add(self.chunk_size)) {
                if self.stopped.load(Ordering::Relaxed) {
                    return (done, None);
                }
                match caught(async { (self.work)(piece).await }).await {
                    Some(Ok(())) => done.finished += 1,
                    Some(Err(error)) => {
                        self.stopped.store(true, Ordering::Relaxed);
                        return (done, Some(error));
                    }
                    None => done.panicked.push(piece),
                }
            }
        }
    }
}

/// Returns the future's output, or `None` if it panics. The future is dropped then; its author is
/// responsible for shared state.
async fn caught<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        },
    )
    .await
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;
    use tokio::time::sleep;

    const MS: Duration = Duration::from_millis(1);

    /// Runs pieces that take a millisecond; returns the result and the maximum concurrency.
    async fn run(parallel: Parallel, stop: impl Future<Output = ()>) -> (Finished, Vec<u32>, u32) {
        let counts: Arc<Vec<AtomicU32>> =
            Arc::new((0..parallel.pieces).map(|_| AtomicU32::new(0)).collect());
        let (busy, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (seen, peak) = (Arc::clone(&counts), Arc::clone(&most));
        let work = move |piece: usize| {
            let (seen, busy, peak) = (Arc::clone(&seen), Arc::clone(&busy), Arc::clone(&peak));
            async move {
                seen[piece].fetch_add(1, Ordering::SeqCst);
                peak.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(MS).await;
                busy.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let finished = parallel.run(work, stop).await;
        let counts = counts.iter().map(|it| it.load(Ordering::SeqCst)).collect();
        (finished, counts, most.load(Ordering::SeqCst))
    }

    #[tokio::test(start_paused = true)]
    async fn each_piece_is_done_once_by_no_more_workers_than_there_are_chunks() {
        // The table of client-go's test, and edge cases.
        for (workers, pieces, chunk_size, most) in [
            (10, 1000, 1, 10),
            (10, 1000, 10, 10),
            (10, 1000, 100, 10),
            (10, 999, 13, 10),
            (10, 5, 2, 3),
            (0, 3, 0, 1),
            (4, 0, 1, 0),
            (4, 3, usize::MAX, 1),
        ] {
            let parallel = Parallel {
                workers,
                pieces,
                chunk_size,
            };
            let (finished, counts, peak) = run(parallel, std::future::pending()).await;
            assert_eq!(finished.finished, pieces, "{parallel:?}");
            assert!(counts.iter().all(|it| *it == 1), "{parallel:?}");
            assert_eq!(peak, most, "{parallel:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn after_the_stop_no_piece_is_begun_and_those_under_way_are_finished() {
        let parallel = Parallel {
            workers: 2,
            pieces: 100,
            chunk_size: 50,
        };
        let (finished, counts, _) = run(parallel, sleep(MS * 5 / 2)).await;
        assert_eq!(finished.finished, 6);
        assert_eq!(counts.iter().sum::<u32>(), 6);
        let (finished, ..) = run(parallel, std::future::ready(())).await;
        assert_eq!(finished.finished, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_piece_that_panics_is_reported_and_costs_no_other() {
        let work = |piece: usize| async move {
            if piece % 4 == 1 {
                std::panic::resume_unwind(Box::new("on purpose"));
            }
        };
        let done = Parallel::new(3, 10).run(work, std::future::pending()).await;
        assert_eq!((done.finished, done.panicked), (7, vec![1, 5, 9]));
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_error_stops_the_others() {
        let begun = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&begun);
        let work = move |piece: usize| {
            log.lock().push(piece);
            async move {
                sleep(MS).await;
                if piece == 3 { Err("three") } else { Ok(()) }
            }
        };
        let done = Parallel::new(1, 10).try_run(work, std::future::pending());
        assert_eq!(done.await, Err("three"));
        assert_eq!(*begun.lock(), [0, 1, 2, 3]);
    }
}
