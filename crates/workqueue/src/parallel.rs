//! Many pieces of work at once, by a few workers: client-go's `ParallelizeUntil`.
//!
//! Promises: each piece is begun at most once, in the order of its number; no more than `workers`
//! are under way; none is begun after the stop, and those under way are finished; a piece that
//! panics is reported and costs no other. It is not a queue: the pieces are known beforehand and
//! nothing is tried again.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use tokio::task::JoinSet;

/// How much is to be done, and by how many.
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
    /// Pieces under way at most; 0 counts as 1, and no more than there are chunks are used.
    pub workers: usize,
    /// How many there are. Their numbers begin at 0.
    pub pieces: usize,
    /// How many pieces a worker takes at a time; 0 counts as 1. Default: 1. More of them cost
    /// less when pieces are small, and share them out less evenly.
    pub chunk_size: usize,
}

/// What has been done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Finished {
    /// Pieces that came to their end.
    pub finished: usize,
    /// Pieces that panicked, by number.
    pub panicked: Vec<usize>,
}

impl Parallel {
    /// `pieces` by `workers`, one at a time.
    pub const fn new(workers: usize, pieces: usize) -> Self {
        Self {
            workers,
            pieces,
            chunk_size: 1,
        }
    }

    /// Does all pieces, or those that were begun before `stop` was ready. The workers are tasks,
    /// so they run on as many threads as the runtime has.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what is under way.
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

    /// As [`Self::run`], and the first piece that fails stops the others as `stop` does.
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
            // A worker itself cannot panic, and nobody else can end it.
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
    /// One worker: chunk by chunk until there are none, or the stop.
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

/// What the future gives, or nothing if it panics. It is dropped then; what it shares with others
/// is its author's affair.
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

    /// Runs with pieces that take a millisecond; gives what was done, and most at once.
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
        // The table of client-go's test, and the edges.
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
    async fn a_piece_that_panics_is_told_and_costs_no_other() {
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
