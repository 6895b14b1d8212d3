//! One slot for each item that waits or runs, found by item or by number.
//!
//! An item has at most one slot. A released slot is reused before a new one is created, and holds
//! nothing of its item. When an item is released is not decided here.

use crate::lanes::{Lane, Ticket};
use crate::slot_id::SlotId;
use hashbrown::{HashTable, hash_table};
use std::time::Duration;

/// How many slots are kept when the queue becomes empty; the memory of a burst is freed.
const SLOTS_KEPT: usize = 4096;

/// One item and its state.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) item: T,
    pub(super) hash: u64,
    /// Consecutive failures.
    pub(super) failures: u32,
    pub(super) phase: Phase,
    /// Set while the item is also delayed.
    pub(super) delayed: Option<Delayed>,
}

/// The times of an item; stored separately, and only if metrics are recorded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    /// When it last became something to run.
    pub(super) added_at: Duration,
    /// When a worker last took it.
    pub(super) started_at: Duration,
}

/// The phase of an item, apart from any delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Neither ready nor running: it exists only because of its delay.
    Resting,
    /// In a lane, waiting for a worker.
    Ready { lane: Lane, ticket: Ticket },
    /// With a worker; `again` means that it was added meanwhile.
    Running {
        lane: Lane,
        place: u32,
        again: Option<Lane>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delayed {
    pub(super) lane: Lane,
    /// Whether it waits because of a failure rather than a requested delay.
    pub(super) backoff: bool,
}

#[derive(Debug)]
pub(super) struct Slots<T> {
    entries: Vec<Option<Entry<T>>>,
    free: Vec<SlotId>,
    index: HashTable<SlotId>,
    times: Vec<Times>,
}

impl<T> Slots<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            times: Vec::new(),
        }
    }

    pub(super) fn get(&self, slot: SlotId) -> Option<&Entry<T>> {
        self.entries.get(slot.index())?.as_ref()
    }

    pub(super) fn at(&mut self, slot: SlotId) -> &mut Entry<T> {
        self.entries[slot.index()]
            .as_mut()
            .expect("a slot in a lane, a delay or a hand is in use")
    }

    pub(super) fn holds(&self, slot: SlotId, ticket: Ticket) -> bool {
        let phase = self.get(slot).map(|entry| entry.phase);
        matches!(phase, Some(Phase::Ready { ticket: held, .. }) if held == ticket)
    }

    pub(super) fn times(&mut self, slot: SlotId) -> &mut Times {
        if self.times.len() <= slot.index() {
            self.times.resize(self.entries.len(), Times::default());
        }
        &mut self.times[slot.index()]
    }

    pub(super) fn release(&mut self, slot: SlotId) {
        let hash = self.at(slot).hash;
        if let Ok(found) = self.index.find_entry(hash, |it| *it == slot) {
            found.remove();
        }
        self.entries[slot.index()] = None;
        self.free.push(slot);
        if self.index.is_empty() && self.entries.len() > SLOTS_KEPT {
            *self = Self::new();
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> impl Iterator<Item = (SlotId, &Entry<T>)> {
        let slots = (0..).map(SlotId::new).zip(&self.entries);
        slots.filter_map(|(slot, entry)| entry.as_ref().map(|entry| (slot, entry)))
    }
}

impl<T: Eq> Slots<T> {
    pub(super) fn find(&self, hash: u64, item: &T) -> Option<SlotId> {
        let same = |it: &SlotId| self.get(*it).is_some_and(|entry| entry.item == *item);
        self.index.find(hash, same).copied()
    }

    pub(super) fn find_or_insert(&mut self, hash: u64, item: T) -> SlotId {
        let Self {
            entries,
            free,
            index,
            ..
        } = self;
        let entry = |it: &SlotId| entries[it.index()].as_ref();
        let found = index.entry(
            hash,
            |it| entry(it).is_some_and(|entry| entry.item == item),
            |it| entry(it).map_or(0, |entry| entry.hash),
        );
        let vacant = match found {
            hash_table::Entry::Occupied(found) => return *found.get(),
            hash_table::Entry::Vacant(vacant) => vacant,
        };
        let slot = free.pop().unwrap_or_else(|| {
            let next = u32::try_from(entries.len()).expect("fewer than 4 billion distinct items");
            entries.push(None);
            SlotId::new(next)
        });
        vacant.insert(slot);
        entries[slot.index()] = Some(Entry {
            item,
            hash,
            failures: 0,
            phase: Phase::Resting,
            delayed: None,
        });
        slot
    }
}
