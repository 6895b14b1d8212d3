//! The progress of a cache: waits for a revision, and progress requests to the engine.
//!
//! A waiting request triggers a progress request at once, and again at an interval while any
//! request waits. A watch with a bookmark due triggers one.

use crate::storage::error::StorageError;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// The progress of a cache.
#[derive(Debug)]
pub(crate) struct Freshness {
    reached: watch::Sender<u64>,
    waiting: AtomicUsize,
    /// Whether a request began to wait since the last progress request.
    requested: AtomicBool,
    wake: Notify,
    waiters: Mutex<ProgressWaiters>,
}

/// The watches that wait for the progress of the cache.
#[derive(Debug, Default)]
struct ProgressWaiters {
    /// Not requested yet.
    new: Vec<Weak<ProgressWaiter>>,
    /// Requested; notified at the next answer, or when none came in time.
    asked: Vec<Weak<ProgressWaiter>>,
}

/// Whether a watch waits for the progress of the cache.
#[derive(Debug, Default)]
pub(crate) struct ProgressWaiter {
    notified: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl ProgressWaiter {
    /// Takes the notification; true once.
    pub(crate) fn take(&self) -> bool {
        self.notified.swap(false, Ordering::AcqRel)
    }

    /// Registers the waker.
    pub(crate) fn register(&self, waker: &Waker) {
        let mut registered = self.waker.lock();
        match &mut *registered {
            Some(old) => old.clone_from(waker),
            None => *registered = Some(waker.clone()),
        }
    }

    fn notify(&self) {
        self.notified.store(true, Ordering::Release);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A waiting request.
struct Waiting<'a>(&'a Freshness);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Freshness {
    pub(crate) fn new() -> Self {
        Self {
            reached: watch::Sender::new(0),
            waiting: AtomicUsize::new(0),
            requested: AtomicBool::new(false),
            wake: Notify::new(),
            waiters: Mutex::default(),
        }
    }

    /// Records that the cache is complete up to `revision`.
    pub(crate) fn reach(&self, revision: u64) {
        self.reached.send_replace(revision);
    }

    /// Waits until the cache is complete up to `revision`, at most for `max_wait`.
    ///
    /// # Errors
    /// The cache did not reach it in time.
    pub(crate) async fn wait(&self, revision: u64, max_wait: Duration) -> Result<(), StorageError> {
        if *self.reached.borrow() >= revision {
            return Ok(());
        }
        let mut reached = self.reached.subscribe();
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let waiting = Waiting(self);
        self.request_progress();
        let arrived = timeout(max_wait, reached.wait_for(|it| *it >= revision)).await;
        drop(waiting);
        if matches!(arrived, Ok(Ok(_))) {
            return Ok(());
        }
        Err(StorageError::TooLarge {
            requested: revision,
            current: *self.reached.borrow(),
        })
    }

    /// Triggers a progress request to the engine.
    pub(crate) fn request_progress(&self) {
        self.requested.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Notifies a watch of the cache's progress, once the engine has answered.
    pub(crate) fn notify_on_progress(&self, waiter: &Arc<ProgressWaiter>) {
        self.waiters.lock().new.push(Arc::downgrade(waiter));
        self.request_progress();
    }

    /// Waits until the next progress request is due. `last`: the time of the last one.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped; no state is lost.
    pub(crate) async fn due(&self, last: Instant, every: Duration) {
        loop {
            let woken = self.wake.notified();
            if self.requested.load(Ordering::Acquire) {
                return;
            }
            let repeats = self.waiting.load(Ordering::Acquire) > 0;
            if !repeats && self.waiters.lock().asked.is_empty() {
                woken.await;
                continue;
            }
            tokio::select! {
                () = sleep_until(last + every) => return,
                () = woken => {}
            }
        }
    }

    /// Records a progress request. Watches that waited for the answer to the previous one are
    /// notified now.
    pub(crate) fn record_request(&self) {
        self.requested.store(false, Ordering::Release);
        let waiters = {
            let mut waiters = self.waiters.lock();
            let new = std::mem::take(&mut waiters.new);
            std::mem::replace(&mut waiters.asked, new)
        };
        notify_all(waiters);
    }

    /// Records an answer to a progress request.
    pub(crate) fn record_answer(&self) {
        let waiters = std::mem::take(&mut self.waiters.lock().asked);
        notify_all(waiters);
    }
}

fn notify_all(waiters: Vec<Weak<ProgressWaiter>>) {
    for waiter in waiters.iter().filter_map(Weak::upgrade) {
        waiter.notify();
    }
}
