//! Delayed items, earliest first.
//!
//! An item is contained at most once. Of two times the earlier one counts. Items with the same time
//! are returned in insertion order. It reads no clock: times are durations since the queue was
//! created, to the nanosecond for 584 years.
//!
//! There is a heap for each 2^22 nanoseconds, which are about 4 ms. So an item is compared with
//! those of the same few milliseconds only, whose memory is in the processor's cache when they are
//! due.
//!
//! An item that is moved leaves a stale entry, recognised by its ticket. Stale entries are skipped,
//! are never the first, and are removed some at a time once they outnumber the live ones by
//! [`STALE_MAX`].

use crate::slot_id::SlotId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// How many stale entries there may be in excess of the live ones.
const STALE_MAX: usize = if cfg!(test) { 4 } else { 64 };

/// How many entries one operation looks through, and those of the last of their buckets, while
/// there are more stale ones than that.
const SWEPT_MIN: usize = 256;

/// The ticket of a slot that is not delayed.
const NONE: u64 = 0;

/// The times of a bucket have all bits but these in common. A bucket with one item takes 150 bytes,
/// so buckets should not be shorter than they need to be.
const BUCKET_BITS: u32 = 22;

#[derive(Debug, Default)]
pub(crate) struct Delays {
    /// None of them is empty.
    buckets: BTreeMap<u64, BinaryHeap<Reverse<Due>>>,
    /// The live entry of each slot, or `NONE`.
    held: Vec<Held>,
    live: usize,
    stale: usize,
    /// The number of the bucket that is swept next.
    swept: u64,
    tickets: u64,
}

/// An entry. Tickets increase, so entries with the same time are in insertion order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Nanos,
    ticket: u64,
    slot: SlotId,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    at: Nanos,
    ticket: u64,
}

/// A time in nanoseconds, which takes half the memory of a [`Duration`]. The maximum stands for
/// every later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Nanos(u64);

impl Nanos {
    fn bucket(self) -> u64 {
        self.0 >> BUCKET_BITS
    }
}

impl From<Duration> for Nanos {
    fn from(at: Duration) -> Self {
        Self(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(at: Nanos) -> Self {
        match at.0 {
            u64::MAX => Self::MAX,
            nanos => Self::from_nanos(nanos),
        }
    }
}

impl Delays {
    /// Inserts `slot` or moves it to an earlier time; a later time has no effect.
    pub(crate) fn put_earlier(&mut self, slot: SlotId, at: Duration) {
        let held = self.held.get(slot.index());
        if held.is_none_or(|held| held.ticket == NONE || held.at > at.into()) {
            self.put(slot, at);
        }
    }

    /// Inserts `slot` or moves it, whatever its time was.
    pub(crate) fn put(&mut self, slot: SlotId, at: Duration) {
        if self.held.len() <= slot.index() {
            let absent = Held {
                at: Nanos(0),
                ticket: NONE,
            };
            self.held.resize(slot.index() + 1, absent);
        }
        self.tickets += 1;
        let (at, ticket) = (at.into(), self.tickets);
        let held = std::mem::replace(&mut self.held[slot.index()], Held { at, ticket });
        let bucket = self.buckets.entry(at.bucket()).or_default();
        bucket.push(Reverse(Due { at, ticket, slot }));
        if held.ticket == NONE {
            self.live += 1;
        } else {
            self.stale += 1;
            self.skip_stale();
            self.sweep();
        }
    }

    /// Returns when the first item is due.
    pub(crate) fn earliest(&self) -> Option<Duration> {
        self.first().map(|due| due.at.into())
    }

    /// Removes the first item if it is due at `now`.
    pub(crate) fn pop_due(&mut self, now: Duration) -> Option<SlotId> {
        let now = now.into();
        let slot = self.first().filter(|due| due.at <= now)?.slot;
        self.remove_first();
        self.held[slot.index()].ticket = NONE;
        self.live -= 1;
        self.skip_stale();
        self.sweep();
        Some(slot)
    }

    /// Removes the first item, due or not.
    pub(crate) fn pop(&mut self) -> Option<SlotId> {
        self.pop_due(Duration::MAX)
    }

    pub(crate) fn len(&self) -> usize {
        self.live
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Frees the memory of a burst. Nothing may be delayed.
    pub(crate) fn free(&mut self) {
        debug_assert!(self.is_empty(), "what is delayed has a slot");
        self.held = Vec::new();
    }

    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.held.capacity()
    }

    #[inline]
    fn first(&self) -> Option<&Due> {
        let (_, bucket) = self.buckets.first_key_value()?;
        bucket.peek().map(|Reverse(due)| due)
    }

    fn remove_first(&mut self) {
        if let Some(mut bucket) = self.buckets.first_entry() {
            bucket.get_mut().pop();
            if bucket.get().is_empty() {
                bucket.remove();
            }
        }
    }

    /// Removes stale entries until the first is live.
    fn skip_stale(&mut self) {
        while self.stale > 0 && self.first().is_some_and(|due| !is_live(&self.held, due)) {
            self.remove_first();
            self.stale -= 1;
        }
    }

    /// Removes stale entries while there are many, of some buckets: the next operation continues
    /// with those that follow.
    fn sweep(&mut self) {
        if self.stale <= self.live + STALE_MAX {
            return;
        }
        let (held, mut visited) = (&self.held, 0);
        while visited < SWEPT_MIN && self.stale > 0 {
            let Some((&number, bucket)) = self.buckets.range_mut(self.swept..).next() else {
                // What is stale is in buckets before this one.
                self.swept = 0;
                return;
            };
            let before = bucket.len();
            bucket.retain(|Reverse(due)| is_live(held, due));
            visited += before;
            self.stale -= before - bucket.len();
            if bucket.is_empty() {
                self.buckets.remove(&number);
            }
            self.swept = number + 1;
        }
    }
}

fn is_live(held: &[Held], due: &Due) -> bool {
    held[due.slot.index()].ticket == due.ticket
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Some of these times share a bucket, some do not.
    fn at(step: u64) -> Duration {
        Duration::from_micros(400 * step)
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

    fn entries(delays: &Delays) -> usize {
        delays.buckets.values().map(BinaryHeap::len).sum()
    }

    #[test]
    fn items_that_are_moved_again_and_again_take_no_memory() {
        let mut delays = Delays::default();
        for step in 0..100_000 {
            delays.put(slot(step % 3), at(u64::from(step % 1_000)));
            assert!(entries(&delays) <= 2 * 3 + STALE_MAX + 1);
        }
        assert_eq!(delays.len(), 3);
        assert!((0..3).all(|_| delays.pop().is_some()));
        assert_eq!((delays.pop(), entries(&delays), delays.stale), (None, 0, 0));
    }

    #[test]
    fn what_moved_items_leave_behind_goes_with_them() {
        let mut delays = Delays::default();
        delays.put(slot(0), at(1_000));
        for index in 1..1_000 {
            delays.put(slot(index), at(2_000));
            delays.put(slot(index), at(1));
        }
        while delays.pop_due(at(1)).is_some() {
            // The first operation that finds too many looks through the live ones before them.
            assert!(entries(&delays) <= 2 * delays.len() + STALE_MAX + 4);
        }
        assert_eq!((delays.len(), delays.earliest()), (1, Some(at(1_000))));
        assert!(entries(&delays) <= 2 + STALE_MAX + 4);
    }

    proptest! {
        #[test]
        fn behaves_as_a_sorted_list(steps in proptest::collection::vec((0_u32..12, 0_u64..20, 0..4), 0..200)) {
            let mut delays = Delays::default();
            let mut model: Vec<(Duration, u64, SlotId)> = Vec::new();
            for (put, (index, step, what)) in (0_u64..).zip(steps) {
                let known = model.iter().position(|due| due.2 == slot(index));
                match what {
                    0 => {
                        let popped = delays.pop_due(at(step));
                        model.sort();
                        let first = model.first().filter(|due| due.0 <= at(step)).map(|due| due.2);
                        prop_assert_eq!(popped, first);
                        model.retain(|due| Some(due.2) != first);
                    }
                    1 => {
                        delays.put(slot(index), at(step));
                        model.retain(|due| due.2 != slot(index));
                        model.push((at(step), put, slot(index)));
                    }
                    _ => {
                        delays.put_earlier(slot(index), at(step));
                        if known.is_none_or(|known| model[known].0 > at(step)) {
                            model.retain(|due| due.2 != slot(index));
                            model.push((at(step), put, slot(index)));
                        }
                    }
                }
                prop_assert_eq!(delays.len(), model.len());
                prop_assert!(entries(&delays) <= 2 * model.len() + STALE_MAX + 4);
                prop_assert_eq!(delays.earliest(), model.iter().min().map(|due| due.0));
            }
        }
    }
}
