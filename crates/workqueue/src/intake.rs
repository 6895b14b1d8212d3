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
use crate::sync::{AtomicBool, Mutex};
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
    /// Whether there are entries, for checks without the lock. Only a hint.
    any: AtomicBool,
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
            any: AtomicBool::new(false),
        }
    }

    /// Leaves an entry, or returns it for the caller to process.
    pub(crate) fn leave(&self, entry: Entry<T>) -> Result<(), Entry<T>> {
        let mut waiting = self.waiting.lock();
        if !waiting.open || waiting.entries.len() >= ENTRIES_MAX {
            return Err(entry);
        }
        if waiting.entries.is_empty() {
            self.any.store(true, Ordering::Relaxed);
        }
        waiting.entries.push(entry);
        Ok(())
    }

    /// Moves all entries to `into`, which must be empty.
    pub(crate) fn collect(&self, into: &mut Vec<Entry<T>>) {
        let mut waiting = self.waiting.lock();
        mem::swap(&mut waiting.entries, into);
        self.any.store(false, Ordering::Relaxed);
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
        self.any.store(false, Ordering::Relaxed);
    }

    /// Reports whether there are probably entries.
    pub(crate) fn seems_used(&self) -> bool {
        self.any.load(Ordering::Relaxed)
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
        assert!(intake.seems_used());
        let mut collected = Vec::new();
        intake.collect(&mut collected);
        assert_eq!(items(collected), [1, 2, 3]);
        assert!(!intake.seems_used());
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
