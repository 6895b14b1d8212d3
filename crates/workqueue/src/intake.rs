//! What was added or finished and has not reached the algorithm yet.
//!
//! Producers and workers that are done leave an entry here and go on; whoever operates on the
//! queue next brings all entries in, in their order, before anything else. So the lock under which
//! decisions are made is taken by those who need a decision, and this one is held for a push.
//!
//! Promises: entries keep their order; none is left behind once the intake is closed; it holds at
//! most [`ENTRIES_MAX`]. It is open only while nobody has to act on an entry at once, which the
//! queue decides: no worker sleeps, nothing is measured, the queue takes items.

use crate::lanes::Lane;
use crate::slot_id::SlotId;
use crate::sync::{AtomicBool, Mutex};
use std::mem;
use std::sync::atomic::Ordering;

/// How many entries may wait; whoever comes then brings them in. Enough to make the bringing in
/// cheap, few enough that the lock is not held for long.
const ENTRIES_MAX: usize = 128;

#[derive(Debug)]
pub(crate) enum Entry<T> {
    Added { hash: u64, item: T, lane: Lane },
    Succeeded(SlotId),
}

#[derive(Debug)]
pub(crate) struct Intake<T> {
    waiting: Mutex<Waiting<T>>,
    /// Whether there are entries, for those who look without the lock. Only a hint.
    any: AtomicBool,
}

#[derive(Debug)]
struct Waiting<T> {
    open: bool,
    entries: Vec<Entry<T>>,
}

impl<T> Intake<T> {
    /// An intake that is closed and empty.
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                open: false,
                entries: Vec::new(),
            }),
            any: AtomicBool::new(false),
        }
    }

    /// Leaves an entry, or gives it back to be brought in by the caller.
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

    /// Takes entries from now on.
    pub(crate) fn open(&self) {
        self.waiting.lock().open = true;
    }

    /// Takes no more entries, and moves those that there are to `into`, which must be empty.
    pub(crate) fn close(&self, into: &mut Vec<Entry<T>>) {
        let mut waiting = self.waiting.lock();
        waiting.open = false;
        mem::swap(&mut waiting.entries, into);
        self.any.store(false, Ordering::Relaxed);
    }

    /// Whether there probably are entries.
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
