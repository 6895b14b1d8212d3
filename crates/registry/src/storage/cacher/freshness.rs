//! How far a cache has come: waiting for a revision, and asking the engine for progress.
//!
//! Whoever waits has the engine asked at once, and again at an interval for as long as anybody
//! waits. A watch that owes a bookmark has it asked once.

use crate::storage::error::StorageError;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// How far a cache has come.
#[derive(Debug)]
pub(crate) struct Freshness {
    reached: watch::Sender<u64>,
    waiting: AtomicUsize,
    /// Somebody began to wait since the engine was asked.
    news: AtomicBool,
    wake: Notify,
    owing: Mutex<Owing>,
}

/// Watches that want to know how far the cache is.
#[derive(Debug, Default)]
struct Owing {
    /// Not asked for yet.
    new: Vec<Weak<Owed>>,
    /// Asked for; told at the next answer, or when there was none in time.
    asked: Vec<Weak<Owed>>,
}

/// Whether a watch wants to know how far the cache is.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    told: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Owed {
    /// Whether it was told; once.
    pub(crate) fn take(&self) -> bool {
        self.told.swap(false, Ordering::AcqRel)
    }

    /// Who is to be woken.
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

/// Somebody who waits.
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

    /// Notes that the cache has everything up to `revision`.
    pub(crate) fn reach(&self, revision: u64) {
        self.reached.send_replace(revision);
    }

    /// Waits until the cache has everything up to `revision`, at most for `patience`.
    ///
    /// # Errors
    /// It has not.
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

    /// Has the engine asked how far it is.
    pub(crate) fn ask(&self) {
        self.news.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Tells a watch how far the cache is, once the engine has said so.
    pub(crate) fn owe(&self, owed: &Arc<Owed>) {
        self.owing.lock().new.push(Arc::downgrade(owed));
        self.ask();
    }

    /// Waits until the engine is to be asked. `asked`: when it was asked last.
    ///
    /// # Cancel safety
    /// Nothing is lost.
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

    /// Notes that the engine is being asked. Those who waited for an answer to the question before
    /// are told what is known.
    pub(crate) fn asked(&self) {
        self.news.store(false, Ordering::Release);
        let told = {
            let mut owing = self.owing.lock();
            let new = std::mem::take(&mut owing.new);
            std::mem::replace(&mut owing.asked, new)
        };
        tell(told);
    }

    /// Notes that the engine has said how far it is.
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
