//! `Slots`: how many connections to backends are open, and how many may be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limited number of slots. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    taken: Arc<AtomicUsize>,
    max: usize,
}

/// One slot, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<AtomicUsize>);

impl Slots {
    pub(super) fn new(max: usize) -> Self {
        Self {
            taken: Arc::default(),
            max,
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes a slot, if one is free.
    pub(super) fn take(&self) -> Option<Slot> {
        let more = |it: usize| (it < self.max).then_some(it + 1);
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Slot(Arc::clone(&self.taken)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_limited_and_free_again_when_dropped() {
        let slots = Slots::new(2);
        let (one, two) = (slots.take(), slots.take());
        assert!(one.is_some() && two.is_some() && slots.take().is_none());
        assert_eq!(slots.taken(), 2);
        drop(one);
        assert!(slots.take().is_some());
        assert_eq!(slots.taken(), 1);
    }
}
