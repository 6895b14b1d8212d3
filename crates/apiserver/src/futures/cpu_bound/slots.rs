//! `Slots`: limits concurrent CPU-bound work, and orders those that wait.
//!
//! All waiters share the slots equally, by bytes of work: a request of 40 kB does not queue behind
//! a hundred of 3 MB that came before it, and many small ones cannot starve a large one. This is
//! weighted fair queueing: a virtual clock counts the work that each waiter would have had if all
//! had been served at once. It gives each piece of work a virtual finish time; the earliest goes
//! first, and for equal times the first to arrive.
//!
//! The number of waiters is bounded by the requests in flight, and for watches by the streams of
//! the connections.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

/// The slots.
pub(super) struct Slots(Mutex<State>);

struct State {
    free: usize,
    /// The virtual clock: bytes of work that each waiter would have had.
    clock: u64,
    /// How many have waited so far.
    arrivals: u64,
    /// Empty if a slot is free. A waiter that is removed from here owns a slot.
    waiting: BTreeMap<Key, Waker>,
}

/// Virtual finish time, and order of arrival.
type Key = (u64, u64);

/// Permission for one piece of work. Dropping it passes the slot on.
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    weight: u64,
}

/// Takes a slot repeatedly. Dropping it stops waiting.
pub(super) struct Turn<'a> {
    slots: &'a Slots,
    /// Its key among the waiters, until it notices that it was given a slot.
    key: Option<Key>,
}

impl Slots {
    pub(super) fn new(count: usize) -> Self {
        Self(Mutex::new(State {
            free: count,
            clock: 0,
            arrivals: 0,
            waiting: BTreeMap::new(),
        }))
    }

    /// Passes a slot on after this many bytes of work.
    fn release(&self, done: u64) {
        let mut state = self.0.lock();
        let share = (done / (state.waiting.len() as u64 + 1)).max(1);
        state.clock = state.clock.saturating_add(share);
        match state.waiting.pop_first() {
            Some((_, waker)) => {
                drop(state);
                waker.wake();
            }
            None => state.free += 1,
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.release(self.weight);
    }
}

impl<'a> Turn<'a> {
    pub(super) fn new(slots: &'a Slots) -> Self {
        Self { slots, key: None }
    }

    /// Waits for a slot for this many bytes of work.
    pub(super) fn poll_take(&mut self, cx: &Context<'_>, weight: usize) -> Poll<Slot<'a>> {
        let slots = self.slots;
        let weight = weight as u64;
        let mut state = slots.0.lock();
        match self.key {
            Some(key) => {
                if let Some(waker) = state.waiting.get_mut(&key) {
                    waker.clone_from(cx.waker());
                    return Poll::Pending;
                }
                self.key = None;
            }
            None if state.free > 0 => state.free -= 1,
            None => {
                state.arrivals += 1;
                let key = (state.clock.saturating_add(weight), state.arrivals);
                state.waiting.insert(key, cx.waker().clone());
                self.key = Some(key);
                return Poll::Pending;
            }
        }
        Poll::Ready(Slot { slots, weight })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some(key) = self.key else {
            return;
        };
        // A waiter that was given a slot without noticing passes it on.
        let left = self.slots.0.lock().waiting.remove(&key);
        if left.is_none() {
            self.slots.release(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 3 << 20;
    const SMALL: usize = 40 << 10;

    fn take<'a>(turn: &mut Turn<'a>, weight: usize) -> Option<Slot<'a>> {
        let cx = Context::from_waker(Waker::noop());
        match turn.poll_take(&cx, weight) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    #[test]
    fn equal_requests_are_served_in_order_of_arrival() {
        let slots = Slots::new(1);
        let mut turns: Vec<_> = (0..4).map(|_| Turn::new(&slots)).collect();
        let mut slot = take(&mut turns[0], LARGE).expect("it is free");
        for turn in &mut turns[1..] {
            assert!(take(turn, LARGE).is_none());
        }
        for at in 1..4 {
            drop(slot);
            for later in &mut turns[at + 1..] {
                assert!(take(later, LARGE).is_none());
            }
            slot = take(&mut turns[at], LARGE).expect("it is next");
        }
        drop(slot);
    }

    #[test]
    fn small_requests_do_not_starve_a_large_one() {
        let slots = Slots::new(1);
        let (mut large, mut small) = (Turn::new(&slots), [Turn::new(&slots), Turn::new(&slots)]);
        let mut slot = take(&mut small[0], SMALL).expect("it is free");
        assert!(take(&mut large, LARGE).is_none());
        for round in 1..1000 {
            assert!(take(&mut small[round % 2], SMALL).is_none());
            drop(slot);
            if take(&mut large, LARGE).is_some() {
                assert!(round > LARGE / SMALL);
                return;
            }
            slot = take(&mut small[round % 2], SMALL).expect("it is next");
        }
        panic!("the large one still waits");
    }

    #[test]
    fn a_dropped_waiter_passes_its_slot_on() {
        let slots = Slots::new(1);
        let mut first = Turn::new(&slots);
        let slot = take(&mut first, SMALL);
        let mut gone = Turn::new(&slots);
        assert!(take(&mut gone, SMALL).is_none());
        let mut next = Turn::new(&slots);
        assert!(take(&mut next, SMALL).is_none());
        drop(slot);
        assert!(take(&mut next, SMALL).is_none());
        drop(gone);
        assert!(take(&mut next, SMALL).is_some());
    }

    #[test]
    fn no_more_run_than_there_are_slots_and_none_is_lost() {
        let slots = Slots::new(2);
        let mut turns: Vec<_> = (0..6).map(|_| (Turn::new(&slots), None)).collect();
        let mut seed = 7_usize;
        let mut below = |count: usize| {
            seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (seed >> 16) % count
        };
        for _ in 0..20_000 {
            let (at, step, weight) = (below(6), below(5), 1 + below(LARGE));
            let (turn, slot) = &mut turns[at];
            match step {
                0 => *turn = Turn::new(&slots),
                1 => *slot = None,
                _ if slot.is_none() => *slot = take(turn, weight),
                _ => {}
            }
            let running = turns.iter().filter(|(_, slot)| slot.is_some()).count();
            assert!(running <= 2);
        }
        drop(turns);
        let state = slots.0.lock();
        assert_eq!((state.free, state.waiting.len()), (2, 0));
    }
}
