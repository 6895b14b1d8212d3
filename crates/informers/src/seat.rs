//! `Seat`: the place of one handler at an informer: its mailbox, and how far it has come.
//!
//! The informer's task puts changes in, the handler's task takes them out; neither waits for the
//! other. The lock is held for the merging of one batch, never across an await.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::Change;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use crate::mailbox::Mailbox;
use crate::{EventHandler, HandlerConfig};

/// Changes that a handler takes out at once.
const TAKE_MAX: usize = 256;

/// How far a handler has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerState {
    /// The first list is not, or not wholly, handled.
    Syncing,
    /// Every object of the first list was handled.
    Synced,
    /// It was removed.
    Removed,
    /// It fell too far behind, and its delivery says that this is the end.
    Overflowed,
    /// The informer stopped.
    Stopped,
}

pub(crate) struct Seat<K> {
    pub(crate) config: HandlerConfig,
    inner: Mutex<Inner<K>>,
    wake: Notify,
    state: watch::Sender<HandlerState>,
    panics: AtomicU64,
}

struct Inner<K> {
    mailbox: Mailbox<K>,
    /// The informer's first list is in the mailbox, or was.
    filled: bool,
}

impl<K: Object> Seat<K> {
    pub(crate) fn new(config: HandlerConfig) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner {
                mailbox: Mailbox::new(config.delivery),
                filled: false,
            }),
            config,
            wake: Notify::new(),
            state: watch::Sender::new(HandlerState::Syncing),
            panics: AtomicU64::new(0),
        })
    }

    pub(crate) fn watch_state(&self) -> watch::Receiver<HandlerState> {
        self.state.subscribe()
    }

    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// The number of changes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.inner.lock().mailbox.len()
    }

    pub(crate) fn is_ended(&self) -> bool {
        !matches!(
            *self.state.borrow(),
            HandlerState::Syncing | HandlerState::Synced
        )
    }

    /// Puts changes in; false once the seat has ended.
    pub(crate) fn push<'a>(
        &self,
        changes: impl Iterator<Item = (&'a ObjectName, &'a Change<K>)>,
    ) -> bool {
        if self.is_ended() {
            return false;
        }
        let mut inner = self.inner.lock();
        for (name, change) in changes {
            if inner.mailbox.push(name, change.clone()).is_err() {
                drop(inner);
                self.end(HandlerState::Overflowed);
                return false;
            }
        }
        drop(inner);
        self.wake.notify_one();
        true
    }

    /// The first list is in the mailbox.
    pub(crate) fn fill(&self) {
        self.inner.lock().filled = true;
        self.note_progress(0);
    }

    /// Ends the seat, unless it has ended already. What waits is dropped.
    pub(crate) fn end(&self, state: HandlerState) {
        self.state.send_if_modified(|now| {
            let goes_on = matches!(now, HandlerState::Syncing | HandlerState::Synced);
            if goes_on {
                *now = state;
            }
            goes_on
        });
        self.inner.lock().mailbox = Mailbox::new(self.config.delivery);
        self.wake.notify_one();
    }

    /// What waits, at least one change; none once the seat has ended.
    ///
    /// # Cancel safety
    /// Safe: nothing is taken out before it returns.
    pub(crate) async fn take(&self, limit: usize) -> Option<Vec<Change<K>>> {
        loop {
            if self.is_ended() {
                return None;
            }
            let taken = self.inner.lock().mailbox.take(limit);
            if !taken.is_empty() {
                return Some(taken);
            }
            // An object that came and went may have been the last of the first list.
            self.note_progress(0);
            self.wake.notified().await;
        }
    }

    /// Additions of the first list were handled.
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

    /// Calls the handler until the seat ends. `panicked` is told of each call that panicked.
    pub(crate) async fn serve(
        self: Arc<Self>,
        mut handler: Box<dyn EventHandler<K>>,
        panicked: impl Fn(),
    ) {
        while let Some(changes) = self.take(TAKE_MAX).await {
            for change in changes {
                if self.is_ended() {
                    return;
                }
                let initial = matches!(change, Change::Added { initial: true, .. });
                let call = AssertUnwindSafe(|| handler.on_change(change));
                if catch_unwind(call).is_err() {
                    self.panics.fetch_add(1, Ordering::Relaxed);
                    panicked();
                }
                if initial {
                    self.note_progress(1);
                }
            }
            tokio::task::consume_budget().await;
        }
    }
}
