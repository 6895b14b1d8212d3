//! The transitions of an item between resting, ready, running and delayed.
//!
//! Each transition keeps the slot, the lanes, the delays and the counts consistent. An item that
//! ends at rest without a delay is released by the caller, with [`Core::release_later`]. When a
//! transition is due is not decided here.

use super::Core;
use super::slots::{Delayed, Phase};
use crate::config::DuringBackoff;
use crate::lanes::Lane;
use crate::slot_id::SlotId;
use std::time::Duration;

/// The maximum number of delayed items that one operation makes ready, which bounds how long the
/// lock is held when many are due together. The others follow with the next operations.
pub(super) const PROMOTED_MAX: usize = 256;

/// How many items at rest are released together while others are ready.
pub(super) const IDLE_MAX: usize = if cfg!(test) { 3 } else { 32 };

impl<T> Core<T> {
    /// Makes items ready whose delay has passed; returns true if there may be more.
    pub(crate) fn promote(&mut self, now: Duration) -> bool {
        if self.delays.is_empty() && self.due.is_empty() {
            return false;
        }
        while self.due.len() < PROMOTED_MAX
            && let Some(slot) = self.delays.pop_due(now)
        {
            self.due.push_back(slot);
        }
        self.slots.fetch(self.due.make_contiguous());
        let is_full = self.due.len() == PROMOTED_MAX;
        while let Some(slot) = self.due.pop_front() {
            let delayed = self.slots.at(slot).delayed.take();
            let lane = delayed.map_or(Lane::Normal, |delayed| delayed.lane);
            self.make_dirty(now, slot, lane);
        }
        is_full
    }

    pub(super) fn promote_all(&mut self, now: Duration) {
        while self.promote(now) {}
    }

    /// Marks an item to be run, according to its phase.
    pub(super) fn make_dirty(&mut self, now: Duration, slot: SlotId, lane: Lane) {
        let entry = self.slots.at(slot);
        match &mut entry.phase {
            Phase::Resting => {
                self.count_add(now, slot);
                self.push(slot, lane);
            }
            Phase::Ready { lane: old, .. } => {
                let old = *old;
                if lane > old {
                    self.push(slot, lane);
                    self.lanes
                        .withdraw(old, |slot, ticket| self.slots.holds(slot, ticket));
                }
            }
            Phase::Running { again, .. } => {
                let first = again.is_none();
                *again = (*again).max(Some(lane));
                if first {
                    self.again += 1;
                    self.count_add(now, slot);
                }
            }
        }
    }

    pub(super) fn push(&mut self, slot: SlotId, lane: Lane) {
        let entry = self.slots.at(slot);
        let group = self.group.as_ref().map_or(0, |group| group.of(&entry.item));
        let ticket = self.lanes.push(lane, group, slot);
        entry.phase = Phase::Ready { lane, ticket };
    }

    /// Ends the run of an item; returns its lane and whether it runs again.
    pub(super) fn stop(&mut self, now: Duration, slot: SlotId) -> (Lane, Option<Lane>) {
        let entry = self.slots.at(slot);
        let Phase::Running { lane, place, again } = entry.phase else {
            unreachable!("only an item that was taken is finished, and once");
        };
        entry.phase = Phase::Resting;
        if self.timed {
            let started_at = self.slots.times(slot).started_at;
            self.report.work_duration = Some(now.saturating_sub(started_at));
        }
        self.again -= usize::from(again.is_some());
        self.running.swap_remove(place as usize);
        if let Some(moved) = self.running.get(place as usize).copied()
            && let Phase::Running { place: its, .. } = &mut self.slots.at(moved).phase
        {
            *its = place;
        }
        (lane, again)
    }

    /// Requeues an item that has just stopped. If it runs `again` anyway, the delay is in addition
    /// to that, except that a kept backoff replaces it.
    pub(super) fn retry(
        &mut self,
        now: Duration,
        slot: SlotId,
        delayed: Delayed,
        wait: Duration,
        again: &mut Option<Lane>,
    ) {
        self.count_retry();
        if wait.is_zero() {
            if again.is_none() {
                self.count_add(now, slot);
            }
            *again = (*again).max(Some(delayed.lane));
            return;
        }
        let keep = delayed.backoff && self.during_backoff == DuringBackoff::KeepBackoff;
        let lane = again
            .filter(|_| keep)
            .map_or(delayed.lane, |lane| lane.max(delayed.lane));
        if keep {
            *again = None;
        }
        self.delay(slot, Delayed { lane, ..delayed }, now.saturating_add(wait));
    }

    pub(super) fn run_after(
        &mut self,
        now: Duration,
        slot: SlotId,
        delayed: Delayed,
        wait: Duration,
    ) {
        if wait.is_zero() {
            self.make_dirty(now, slot, delayed.lane);
        } else {
            self.delay(slot, delayed, now.saturating_add(wait));
        }
    }

    pub(super) fn delay(&mut self, slot: SlotId, delayed: Delayed, at: Duration) {
        let entry = self.slots.at(slot);
        let before = entry.delayed;
        let lane = before.map_or(delayed.lane, |before| before.lane.max(delayed.lane));
        let was_backoff = before.is_some_and(|before| before.backoff);
        entry.delayed = Some(Delayed {
            lane,
            backoff: delayed.backoff || was_backoff,
        });
        if delayed.backoff && self.during_backoff == DuringBackoff::KeepBackoff {
            // A kept backoff is a lower bound: an earlier request does not shorten it.
            self.delays.put(slot, at);
        } else {
            self.delays.put_earlier(slot, at);
        }
    }

    /// Reports whether the item backs off and must continue to wait; if so, it will return in
    /// `lane` at least.
    pub(super) fn keeps_waiting(&mut self, slot: SlotId, lane: Lane) -> bool {
        let keeps = self.during_backoff == DuringBackoff::KeepBackoff;
        match &mut self.slots.at(slot).delayed {
            Some(delayed) if keeps && delayed.backoff => {
                delayed.lane = delayed.lane.max(lane);
                true
            }
            _ => false,
        }
    }

    pub(super) fn count_failure(&mut self, now: Duration, slot: SlotId) -> Duration {
        let entry = self.slots.at(slot);
        entry.failures = entry.failures.saturating_add(1);
        self.limiter.delay(&entry.item, entry.failures, now)
    }

    pub(super) fn clear_failures(&mut self, slot: SlotId) {
        let entry = self.slots.at(slot);
        if entry.failures > 0 {
            entry.failures = 0;
            if let Some(delayed) = &mut entry.delayed {
                delayed.backoff = false;
            }
            self.limiter.forget(&entry.item);
        }
    }

    /// Releases the slot of an item that came to rest; while others are ready, together with the
    /// slots of further ones. A release mostly waits for cold memory, and reads for several slots
    /// overlap.
    pub(super) fn release_later(&mut self, slot: SlotId) {
        let Some(entry) = self.slots.get(slot).filter(|entry| entry.is_idle()) else {
            return;
        };
        // An item that kept failures, after a shutdown, would still be reported with them.
        if entry.failures > 0 || (self.idle.is_empty() && self.lanes.len() == 0) {
            self.release(slot);
            return;
        }
        self.idle.push(slot);
        if self.idle.len() == IDLE_MAX || self.lanes.len() == 0 {
            self.release_idle();
        }
    }

    /// Releases the slots of all items at rest.
    pub(super) fn release_idle(&mut self) {
        self.slots.fetch(&self.idle);
        while let Some(slot) = self.idle.pop() {
            // It may have been added again, and released since.
            if self.slots.is_idle(slot) {
                self.release(slot);
            }
        }
    }

    fn release(&mut self, slot: SlotId) {
        if self.slots.release(slot) {
            self.delays.free();
        }
    }

    /// Counts an item that became something to run.
    fn count_add(&mut self, now: Duration, slot: SlotId) {
        if self.timed {
            self.slots.times(slot).added_at = now;
        }
        self.adds += 1;
        self.report.adds += 1;
    }

    pub(super) fn count_retry(&mut self) {
        self.retries += 1;
        self.report.retries += 1;
    }
}
