//! `PollOnWake`: polls a future only after that future was woken.
//!
//! A task that waits for several futures polls all of them whenever one wakes it. A future that
//! completes once in the life of a connection or a watch (a deadline, the shutdown) would be polled
//! with every event and contend for shared locks and counters. This wrapper polls it only after its
//! own waker was called.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Polls `F` only when `F` has been woken.
#[derive(Debug)]
pub(crate) struct PollOnWake<F> {
    future: F,
    flag: Arc<WakeFlag>,
    /// The waker of the flag.
    waker: Waker,
    /// The task waker that the flag holds.
    task: Waker,
}

#[derive(Debug)]
struct WakeFlag {
    woken: AtomicBool,
    /// The waker of the task that polls this.
    task: Mutex<Waker>,
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.swap(true, Ordering::AcqRel);
        let task = self.task.lock().clone();
        // Woken last: the task may be dropped by it.
        task.wake();
    }
}

impl<F> PollOnWake<F> {
    pub(crate) fn new(future: F) -> Self {
        let flag = Arc::new(WakeFlag {
            woken: AtomicBool::new(true),
            task: Mutex::new(Waker::noop().clone()),
        });
        Self {
            future,
            waker: Arc::clone(&flag).into(),
            flag,
            task: Waker::noop().clone(),
        }
    }

    /// Returns the future.
    pub(crate) fn future(&self) -> &F {
        &self.future
    }

    /// Returns the future to modify it; it is polled again after that.
    pub(crate) fn change(&mut self) -> &mut F {
        self.flag.woken.store(true, Ordering::Release);
        &mut self.future
    }
}

impl<F: Future + Unpin> Future for PollOnWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        // Stored before the flag is read, so that a later wake-up finds the task.
        if !this.task.will_wake(cx.waker()) {
            this.task.clone_from(cx.waker());
            let before = std::mem::replace(&mut *this.flag.task.lock(), this.task.clone());
            drop(before);
        }
        if !this.flag.woken.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        // A swap, so that the future sees everything before an earlier wake-up, and a later one
        // sets the flag again.
        this.flag.woken.swap(false, Ordering::AcqRel);
        Pin::new(&mut this.future).poll(&mut Context::from_waker(&this.waker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    #[tokio::test(start_paused = true)]
    async fn the_future_is_polled_only_when_woken() {
        let mut polls = 0;
        let mut timer = Box::pin(sleep(Duration::from_secs(9)));
        let start = Instant::now();
        let counted = poll_fn(|cx| {
            polls += 1;
            timer.as_mut().poll(cx)
        });
        let mut gated = PollOnWake::new(counted);
        for _ in 0..100 {
            let short = sleep(Duration::from_millis(10));
            tokio::select! {
                biased;
                () = short => {}
                () = &mut gated => panic!("it is not time yet"),
            }
        }
        (&mut gated).await;
        assert_eq!(start.elapsed(), Duration::from_secs(9));
        drop(gated);
        assert_eq!(polls, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_modified_future_is_polled_again() {
        let start = Instant::now();
        let mut gated = PollOnWake::new(Box::pin(sleep(Duration::from_secs(3600))));
        let soon = tokio::time::timeout(Duration::from_secs(1), &mut gated);
        assert!(soon.await.is_err());
        let end = Instant::now() + Duration::from_secs(2);
        gated.change().as_mut().reset(end);
        gated.await;
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }
}
