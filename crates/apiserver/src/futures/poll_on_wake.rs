//! `PollOnWake`: a future beside one that is polled often.
//!
//! A task that waits for several things polls all of them whenever one of them wakes it. What
//! comes once in the life of a connection or a watch (a deadline, the end of the server) would be
//! asked with every event, at locks and counts that all share. This asks it only when it has said
//! that there is something new.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Polls `F` when `F` has woken it, and otherwise not.
#[derive(Debug)]
pub(crate) struct PollOnWake<F> {
    future: F,
    flag: Arc<WakeFlag>,
    /// That of the bell.
    waker: Waker,
    /// The task that the bell knows.
    task: Waker,
}

#[derive(Debug)]
struct WakeFlag {
    woken: AtomicBool,
    /// Whose task it is.
    task: Mutex<Waker>,
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.swap(true, Ordering::AcqRel);
        let task = self.task.lock().clone();
        // Only now: the task may be dropped with this.
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

    /// The future, to look at it.
    pub(crate) fn future(&self) -> &F {
        &self.future
    }

    /// The future, to change it; it is asked anew after that.
    pub(crate) fn change(&mut self) -> &mut F {
        self.flag.woken.store(true, Ordering::Release);
        &mut self.future
    }
}

impl<F: Future + Unpin> Future for PollOnWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        // Before the bell is looked at: who rings later finds the task.
        if !this.task.will_wake(cx.waker()) {
            this.task.clone_from(cx.waker());
            let before = std::mem::replace(&mut *this.flag.task.lock(), this.task.clone());
            drop(before);
        }
        if !this.flag.woken.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        // Exchanged, so that who rang before is seen by the future, and who rings later rings.
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
    async fn it_is_polled_when_it_woke_its_task_and_ends_when_it_should() {
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
    async fn what_is_changed_is_asked_anew() {
        let start = Instant::now();
        let mut gated = PollOnWake::new(Box::pin(sleep(Duration::from_hours(1))));
        let soon = tokio::time::timeout(Duration::from_secs(1), &mut gated);
        assert!(soon.await.is_err());
        let end = Instant::now() + Duration::from_secs(2);
        gated.change().as_mut().reset(end);
        gated.await;
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }
}
