//! The order in which ready items are handed to workers.
//!
//! A higher lane goes first. A lane with waiting items is skipped at most `passes_max` times in a
//! row, so lower lanes never starve. Within a lane, groups take turns if there are groups, and each
//! is first in, first out. An item that is moved to another lane goes to its end. This module deals
//! with slots, and does not decide whether an item may run.
//!
//! A moved item leaves a stale entry in its old lane, recognised by its ticket. Stale entries are
//! skipped, and removed before they outnumber the live ones by more than [`STALE_MAX`].

use crate::slot_id::SlotId;
use hashbrown::HashMap;
use std::collections::VecDeque;

/// How many stale entries a lane may have in excess of its live ones.
const STALE_MAX: usize = 64;

/// How many places are kept when a lane becomes empty. The memory of a burst is freed when the lane
/// becomes empty again.
const PLACES_KEPT: usize = 4096;

/// The priority of an item.
///
/// The lower lane keeps important items from waiting behind a flood: a controller puts real changes
/// into `Normal`, and the keys of a resync or of the initial list into `Background`. An item that
/// is added again to a higher lane moves there; it is never moved down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Lane {
    /// After everything else, without starving.
    Background,
    /// The lane of [`WorkQueue::add`](crate::WorkQueue::add).
    #[default]
    Normal,
    /// Before everything else.
    Urgent,
}

impl Lane {
    const COUNT: usize = 3;
}

/// Distinguishes live from stale entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

#[derive(Debug, Clone, Copy)]
struct Place {
    slot: SlotId,
    ticket: Ticket,
}

#[derive(Debug)]
pub(crate) struct Lanes {
    queues: [Queue; Lane::COUNT],
    passes_max: u32,
    tickets: u64,
    len: usize,
}

impl Lanes {
    pub(crate) fn new(passes_max: u32, grouped: bool) -> Self {
        let queue = || Queue {
            order: Order::new(grouped),
            places: 0,
            peak: 0,
            live: 0,
            passes: 0,
        };
        let queues = [queue(), queue(), queue()];
        Self {
            queues,
            passes_max: passes_max.max(1),
            tickets: 0,
            len: 0,
        }
    }

    /// Returns the number of ready items.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends a slot to a lane.
    pub(crate) fn push(&mut self, lane: Lane, group: u64, slot: SlotId) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let queue = &mut self.queues[lane as usize];
        queue.order.push(group, Place { slot, ticket });
        queue.places += 1;
        queue.peak = queue.peak.max(queue.places);
        queue.live += 1;
        self.len += 1;
        ticket
    }

    /// Records that one entry in `lane` became stale: `is_live` is false for it now.
    pub(crate) fn withdraw(&mut self, lane: Lane, is_live: impl Fn(SlotId, Ticket) -> bool) {
        let queue = &mut self.queues[lane as usize];
        queue.live -= 1;
        self.len -= 1;
        if queue.places > 2 * queue.live + STALE_MAX {
            queue.order.retain(is_live);
            queue.places = queue.live;
        }
    }

    /// Removes the next slot.
    pub(crate) fn pop(&mut self, is_live: impl Fn(SlotId, Ticket) -> bool) -> Option<SlotId> {
        let chosen = self.choose()?;
        for queue in self.queues[..chosen]
            .iter_mut()
            .filter(|queue| queue.live > 0)
        {
            queue.passes += 1;
        }
        let queue = &mut self.queues[chosen];
        queue.passes = 0;
        let slot = loop {
            let (place, group_has_more) = queue
                .order
                .pop()
                .expect("a lane with live items has places");
            queue.places -= 1;
            // A stale entry is no turn of its group.
            if is_live(place.slot, place.ticket) {
                if group_has_more {
                    queue.order.end_turn();
                }
                break place.slot;
            }
        };
        queue.live -= 1;
        if queue.places == 0 {
            queue.order.shrink(std::mem::take(&mut queue.peak));
        }
        self.len -= 1;
        Some(slot)
    }

    fn choose(&self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let waiting = |lane: &usize| self.queues[*lane].live > 0;
        (0..Lane::COUNT)
            .filter(waiting)
            .find(|lane| self.queues[*lane].passes >= self.passes_max)
            .or_else(|| (0..Lane::COUNT).rev().find(waiting))
    }
}

#[derive(Debug)]
struct Queue {
    order: Order,
    /// The number of live and stale entries.
    places: usize,
    /// The maximum of `places` since the lane was last empty.
    peak: usize,
    live: usize,
    /// How many items came from higher lanes since this one was served.
    passes: u32,
}

#[derive(Debug)]
enum Order {
    Fifo(VecDeque<Place>),
    Fair {
        queues: HashMap<u64, VecDeque<Place>>,
        /// The groups with queued items; the first is served next.
        turns: VecDeque<u64>,
    },
}

impl Order {
    fn new(grouped: bool) -> Self {
        if grouped {
            Self::Fair {
                queues: HashMap::new(),
                turns: VecDeque::new(),
            }
        } else {
            Self::Fifo(VecDeque::new())
        }
    }

    fn push(&mut self, group: u64, place: Place) {
        match self {
            Self::Fifo(queue) => queue.push_back(place),
            Self::Fair { queues, turns } => {
                let queue = queues.entry(group).or_default();
                if queue.is_empty() {
                    turns.push_back(group);
                }
                queue.push_back(place);
            }
        }
    }

    /// Removes the next entry; returns also whether its group has more and the turn is to be ended.
    fn pop(&mut self) -> Option<(Place, bool)> {
        match self {
            Self::Fifo(queue) => queue.pop_front().map(|place| (place, false)),
            Self::Fair { queues, turns } => {
                let group = turns.front()?;
                let queue = queues
                    .get_mut(group)
                    .expect("a group with a turn has a queue");
                let place = queue.pop_front()?;
                let has_more = !queue.is_empty();
                if !has_more {
                    queues.remove(group);
                    turns.pop_front();
                }
                Some((place, has_more))
            }
        }
    }

    /// Ends the turn of a group that has more entries.
    fn end_turn(&mut self) {
        if let Self::Fair { turns, .. } = self {
            turns.rotate_left(1);
        }
    }

    /// Frees memory that was not needed since there were last no entries, when there were at most
    /// `peak`. There must be none now. A queue that is often long and often empty keeps its memory.
    fn shrink(&mut self, peak: usize) {
        let kept = PLACES_KEPT.max(peak.saturating_mul(4));
        match self {
            Self::Fifo(queue) if queue.capacity() > kept => *queue = VecDeque::new(),
            Self::Fair { queues, turns } if turns.capacity() > kept => {
                *queues = HashMap::new();
                *turns = VecDeque::new();
            }
            _ => {}
        }
    }

    fn retain(&mut self, is_live: impl Fn(SlotId, Ticket) -> bool) {
        let live = |place: &Place| is_live(place.slot, place.ticket);
        match self {
            Self::Fifo(queue) => queue.retain(live),
            Self::Fair { queues, turns } => {
                queues.retain(|_, queue| {
                    queue.retain(live);
                    !queue.is_empty()
                });
                turns.retain(|group| queues.contains_key(group));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(index: u32) -> SlotId {
        SlotId::new(index)
    }

    fn drain(lanes: &mut Lanes) -> Vec<SlotId> {
        std::iter::from_fn(|| lanes.pop(|_, _| true)).collect()
    }

    #[test]
    fn higher_lanes_go_first_and_each_is_first_in_first_out() {
        let mut lanes = Lanes::new(100, false);
        for (index, lane) in (0..).zip([
            Lane::Background,
            Lane::Normal,
            Lane::Urgent,
            Lane::Normal,
            Lane::Urgent,
        ]) {
            lanes.push(lane, 0, slot(index));
        }
        assert_eq!(drain(&mut lanes), [2, 4, 1, 3, 0].map(slot));
        assert_eq!(lanes.len(), 0);
    }

    #[test]
    fn a_lower_lane_is_passed_over_at_most_so_many_times() {
        let mut lanes = Lanes::new(2, false);
        for index in 0..3 {
            lanes.push(Lane::Background, 0, slot(index));
        }
        for index in 10..16 {
            lanes.push(Lane::Urgent, 0, slot(index));
        }
        assert_eq!(
            drain(&mut lanes),
            [10, 11, 0, 12, 13, 1, 14, 15, 2].map(slot)
        );
    }

    /// Contract WORK-7.
    #[test]
    fn groups_take_turns_within_a_lane() {
        let mut lanes = Lanes::new(9, true);
        for (index, group) in (0..).zip([1, 1, 1, 1, 2, 3, 2]) {
            lanes.push(Lane::Normal, group, slot(index));
        }
        assert_eq!(drain(&mut lanes), [0, 4, 5, 1, 6, 2, 3].map(slot));
    }

    #[test]
    fn a_stale_place_is_no_turn_of_its_group() {
        let mut lanes = Lanes::new(9, true);
        for index in 0..50 {
            lanes.push(Lane::Normal, 1, slot(index));
        }
        for index in 100..200 {
            lanes.push(Lane::Normal, 2, slot(index));
        }
        let is_live = |it: SlotId, _: Ticket| it.index() >= 50;
        (0..50).for_each(|_| lanes.withdraw(Lane::Normal, is_live));
        lanes.push(Lane::Normal, 1, slot(300));
        let order: Vec<_> = (0..3).filter_map(|_| lanes.pop(is_live)).collect();
        assert!(order[..2].contains(&slot(300)), "{order:?}");
    }

    #[test]
    fn the_memory_of_a_burst_is_given_back_after_the_next_items() {
        for grouped in [false, true] {
            let mut lanes = Lanes::new(9, grouped);
            for index in 0..20_000 {
                lanes.push(Lane::Normal, u64::from(index), slot(index));
            }
            while lanes.pop(|_, _| true).is_some() {}
            lanes.push(Lane::Normal, 0, slot(0));
            assert_eq!(lanes.pop(|_, _| true), Some(slot(0)));
            let kept = match &lanes.queues[Lane::Normal as usize].order {
                Order::Fifo(queue) => queue.capacity(),
                Order::Fair { turns, .. } => turns.capacity(),
            };
            assert_eq!(kept, 0);
        }
    }

    #[test]
    fn stale_places_are_skipped_and_swept() {
        for grouped in [false, true] {
            let mut lanes = Lanes::new(9, grouped);
            lanes.push(Lane::Background, 1, slot(7));
            for _ in 0..10 * STALE_MAX {
                let stale = lanes.push(Lane::Background, 1, slot(8));
                lanes.withdraw(Lane::Background, |slot, _| slot == SlotId::new(7));
                assert_ne!(stale, Ticket(0));
                assert!(lanes.queues[0].places <= 2 + STALE_MAX);
            }
            assert_eq!(lanes.len(), 1);
            assert_eq!(lanes.pop(|it, _| it == slot(7)), Some(slot(7)));
            assert_eq!(lanes.pop(|_, _| true), None);
        }
    }
}
