//! `Published`: the state that a store's writer shares with its readers.
//!
//! It holds one pointer to the published state, and an event that fires when the pointer is
//! replaced. The working copy belongs to the writer alone.

use crate::store::State;
use arc_swap::{ArcSwap, ArcSwapOption};
use event_listener::Event;
use kubist_apimachinery::Str;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct Published<K> {
    pub(crate) state: ArcSwap<State<K>>,
    /// Fires after each publication, and when the writer is dropped.
    pub(crate) changed: Event,
    closed: AtomicBool,
    /// The problem that keeps the store from being up to date, as set by the writer.
    pub(crate) problem: ArcSwapOption<Str>,
}

impl<K> Published<K> {
    pub(crate) fn new(state: Arc<State<K>>) -> Self {
        Self {
            state: ArcSwap::new(state),
            changed: Event::new(),
            closed: AtomicBool::new(false),
            problem: ArcSwapOption::empty(),
        }
    }

    pub(crate) fn store(&self, state: Arc<State<K>>) {
        self.state.store(state);
        self.changed.notify(usize::MAX);
    }

    /// Marks the state as final: nothing will be published any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.changed.notify(usize::MAX);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}
