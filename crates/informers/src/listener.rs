//! `Listener`: one handler of an informer, with its mailbox and sync state.
//!
//! The informer's task adds events and the handler's task takes them; neither waits for the other.
//! The lock is held while one batch is merged, never across an await. client-go's
//! `processorListener`.

use crate::HandlerConfig;
use crate::batch::Batch;
use crate::mailbox::Mailbox;
use crate::sync::Mutex;
use crate::usage::Usage;
use kubist_apimachinery::Object;
use kubist_cache::ResourceEvent;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// The state of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerState {
    /// The first list is not handled completely.
    Syncing,
    /// Every object of the first list was handled.
    Synced,
    /// The handler was removed.
    Removed,
    /// The handler fell too far behind, and its delivery mode ends it then.
    Overflowed,
    /// The informer stopped.
    Stopped,
}

pub(crate) struct Listener<K> {
    pub(crate) config: HandlerConfig,
    inner: Mutex<Inner<K>>,
    state: watch::Sender<HandlerState>,
    /// Whether the state is final, for a check at each event.
    ended: AtomicBool,
    /// Whether a task runs the handler.
    served: watch::Sender<bool>,
    pub(crate) panics: AtomicU64,
    pub(crate) handled: AtomicU64,
    /// The resync period in milliseconds; 0: none.
    resync: AtomicU64,
    /// The requested resync period, until the informer applies it.
    asked: Mutex<Option<RequestedResync>>,
    /// Wakes the informer.
    informer: Arc<Notify>,
}

/// See [`HandlerConfig::resync`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestedResync {
    pub(crate) period: Option<Duration>,
}

struct Inner<K> {
    mailbox: Mailbox<K>,
    /// Whether all of the informer's first list was put into the mailbox.
    filled: bool,
    /// The waker of the task that waits for events, if any.
    waker: Option<Waker>,
    /// Keeps the informer in use until the listener ends.
    usage: Option<Arc<Usage>>,
}

impl<K: Object> Listener<K> {
    pub(crate) fn new(
        config: HandlerConfig,
        usage: Option<Arc<Usage>>,
        informer: Arc<Notify>,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner {
                mailbox: Mailbox::new(config.delivery),
                filled: false,
                waker: None,
                usage,
            }),
            config,
            state: watch::Sender::new(HandlerState::Syncing),
            ended: AtomicBool::new(false),
            served: watch::Sender::new(false),
            panics: AtomicU64::new(0),
            handled: AtomicU64::new(0),
            resync: AtomicU64::new(0),
            asked: Mutex::new(None),
            informer,
        })
    }

    pub(crate) fn watch_state(&self) -> watch::Receiver<HandlerState> {
        self.state.subscribe()
    }

    pub(crate) fn current(&self) -> HandlerState {
        *self.state.borrow()
    }

    /// Records whether a task runs the handler.
    pub(crate) fn set_served(&self, served: bool) {
        self.served.send_replace(served);
    }

    /// Waits until no task runs the handler.
    pub(crate) async fn unserved(&self) {
        let mut served = self.served.subscribe();
        // The sender is a field of `self`, which outlives this.
        drop(served.wait_for(|it| !it).await);
    }

    pub(crate) fn resync(&self) -> Option<Duration> {
        let period = self.resync.load(Ordering::Relaxed);
        (period > 0).then(|| Duration::from_millis(period))
    }

    pub(crate) fn set_resync(&self, period: Option<Duration>) {
        let millis = period.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        self.resync.store(millis, Ordering::Relaxed);
    }

    /// Requests another resync period from the informer.
    pub(crate) fn ask_resync(&self, asked: Option<Duration>) {
        *self.asked.lock() = Some(RequestedResync { period: asked });
        self.informer.notify_one();
    }

    /// Takes the period requested since the last call, if any.
    pub(crate) fn take_requested(&self) -> Option<RequestedResync> {
        self.asked.lock().take()
    }

    /// Returns the number of pending events.
    pub(crate) fn waiting(&self) -> usize {
        self.inner.lock().mailbox.len()
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Adds events; returns false once the listener has ended.
    pub(crate) fn push(&self, batch: &Arc<Batch<K>>) -> bool {
        if self.is_ended() {
            return false;
        }
        let mut inner = self.inner.lock();
        if inner.mailbox.push(batch).is_err() {
            drop(inner);
            self.end(HandlerState::Overflowed);
            return false;
        }
        let (waker, spent) = (inner.waker.take(), inner.mailbox.take_spent());
        drop(inner);
        // Outside the lock: its objects may run arbitrary code.
        drop(spent);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Marks the first list as delivered to the mailbox.
    pub(crate) fn fill(&self) {
        self.inner.lock().filled = true;
        self.note_progress(0);
    }

    /// Ends the listener unless it has ended. Pending events are dropped.
    pub(crate) fn end(&self, state: HandlerState) {
        self.state.send_if_modified(|now| {
            let goes_on = matches!(now, HandlerState::Syncing | HandlerState::Synced);
            if goes_on {
                *now = state;
                self.ended.store(true, Ordering::Release);
            }
            goes_on
        });
        let mut inner = self.inner.lock();
        let mailbox = Mailbox::new(self.config.delivery);
        let dropped = std::mem::replace(&mut inner.mailbox, mailbox);
        let (waker, usage) = (inner.waker.take(), inner.usage.take());
        drop(inner);
        // Outside the lock: the dropped objects may run arbitrary code.
        drop((dropped, usage));
        if let Some(waker) = waker {
            waker.wake();
        }
        // The informer drops a handler in place.
        self.informer.notify_one();
    }

    /// Takes pending events, at least one; `None` once the listener has ended. Only one task may
    /// poll.
    pub(crate) fn poll_take(
        &self,
        limit: usize,
        cx: &Context<'_>,
    ) -> Poll<Option<Vec<ResourceEvent<K>>>> {
        let mut inner = self.inner.lock();
        // Under the lock: the waker is taken after the listener has ended.
        if self.is_ended() {
            return Poll::Ready(None);
        }
        let taken = inner.mailbox.take(limit);
        if !taken.is_empty() {
            let spent = inner.mailbox.take_spent();
            drop(inner);
            drop(spent);
            return Poll::Ready(Some(taken));
        }
        inner.waker = Some(cx.waker().clone());
        drop(inner);
        // An object that was added and deleted may have been the last of the first list.
        self.note_progress(0);
        Poll::Pending
    }

    /// Does the same as [`Self::poll_take`].
    ///
    /// # Cancel safety
    /// Safe: nothing is taken before it returns.
    pub(crate) async fn take(&self, limit: usize) -> Option<Vec<ResourceEvent<K>>> {
        std::future::poll_fn(|cx| self.poll_take(limit, cx)).await
    }

    /// Records that initial additions were handled.
    pub(crate) fn note_progress(&self, initial_handled: usize) {
        let mut inner = self.inner.lock();
        for _ in 0..initial_handled {
            inner.mailbox.initial_handled();
        }
        let synced = inner.filled && !inner.mailbox.has_initial();
        drop(inner);
        if synced {
            self.state.send_if_modified(|state| {
                let first = *state == HandlerState::Syncing;
                if first {
                    *state = HandlerState::Synced;
                }
                first
            });
        }
    }
}

#[cfg(all(test, shuttle))]
mod interleavings;
#[cfg(test)]
mod tests;
