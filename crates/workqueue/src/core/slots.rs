//! One slot for each item that waits or runs, found by item or by number.
//!
//! An item has at most one slot. A released slot is reused before a new one is created, and holds
//! nothing of its item. When an item is released is not decided here.

use crate::intake;
use crate::lanes::{Lane, Ticket};
use crate::slot_id::SlotId;
use hashbrown::{HashTable, hash_table};
use std::hint::black_box;
use std::time::Duration;

/// How many slots are kept when the queue becomes empty; the memory of a burst is freed.
const SLOTS_KEPT: usize = 4096;

/// Fewer reads are not worth a round of their own.
const FETCHED_MIN: usize = if cfg!(test) { 2 } else { 4 };

/// One item and its state.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) item: T,
    hash: u32,
    /// Consecutive failures.
    pub(super) failures: u32,
    pub(super) phase: Phase,
    /// Set while the item is also delayed.
    pub(super) delayed: Option<Delayed>,
}

impl<T> Entry<T> {
    /// Reports whether the item neither waits nor runs.
    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Resting && self.delayed.is_none()
    }
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

/// What the index has of an item: enough to grow, and to find a slot, without its entry.
#[derive(Debug, Clone, Copy)]
struct Known {
    hash: u32,
    slot: SlotId,
}

impl Known {
    /// Returns the hash by which the table places it, whose first and last bits matter.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << u32::BITS | u64::from(hash)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
fn half(hash: u64) -> u32 {
    hash as u32
}

#[derive(Debug)]
pub(super) struct Slots<T> {
    entries: Vec<Option<Entry<T>>>,
    free: Vec<SlotId>,
    index: HashTable<Known>,
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

    /// Reports whether the item of a slot neither waits nor runs; false if the slot has none.
    pub(super) fn is_idle(&self, slot: SlotId) -> bool {
        self.get(slot).is_some_and(Entry::is_idle)
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

    /// Reads what is needed to hand out and release these slots. Each read goes elsewhere in
    /// memory, and reads that do not wait for each other take little more time than one.
    pub(super) fn fetch(&self, slots: &[SlotId]) {
        if slots.len() >= FETCHED_MIN {
            self.fetch_all(slots.iter().copied());
        }
    }

    /// Reads what is needed to process these entries: of additions the index, of results what is
    /// released.
    pub(super) fn fetch_for(&self, entries: &[intake::Entry<T>]) {
        if entries.len() >= FETCHED_MIN {
            for entry in entries {
                if let intake::Entry::Added { hash, .. } = entry {
                    self.fetch_known(half(*hash));
                }
            }
            self.fetch_all(entries.iter().filter_map(|entry| match entry {
                intake::Entry::Added { .. } => None,
                intake::Entry::Succeeded(slot) => Some(*slot),
            }));
        }
    }

    fn fetch_all(&self, slots: impl Iterator<Item = SlotId> + Clone) {
        let entries = slots.filter_map(|slot| self.get(slot));
        for entry in entries.clone() {
            black_box(entry.hash);
        }
        for entry in entries {
            self.fetch_known(entry.hash);
        }
    }

    fn fetch_known(&self, hash: u32) {
        black_box(self.index.find(Known::spread(hash), |it| it.hash == hash));
    }

    pub(super) fn times(&mut self, slot: SlotId) -> &mut Times {
        if self.times.len() <= slot.index() {
            self.times.resize(self.entries.len(), Times::default());
        }
        &mut self.times[slot.index()]
    }

    /// Releases a slot; returns true if it was the last of so many that their memory was freed.
    pub(super) fn release(&mut self, slot: SlotId) -> bool {
        let hash = self.at(slot).hash;
        let known = self
            .index
            .find_entry(Known::spread(hash), |it| it.slot == slot);
        if let Ok(found) = known {
            found.remove();
        }
        self.entries[slot.index()] = None;
        self.free.push(slot);
        let frees = self.index.is_empty() && self.entries.len() > SLOTS_KEPT;
        if frees {
            *self = Self::new();
        }
        frees
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
        let hash = half(hash);
        let is_it = |it: &Known| {
            it.hash == hash && self.get(it.slot).is_some_and(|entry| entry.item == *item)
        };
        let found = self.index.find(Known::spread(hash), is_it);
        found.map(|it| it.slot)
    }

    pub(super) fn find_or_insert(&mut self, hash: u64, item: T) -> SlotId {
        let Self {
            entries,
            free,
            index,
            ..
        } = self;
        let hash = half(hash);
        // Most that have the same place have another hash, and reading an entry may take long.
        let is_it = |it: &Known| {
            it.hash == hash
                && entries[it.slot.index()]
                    .as_ref()
                    .is_some_and(|entry| entry.item == item)
        };
        let found = index.entry(Known::spread(hash), is_it, |it| Known::spread(it.hash));
        let vacant = match found {
            hash_table::Entry::Occupied(found) => {
                let slot = found.get().slot;
                // One that came to rest is another item, which may differ in what `Eq` ignores.
                if let Some(entry) = &mut entries[slot.index()]
                    && entry.is_idle()
                {
                    entry.item = item;
                }
                return slot;
            }
            hash_table::Entry::Vacant(vacant) => vacant,
        };
        let slot = free.pop().unwrap_or_else(|| {
            let next = u32::try_from(entries.len()).expect("fewer than 4 billion distinct items");
            entries.push(None);
            SlotId::new(next)
        });
        vacant.insert(Known { hash, slot });
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
