//! Delayed items, earliest first.
//!
//! An item is contained at most once. Of two times the earlier one counts. Items with the same time
//! are returned in insertion order. The structure is a binary heap in which each item knows its
//! position, so an item is moved or removed without a search, and no stale entries are kept. It
//! reads no clock: times are durations since the queue was created.

use crate::slot_id::SlotId;
use std::time::Duration;

const ABSENT: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Delays {
    heap: Vec<Due>,
    /// The heap position of each slot, or `ABSENT`.
    places: Vec<u32>,
    puts: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Duration,
    /// The order of items with the same time.
    put: u64,
    slot: SlotId,
}

impl Delays {
    /// Inserts `slot` or moves it to an earlier time; a later time has no effect.
    pub(crate) fn put_earlier(&mut self, slot: SlotId, at: Duration) {
        match self.place(slot) {
            Some(place) if self.heap[place].at <= at => {}
            _ => self.put(slot, at),
        }
    }

    /// Inserts `slot` or moves it, whatever its time was.
    pub(crate) fn put(&mut self, slot: SlotId, at: Duration) {
        self.remove(slot);
        self.puts += 1;
        if self.places.len() <= slot.index() {
            self.places.resize(slot.index() + 1, ABSENT);
        }
        let place = self.heap.len();
        self.heap.push(Due {
            at,
            put: self.puts,
            slot,
        });
        self.rise(place);
    }

    /// Returns when the first item is due.
    pub(crate) fn earliest(&self) -> Option<Duration> {
        self.heap.first().map(|due| due.at)
    }

    /// Removes the first item if it is due at `now`.
    pub(crate) fn pop_due(&mut self, now: Duration) -> Option<SlotId> {
        let first = self.heap.first().filter(|due| due.at <= now)?.slot;
        self.remove(first);
        Some(first)
    }

    /// Removes the first item, due or not.
    pub(crate) fn pop(&mut self) -> Option<SlotId> {
        self.pop_due(Duration::MAX)
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn remove(&mut self, slot: SlotId) {
        let Some(place) = self.place(slot) else {
            return;
        };
        self.places[slot.index()] = ABSENT;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            // The item that fills the gap may belong above or below it.
            self.rise(place);
            self.sink(place);
        }
    }

    fn place(&self, slot: SlotId) -> Option<usize> {
        self.places
            .get(slot.index())
            .filter(|place| **place != ABSENT)
            .map(|place| *place as usize)
    }

    fn rise(&mut self, from: usize) {
        let due = self.heap[from];
        let mut place = from;
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= due {
                break;
            }
            self.set(place, self.heap[parent]);
            place = parent;
        }
        self.set(place, due);
    }

    fn sink(&mut self, from: usize) {
        let due = self.heap[from];
        let mut place = from;
        loop {
            let left = 2 * place + 1;
            let Some(mut child) = self.heap.get(left).map(|_| left) else {
                break;
            };
            if self
                .heap
                .get(left + 1)
                .is_some_and(|right| *right < self.heap[left])
            {
                child = left + 1;
            }
            if due <= self.heap[child] {
                break;
            }
            self.set(place, self.heap[child]);
            place = child;
        }
        self.set(place, due);
    }

    fn set(&mut self, place: usize, due: Due) {
        self.heap[place] = due;
        self.places[due.slot.index()] = u32::try_from(place).expect("as many places as slots");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn slot(index: u32) -> SlotId {
        SlotId::new(index)
    }

    #[test]
    fn the_earlier_of_two_times_stands() {
        let mut delays = Delays::default();
        delays.put_earlier(slot(1), at(5));
        delays.put_earlier(slot(1), at(3));
        delays.put_earlier(slot(1), at(4));
        assert_eq!((delays.len(), delays.earliest()), (1, Some(at(3))));
        assert_eq!(delays.pop_due(at(2)), None);
        assert_eq!(delays.pop_due(at(3)), Some(slot(1)));
        assert!(delays.is_empty());
    }

    #[test]
    fn put_moves_to_a_later_time_too() {
        let mut delays = Delays::default();
        delays.put(slot(0), at(1));
        delays.put(slot(0), at(9));
        assert_eq!(delays.earliest(), Some(at(9)));
    }

    #[test]
    fn the_same_time_comes_out_in_order_of_arrival() {
        let mut delays = Delays::default();
        for index in [4, 2, 7, 1] {
            delays.put_earlier(slot(index), at(1));
        }
        let order: Vec<_> = std::iter::from_fn(|| delays.pop()).collect();
        assert_eq!(order, [4, 2, 7, 1].map(slot));
    }

    proptest! {
        #[test]
        fn behaves_as_a_sorted_list(steps in proptest::collection::vec((0_u32..12, 0_u64..20, 0..4), 0..200)) {
            let mut delays = Delays::default();
            let mut model: Vec<(Duration, u64, SlotId)> = Vec::new();
            for (put, (index, seconds, what)) in (0_u64..).zip(steps) {
                let known = model.iter().position(|due| due.2 == slot(index));
                match what {
                    0 => {
                        let popped = delays.pop_due(at(seconds));
                        model.sort();
                        let first = model.first().filter(|due| due.0 <= at(seconds)).map(|due| due.2);
                        prop_assert_eq!(popped, first);
                        model.retain(|due| Some(due.2) != first);
                    }
                    1 => {
                        delays.put(slot(index), at(seconds));
                        model.retain(|due| due.2 != slot(index));
                        model.push((at(seconds), put, slot(index)));
                    }
                    _ => {
                        delays.put_earlier(slot(index), at(seconds));
                        if known.is_none_or(|known| model[known].0 > at(seconds)) {
                            model.retain(|due| due.2 != slot(index));
                            model.push((at(seconds), put, slot(index)));
                        }
                    }
                }
                prop_assert_eq!(delays.len(), model.len());
                prop_assert_eq!(delays.earliest(), model.iter().min().map(|due| due.0));
            }
        }
    }
}
