//! `Freezable`: the future of a controller, which can be stopped like a process.
//!
//! While it is frozen it is not polled. Tasks that it has spawned are not part of it; what they
//! request waits. It also notices who wakes it: nothing but the thread of the world should.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::ThreadId;
use tokio_util::sync::CancellationToken;

/// Whether a controller is frozen. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frost {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Cancelled at the thaw.
    thaw: Mutex<Option<CancellationToken>>,
    waker: Mutex<Option<Waker>>,
    woken_from_elsewhere: AtomicBool,
}

impl Frost {
    /// Freezes it, until [`thaw`](Self::thaw).
    pub(crate) fn freeze(&self) {
        let mut thaw = self.shared.thaw.lock();
        if thaw.is_none() {
            *thaw = Some(CancellationToken::new());
        }
    }

    /// Ends a freeze.
    pub(crate) fn thaw(&self) {
        let token = self.shared.thaw.lock().take();
        if let Some(token) = token {
            token.cancel();
        }
        let waker = self.shared.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.shared.thaw.lock().is_some()
    }

    /// Waits until it is not frozen. Returns whether it was.
    pub(crate) async fn thawed(&self) -> bool {
        let mut was_frozen = false;
        loop {
            let Some(token) = self.shared.thaw.lock().clone() else {
                return was_frozen;
            };
            was_frozen = true;
            token.cancelled().await;
        }
    }

    /// Reports whether something outside of the thread has woken the controller.
    pub(crate) fn was_woken_from_elsewhere(&self) -> bool {
        self.shared.woken_from_elsewhere.load(Ordering::Relaxed)
    }

    /// Wraps a future.
    pub(crate) fn around<F>(&self, future: F) -> Freezable<F> {
        Freezable {
            future: Box::pin(future),
            frost: self.clone(),
        }
    }
}

/// A future that can be frozen.
pub(crate) struct Freezable<F> {
    future: Pin<Box<F>>,
    frost: Frost,
}

impl<F: Future> Future for Freezable<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.frost.is_frozen() {
            *self.frost.shared.waker.lock() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let guard = Arc::new(Guard {
            inner: cx.waker().clone(),
            home: std::thread::current().id(),
            shared: Arc::clone(&self.frost.shared),
        });
        let waker = Waker::from(guard);
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

struct Guard {
    inner: Waker,
    home: ThreadId,
    shared: Arc<Shared>,
}

impl Wake for Guard {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if std::thread::current().id() != self.home {
            let elsewhere = &self.shared.woken_from_elsewhere;
            elsewhere.store(true, Ordering::Relaxed);
        }
        self.inner.wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::{Instant, sleep, timeout};

    #[tokio::test(start_paused = true)]
    async fn a_frozen_future_is_not_polled_and_goes_on_after_the_thaw() {
        let frost = Frost::default();
        frost.freeze();
        let mut future = frost.around(async { Instant::now() });
        let begin = Instant::now();
        let pause = Duration::from_secs(10);
        assert!(timeout(pause, &mut future).await.is_err());
        let thaw = async {
            sleep(pause).await;
            frost.thaw();
            std::future::pending::<()>().await;
        };
        let polled = tokio::select! { biased; at = future => at, () = thaw => begin };
        assert_eq!(polled - begin, 2 * pause);
        assert!(!frost.was_woken_from_elsewhere());
    }

    #[tokio::test]
    async fn a_wake_from_another_thread_is_noticed() {
        let frost = Frost::default();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (polled, is_polled) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            is_polled.recv().unwrap();
            sender.send(7)
        });
        let mut receiver = Box::pin(receiver);
        let value = frost.around(std::future::poll_fn(move |cx| {
            let poll = receiver.as_mut().poll(cx);
            polled.send(()).ok(); // only now is there somebody to wake
            poll
        }));
        assert_eq!(value.await, Ok(7));
        assert!(frost.was_woken_from_elsewhere());
        thread.join().unwrap().unwrap();
    }
}
