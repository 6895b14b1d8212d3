//! `Slots`: how many pieces of work run at a time, and whose turn it is.
//!
//! Everybody who waits has the same share of the slots, counted in bytes of work: a request of
//! 40 kB is not behind a hundred of 3 MB that came before it, and a crowd of small ones cannot hold
//! up a large one for ever. It is weighted fair queueing: a clock that counts the work that each of
//! those who wait would have had, had all been served at once, says by when a piece of work would
//! have been done; the earliest comes first, and of equals the first to come.
//!
//! How many wait is bounded by the requests in flight, and for watches by the streams of
//! connections.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

/// How many may run at a time.
pub(super) struct Slots(Mutex<State>);

struct State {
    free: usize,
    /// Bytes of work that everybody who waited all along would have had.
    clock: u64,
    /// How many have waited so far.
    came: u64,
    /// None if one is free. Whoever is taken from here has a slot.
    waiting: BTreeMap<Place, Waker>,
}

/// By when the work would have been done, and who came first.
type Place = (u64, u64);

/// Leave for one piece of work. Dropped, it goes to whoever is next.
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    weight: u64,
}

/// Who takes a slot again and again. Dropped, it waits no more.
pub(super) struct Turn<'a> {
    slots: &'a Slots,
    /// Where it waits, or waited until it was given a slot that it has not seen yet.
    place: Option<Place>,
}

impl Slots {
    pub(super) fn new(count: usize) -> Self {
        Self(Mutex::new(State {
            free: count,
            clock: 0,
            came: 0,
            waiting: BTreeMap::new(),
        }))
    }

    /// Gives a slot to whoever is next, after work of so many bytes.
    fn give(&self, done: u64) {
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
        self.slots.give(self.weight);
    }
}

impl<'a> Turn<'a> {
    pub(super) fn new(slots: &'a Slots) -> Self {
        Self { slots, place: None }
    }

    /// Waits for a slot for a piece of work of so many bytes.
    pub(super) fn poll_take(&mut self, cx: &Context<'_>, weight: usize) -> Poll<Slot<'a>> {
        let slots = self.slots;
        let weight = weight as u64;
        let mut state = slots.0.lock();
        match self.place {
            Some(place) => {
                if let Some(waker) = state.waiting.get_mut(&place) {
                    waker.clone_from(cx.waker());
                    return Poll::Pending;
                }
                self.place = None;
            }
            None if state.free > 0 => state.free -= 1,
            None => {
                state.came += 1;
                let place = (state.clock.saturating_add(weight), state.came);
                state.waiting.insert(place, cx.waker().clone());
                self.place = Some(place);
                return Poll::Pending;
            }
        }
        Poll::Ready(Slot { slots, weight })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place else {
            return;
        };
        // Who has been given a slot and has not come for it passes it on.
        let left = self.slots.0.lock().waiting.remove(&place);
        if left.is_none() {
            self.slots.give(0);
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
    fn equals_are_served_in_the_order_in_which_they_come() {
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
    fn a_crowd_of_small_ones_does_not_hold_up_a_large_one_for_ever() {
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
    fn who_was_given_a_slot_and_hangs_up_passes_it_on() {
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
