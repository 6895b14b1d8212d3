//! `Heavy`: work that a client can make long runs beside the threads that serve everybody.
//!
//! A body of megabytes takes long to decode, check and write, and none of that can rest in
//! between. Such a request is polled where it blocks nobody: on a thread that has handed its other
//! tasks over. A few run at a time, fewer than there are processors; the others wait for a slot
//! there. On a runtime with one thread, which simulations have, everything stays where it is.

use parking_lot::{Condvar, Mutex};
use std::num::NonZero;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};
use std::thread::available_parallelism;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Heavy work of this process, whatever server it is for: the processors are the same.
static SLOTS: LazyLock<Slots> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZero::get);
    Slots::new(processors.saturating_sub(1).max(1))
});

/// A request that may turn out to be heavy while it goes on.
pub(crate) struct Heavy<F, W> {
    request: F,
    is_heavy: W,
}

impl<F, W> Heavy<F, W> {
    /// `is_heavy` is asked before each poll.
    pub(crate) fn new(request: F, is_heavy: W) -> Self {
        Self { request, is_heavy }
    }
}

impl<F, W> Future for Heavy<F, W>
where
    F: Future + Unpin,
    W: Fn() -> bool + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let aside = (self.is_heavy)()
            && Handle::try_current()
                .is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
        let request = Pin::new(&mut self.request);
        if !aside {
            return request.poll(cx);
        }
        block_in_place(|| {
            let _slot = SLOTS.take();
            request.poll(cx)
        })
    }
}

/// How many may run at a time.
struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

struct Slot<'a>(&'a Slots);

impl Slots {
    fn new(count: usize) -> Self {
        Self {
            free: Mutex::new(count),
            freed: Condvar::new(),
        }
    }

    /// Waits for a slot; only for threads that may block.
    fn take(&self) -> Slot<'_> {
        let mut free = self.free.lock();
        self.freed.wait_while(&mut free, |free| *free == 0);
        *free -= 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    #[expect(
        clippy::disallowed_methods,
        reason = "what is tested is what a thread does that is really blocked"
    )]
    async fn others_go_on_beside_heavy_work() {
        let done = AtomicBool::new(false);
        let blocking = pin!(async {
            std::thread::sleep(Duration::from_millis(300));
            done.store(true, Ordering::Relaxed);
        });
        let heavy = Heavy::new(blocking, || true);
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
        heavy.await;
        assert!(done.load(Ordering::Relaxed));
        let longest = tasks.join_next().await.expect("there is one");
        let longest = longest.expect("it does not panic");
        assert!(longest < Duration::from_millis(150), "{longest:?}");
    }

    #[test]
    fn no_more_run_at_a_time_than_there_are_slots() {
        let (slots, running, most) = (Slots::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _slot = slots.take();
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert_eq!(*slots.free.lock(), 2);
    }

    #[tokio::test]
    async fn on_one_thread_it_stays_where_it_is() {
        assert_eq!(Heavy::new(pin!(async { 1 }), || true).await, 1);
        assert_eq!(Heavy::new(pin!(async { 2 }), || false).await, 2);
    }
}
