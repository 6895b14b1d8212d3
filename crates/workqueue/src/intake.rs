//! Additions and results that the algorithm has not processed yet.
//!
//! Producers and workers leave an entry here and go on; the next operation on the queue processes
//! all entries in order before anything else. So only callers that need a decision take the lock
//! under which decisions are made, and the lock of the intake is held for one push.
//!
//! Entries keep their order, none is left behind once the intake is closed, and there are at most
//! [`ENTRIES_MAX`]. The intake is open only while no entry needs immediate attention: no worker
//! waits, nothing is measured, and the queue accepts items.

use crate::lanes::Lane;
use crate::slot_id::SlotId;
use crate::sync::{AtomicUsize, Mutex, lock_after_others};
use std::mem;
use std::sync::atomic::Ordering;

/// The maximum number of entries; a caller beyond that processes them. It is large enough to make
/// processing cheap, and small enough that the lock is not held for long.
const ENTRIES_MAX: usize = 128;

#[derive(Debug)]
pub(crate) enum Entry<T> {
    Added { hash: u64, item: T, lane: Lane },
    Succeeded(SlotId),
}

#[derive(Debug)]
pub(crate) struct Intake<T> {
    waiting: Mutex<Waiting<T>>,
    /// The number of entries, for checks without the lock. Only a hint.
    count: AtomicUsize,
}

#[derive(Debug)]
struct Waiting<T> {
    open: bool,
    entries: Vec<Entry<T>>,
}

impl<T> Intake<T> {
    /// Creates a closed and empty intake.
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                open: false,
                entries: Vec::new(),
            }),
            count: AtomicUsize::new(0),
        }
    }

    /// Leaves an entry, or returns it for the caller to process.
    pub(crate) fn leave(&self, entry: Entry<T>) -> Result<(), Entry<T>> {
        let mut waiting = lock_after_others(&self.waiting);
        if !waiting.open || waiting.entries.len() >= ENTRIES_MAX {
            return Err(entry);
        }
        waiting.entries.push(entry);
        self.count.store(waiting.entries.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Moves all entries to `into`, which must be empty.
    pub(crate) fn collect(&self, into: &mut Vec<Entry<T>>) {
        let mut waiting = self.waiting.lock();
        mem::swap(&mut waiting.entries, into);
        self.count.store(0, Ordering::Relaxed);
    }

    /// Opens the intake.
    pub(crate) fn open(&self) {
        self.waiting.lock().open = true;
    }

    /// Closes the intake and moves its entries to `into`, which must be empty.
    pub(crate) fn close(&self, into: &mut Vec<Entry<T>>) {
        let mut waiting = self.waiting.lock();
        waiting.open = false;
        mem::swap(&mut waiting.entries, into);
        self.count.store(0, Ordering::Relaxed);
    }

    /// Returns about how many entries there are.
    pub(crate) fn seems_to_have(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn added(item: u32) -> Entry<u32> {
        let lane = Lane::Normal;
        Entry::Added {
            hash: 0,
            item,
            lane,
        }
    }

    fn items(entries: Vec<Entry<u32>>) -> Vec<u32> {
        let item = |entry| match entry {
            Entry::Added { item, .. } => Some(item),
            Entry::Succeeded(_) => None,
        };
        entries.into_iter().filter_map(item).collect()
    }

    #[test]
    fn entries_keep_their_order_and_are_collected_once() {
        let intake = Intake::new();
        assert!(intake.leave(added(0)).is_err(), "it begins closed");
        intake.open();
        for item in 1..4 {
            assert!(intake.leave(added(item)).is_ok());
        }
        assert_eq!(intake.seems_to_have(), 3);
        let mut collected = Vec::new();
        intake.collect(&mut collected);
        assert_eq!(items(collected), [1, 2, 3]);
        assert_eq!(intake.seems_to_have(), 0);
    }

    #[test]
    fn a_full_intake_gives_entries_back() {
        let intake = Intake::new();
        intake.open();
        let taken = (0..1000).filter(|item| intake.leave(added(*item)).is_ok());
        assert_eq!(taken.count(), ENTRIES_MAX);
    }

    #[test]
    fn closing_leaves_nothing_behind() {
        let intake = Intake::new();
        intake.open();
        assert!(intake.leave(added(1)).is_ok());
        let mut left = Vec::new();
        intake.close(&mut left);
        assert_eq!(items(left), [1]);
        assert!(intake.leave(added(2)).is_err());
    }
}
