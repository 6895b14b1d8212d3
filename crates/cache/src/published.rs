//! `Published`: what the writer of a store shares with its readers.
//!
//! One pointer to the state that readers see, and a bell that rings when it is exchanged. It is not
//! the working copy, which is the writer's alone.

use crate::store::State;
use arc_swap::{ArcSwap, ArcSwapOption};
use event_listener::Event;
use kubist_apimachinery::Str;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct Published<K> {
    pub(crate) state: ArcSwap<State<K>>,
    /// Rings after each publication, and when the writer is gone.
    pub(crate) changed: Event,
    closed: AtomicBool,
    /// What keeps the writer from being up to date, as it says itself.
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

    /// Nothing will be published any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.changed.notify(usize::MAX);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}
