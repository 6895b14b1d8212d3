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
    news: AtomicBool,
    wake: Notify,
    owing: Mutex<Owing>,
}

/// The watches that wait for the progress of the cache.
#[derive(Debug, Default)]
struct Owing {
    /// Not requested yet.
    new: Vec<Weak<Owed>>,
    /// Requested; notified at the next answer, or when none came in time.
    asked: Vec<Weak<Owed>>,
}

/// Whether a watch waits for the progress of the cache.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    told: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Owed {
    /// Takes the notification; true once.
    pub(crate) fn take(&self) -> bool {
        self.told.swap(false, Ordering::AcqRel)
    }

    /// Registers the waker.
    pub(crate) fn register(&self, waker: &Waker) {
        let mut registered = self.waker.lock();
        match &mut *registered {
            Some(old) => old.clone_from(waker),
            None => *registered = Some(waker.clone()),
        }
    }

    fn tell(&self) {
        self.told.store(true, Ordering::Release);
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
            news: AtomicBool::new(false),
            wake: Notify::new(),
            owing: Mutex::default(),
        }
    }

    /// Records that the cache is complete up to `revision`.
    pub(crate) fn reach(&self, revision: u64) {
        self.reached.send_replace(revision);
    }

    /// Waits until the cache is complete up to `revision`, at most for `patience`.
    ///
    /// # Errors
    /// The cache did not reach it in time.
    pub(crate) async fn wait(&self, revision: u64, patience: Duration) -> Result<(), StorageError> {
        if *self.reached.borrow() >= revision {
            return Ok(());
        }
        let mut reached = self.reached.subscribe();
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let waiting = Waiting(self);
        self.ask();
        let arrived = timeout(patience, reached.wait_for(|it| *it >= revision)).await;
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
    pub(crate) fn ask(&self) {
        self.news.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Notifies a watch of the cache's progress, once the engine has answered.
    pub(crate) fn owe(&self, owed: &Arc<Owed>) {
        self.owing.lock().new.push(Arc::downgrade(owed));
        self.ask();
    }

    /// Waits until the next progress request is due. `asked`: the time of the last one.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped; no state is lost.
    pub(crate) async fn due(&self, asked: Instant, every: Duration) {
        loop {
            let woken = self.wake.notified();
            if self.news.load(Ordering::Acquire) {
                return;
            }
            let repeats = self.waiting.load(Ordering::Acquire) > 0;
            if !repeats && self.owing.lock().asked.is_empty() {
                woken.await;
                continue;
            }
            tokio::select! {
                () = sleep_until(asked + every) => return,
                () = woken => {}
            }
        }
    }

    /// Records a progress request. Watches that waited for the answer to the previous one are
    /// notified now.
    pub(crate) fn asked(&self) {
        self.news.store(false, Ordering::Release);
        let told = {
            let mut owing = self.owing.lock();
            let new = std::mem::take(&mut owing.new);
            std::mem::replace(&mut owing.asked, new)
        };
        tell(told);
    }

    /// Records an answer to a progress request.
    pub(crate) fn answered(&self) {
        let told = std::mem::take(&mut self.owing.lock().asked);
        tell(told);
    }
}

fn tell(all: Vec<Weak<Owed>>) {
    for owed in all.iter().filter_map(Weak::upgrade) {
        owed.tell();
    }
}
