//! `CpuBound`: runs CPU-bound requests beside the threads that serve everybody else.
//!
//! Decoding, validating and encoding a body of several megabytes takes long and can hardly yield.
//! Such a request is polled in `block_in_place`, on a thread that has handed its other tasks over.
//! Fewer run at a time than there are processors. The others wait for a slot without a thread, so
//! their deadlines still apply, and a client that disconnects is forgotten. A slot is held for one
//! poll: a request that is pending releases it. On a single-threaded runtime, as in simulations,
//! everything is polled in place.

mod slots;

use slots::{Slots, Turn};
use std::num::NonZero;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// The CPU-bound work of this process, for all its servers: they share the processors.
static SLOTS: LazyLock<Slots> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZero::get);
    Slots::new(processors.saturating_sub(1).max(1))
});

/// A request that may become CPU-bound while it runs.
pub(crate) struct CpuBound<'a, F, W> {
    request: F,
    weight: W,
    turn: Turn<'a>,
}

impl<F, W> CpuBound<'static, F, W> {
    /// `weight` is called before each poll and returns the bytes of CPU-bound work, if there are
    /// any.
    pub(crate) fn new(request: F, weight: W) -> Self {
        Self::among(&SLOTS, request, weight)
    }
}

impl<'a, F, W> CpuBound<'a, F, W> {
    fn among(slots: &'a Slots, request: F, weight: W) -> Self {
        Self {
            request,
            weight,
            turn: Turn::new(slots),
        }
    }
}

impl<F, W> Future for CpuBound<'_, F, W>
where
    F: Future + Unpin,
    W: Fn() -> Option<usize> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let weight = (this.weight)().filter(|_| has_threads());
        let Some(weight) = weight else {
            return Pin::new(&mut this.request).poll(cx);
        };
        let slot = ready!(this.turn.poll_take(cx, weight));
        let polled = block_in_place(|| Pin::new(&mut this.request).poll(cx));
        drop(slot);
        polled
    }
}

/// Runs a long background task of the server, one at a time. Its weight is zero, so it is always
/// next: it waits for at most one poll of a request, and takes no processor from small requests.
pub(crate) fn background<F>(work: F) -> CpuBound<'static, F, impl Fn() -> Option<usize>> {
    CpuBound::new(work, BACKGROUND_WEIGHT)
}

/// The weight of [`background`].
const BACKGROUND_WEIGHT: fn() -> Option<usize> = || Some(0);

/// Reports whether a thread can hand its other tasks over.
fn has_threads() -> bool {
    Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::{Duration, Instant};
    use tokio::sync::{Notify, oneshot};
    use tokio::time::timeout;

    /// Blocks the thread.
    #[expect(
        clippy::disallowed_methods,
        reason = "what is tested is what a thread does that is really blocked"
    )]
    fn block(millis: u64) {
        std::thread::sleep(Duration::from_millis(millis));
    }

    fn one_slot() -> &'static Slots {
        Box::leak(Box::new(Slots::new(1)))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    #[expect(
        clippy::disallowed_methods,
        reason = "what is tested is what a thread does that is really blocked"
    )]
    async fn others_go_on_beside_heavy_work() {
        let done = AtomicBool::new(false);
        let blocking = pin!(async {
            block(300);
            done.store(true, Ordering::Relaxed);
        });
        let cpu_bound = CpuBound::new(blocking, || Some(1));
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async {
            let mut longest = Duration::ZERO;
            for _ in 0..20 {
                let begun = Instant::now();
                tokio::time::sleep(Duration::from_millis(2)).await;
                longest = longest.max(begun.elapsed());
            }
            longest
        });
        cpu_bound.await;
        assert!(done.load(Ordering::Relaxed));
        let longest = tasks.join_next().await.expect("there is one");
        let longest = longest.expect("it does not panic");
        assert!(longest < Duration::from_millis(150), "{longest:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn waiting_for_a_slot_can_time_out() {
        let slots = one_slot();
        let (busy, is_busy) = oneshot::channel();
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move {
            let long = pin!(async {
                busy.send(()).expect("somebody waits for it");
                block(600);
            });
            CpuBound::among(slots, long, || Some(1)).await;
        });
        is_busy.await.expect("it begins");
        let begun = AtomicBool::new(false);
        let waiting = pin!(async { begun.store(true, Ordering::Relaxed) });
        let waiting = CpuBound::among(slots, waiting, || Some(1));
        let ended = timeout(Duration::from_millis(50), waiting).await;
        ended.expect_err("the slot is taken");
        assert!(!begun.load(Ordering::Relaxed));
        tasks.join_all().await;
        // The one that gave up holds no slot.
        CpuBound::among(slots, pin!(async {}), || Some(1)).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_pending_request_releases_its_slot() {
        let slots = one_slot();
        let (resting, rests) = (Notify::new(), pending::<()>());
        let rester = pin!(async {
            resting.notify_one();
            rests.await;
        });
        let other = pin!(async {
            resting.notified().await;
            7
        });
        let other = CpuBound::among(slots, other, || Some(1));
        tokio::select! {
            () = CpuBound::among(slots, rester, || Some(1)) => unreachable!("it rests forever"),
            seven = other => assert_eq!(seven, 7),
        }
    }

    /// Counts the pieces of the crowd that complete during this work.
    async fn pieces_before(work: impl Future<Output = ()>, pieces: &'static AtomicUsize) -> usize {
        while pieces.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let begun = pieces.load(Ordering::SeqCst);
        work.await;
        pieces.load(Ordering::SeqCst) - begun
    }

    /// Forty requests of five pieces of 5 ms each that compete for the slots. Dropping the set
    /// aborts them.
    fn crowd(slots: &'static Slots, pieces: &'static AtomicUsize) -> tokio::task::JoinSet<()> {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..40 {
            tasks.spawn(async move {
                let giant = Box::pin(async {
                    for _ in 0..5 {
                        block(5);
                        pieces.fetch_add(1, Ordering::SeqCst);
                        tokio::task::yield_now().await;
                    }
                });
                CpuBound::among(slots, giant, || Some(3 << 20)).await;
            });
        }
        tasks
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_small_request_waits_for_one_piece_of_work_and_not_for_a_crowd() {
        let (slots, pieces) = (one_slot(), Box::leak(Box::default()));
        let _crowd = crowd(slots, pieces);
        let small = Box::pin(async { tokio::task::yield_now().await });
        let small = CpuBound::among(slots, small, || Some(40 << 10));
        let beside = pieces_before(small, pieces).await;
        assert!(beside <= 10, "{beside} of 200 pieces came first");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_servers_own_work_is_always_next() {
        let (slots, pieces) = (one_slot(), Box::leak(Box::default()));
        let _crowd = crowd(slots, pieces);
        let work = Box::pin(async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        });
        let beside = pieces_before(CpuBound::among(slots, work, BACKGROUND_WEIGHT), pieces).await;
        // Each of its four polls waits for the piece in progress.
        assert!(beside <= 12, "{beside} of 200 pieces came first");
    }

    #[tokio::test]
    async fn on_one_thread_it_stays_where_it_is() {
        assert_eq!(CpuBound::new(pin!(async { 1 }), || Some(1)).await, 1);
        assert_eq!(CpuBound::new(pin!(async { 2 }), || None).await, 2);
        assert_eq!(background(pin!(async { 3 })).await, 3);
    }
}
