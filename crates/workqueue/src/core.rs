//! The queue's algorithm as a state machine: told what happened and when, it decides what is next.
//!
//! It keeps the contracts of the crate: one worker per item, one run for any number of adds before
//! it, one more for any number of adds during it, the earliest of several delays, a failure put
//! back through the limiter. An item is *ready* (in a lane), *running* (with a worker, perhaps to
//! run again), *delayed*, or delayed and one of the others.
//!
//! It reads no clock, wakes nobody and holds no lock. `now` is the time since the queue was made;
//! items whose delay is over become ready at the start of whatever operation comes next.

#[cfg(test)]
mod model;
mod schedule;
mod slots;
#[cfg(test)]
mod tests;

use self::slots::{Delayed, Phase, Slots};
use crate::config::{Config, DuringBackoff, Group};
use crate::delay::Delays;
use crate::intake::Entry;
use crate::lanes::{Lane, Lanes};
use crate::metrics::{Report, Stats};
use crate::rate_limiter::{Bucket, RateLimiter};
use crate::slot_id::SlotId;
use std::time::Duration;

pub(crate) struct Core<T> {
    slots: Slots<T>,
    lanes: Lanes,
    delays: Delays,
    group: Option<Group<T>>,
    running: Vec<SlotId>,
    /// How many of the running were added again.
    again: usize,
    mode: Mode,
    limiter: Box<dyn RateLimiter<T>>,
    during_backoff: DuringBackoff,
    dispatch_limit: Option<Bucket>,
    /// No hand-out before this, says the hand-out limit.
    held_until: Option<Duration>,
    timed: bool,
    adds: u64,
    retries: u64,
    report: Report,
}

/// Whether the queue takes and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Takes and gives.
    Open,
    /// Takes nothing more; gives until nothing is queued and nothing running is to run again.
    Draining,
    /// Takes nothing more; gives what is queued.
    ShutDown,
}

/// What a worker gets when it asks.
#[derive(Debug)]
pub(crate) enum Take<T> {
    Item {
        slot: SlotId,
        item: T,
        failures: u32,
    },
    /// Nothing now; [`Core::deadline`] says when to ask again at the latest.
    Nothing,
    Closed,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Succeeded,
    /// Succeeded, and to be run again after this long.
    Requeued(Duration),
    /// Not begun, neither success nor failure: to be run after this long.
    Postponed(Duration),
    /// Failed; the limiter decides when to run again, but not before this long.
    Failed {
        wait_min: Duration,
    },
}

impl<T> Core<T> {
    pub(crate) fn new(config: Config<T>) -> Self {
        Self {
            lanes: Lanes::new(config.passes_max, config.group.is_some()),
            slots: Slots::new(),
            delays: Delays::default(),
            group: config.group,
            running: Vec::new(),
            again: 0,
            mode: Mode::Open,
            limiter: config.limiter,
            during_backoff: config.during_backoff,
            dispatch_limit: config.dispatch_limit,
            held_until: None,
            timed: config.metrics.is_some(),
            adds: 0,
            retries: 0,
            report: Report::default(),
        }
    }

    /// A worker is done with an item that [`Core::take`] gave it.
    pub(crate) fn finish(&mut self, now: Duration, slot: SlotId, outcome: Outcome) {
        self.promote(now);
        let (lane, mut again) = self.stop(now, slot);
        match outcome {
            Outcome::Succeeded => self.clear_failures(slot),
            Outcome::Requeued(after) => {
                self.clear_failures(slot);
                if self.mode == Mode::Open {
                    self.retry(
                        now,
                        slot,
                        Delayed {
                            lane,
                            backoff: false,
                        },
                        after,
                        &mut again,
                    );
                }
            }
            Outcome::Postponed(wait) if wait.is_zero() => again = again.max(Some(lane)),
            Outcome::Postponed(wait) => {
                if self.mode == Mode::Open {
                    let delayed = Delayed {
                        lane,
                        backoff: false,
                    };
                    self.delay(slot, delayed, now.saturating_add(wait));
                }
            }
            Outcome::Failed { wait_min } => {
                if self.mode == Mode::Open {
                    let wait = self.count_failure(now, slot).max(wait_min);
                    self.retry(
                        now,
                        slot,
                        Delayed {
                            lane,
                            backoff: true,
                        },
                        wait,
                        &mut again,
                    );
                }
            }
        }
        if let Some(lane) = again {
            self.push(slot, lane);
        }
        self.release_if_idle(slot);
    }

    /// Takes nothing more. Items that wait for their time are dropped; what is ready is still
    /// handed out. With `drain`, so is what is running and was added again.
    pub(crate) fn shut_down(&mut self, now: Duration, drain: bool) {
        // What is due would be ready if anybody had looked.
        self.promote_all(now);
        self.mode = match self.mode {
            Mode::Open | Mode::Draining if drain => Mode::Draining,
            _ => Mode::ShutDown,
        };
        while let Some(slot) = self.delays.pop() {
            self.slots.at(slot).delayed = None;
            self.release_if_idle(slot);
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.mode == Mode::Open
    }

    /// Whether nothing will be handed out ever again.
    pub(crate) fn is_closed(&self) -> bool {
        match self.mode {
            Mode::Open => false,
            Mode::Draining => self.lanes.len() == 0 && self.again == 0,
            Mode::ShutDown => self.lanes.len() == 0,
        }
    }

    /// Whether somebody who waits for the drain need not wait any longer.
    pub(crate) fn is_drained(&self) -> bool {
        match self.mode {
            Mode::Open => false,
            Mode::Draining => self.lanes.len() == 0 && self.running.is_empty(),
            Mode::ShutDown => true,
        }
    }

    /// How many items could be handed out if asked for.
    pub(crate) fn runnable(&self) -> usize {
        if self.held_until.is_some() {
            0
        } else {
            self.lanes.len()
        }
    }

    /// When asking again may give something although nothing else has happened.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let held_until = self.held_until.filter(|_| self.lanes.len() > 0);
        self.delays.earliest().into_iter().chain(held_until).min()
    }

    /// Whether there is nothing to report and nobody to tell that the queue is closed.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.timed && self.is_open()
    }

    /// Whether any operation needs the time now; otherwise only delays and failures do.
    pub(crate) fn reads_clock(&self) -> bool {
        self.timed || self.dispatch_limit.is_some() || !self.delays.is_empty()
    }

    /// How many items are ready at `now`.
    pub(crate) fn len(&mut self, now: Duration) -> usize {
        self.promote_all(now);
        self.lanes.len()
    }

    pub(crate) fn stats(&mut self, now: Duration) -> Stats {
        self.promote_all(now);
        let mut stats = Stats {
            depth: self.lanes.len() + self.again,
            delayed: self.delays.len(),
            processing: self.running.len(),
            adds: self.adds,
            retries: self.retries,
            ..Stats::default()
        };
        if self.timed {
            for slot in &self.running {
                let worked = now.saturating_sub(self.slots.times(*slot).started_at);
                stats.unfinished_work = stats.unfinished_work.saturating_add(worked);
                stats.longest_running = stats.longest_running.max(worked);
            }
        }
        stats
    }

    /// What there is to report since this was last called.
    pub(crate) fn take_report(&mut self) -> Report {
        std::mem::take(&mut self.report)
    }
}

impl<T: Eq> Core<T> {
    /// Everything that was left in passing, in its order.
    pub(crate) fn bring_in(&mut self, now: Duration, entries: &mut Vec<Entry<T>>) {
        for entry in entries.drain(..) {
            match entry {
                Entry::Added { hash, item, lane } => self.add(now, hash, item, lane),
                Entry::Succeeded(slot) => self.finish(now, slot, Outcome::Succeeded),
            }
        }
    }

    /// The item is to be run as soon as it can.
    pub(crate) fn add(&mut self, now: Duration, hash: u64, item: T, lane: Lane) {
        self.promote(now);
        if self.is_open() {
            let slot = self.slots.find_or_insert(hash, item);
            if !self.keeps_waiting(slot, lane) {
                self.make_dirty(now, slot, lane);
            }
        }
    }

    /// The item is to be run after `wait`.
    pub(crate) fn add_after(
        &mut self,
        now: Duration,
        hash: u64,
        item: T,
        lane: Lane,
        wait: Duration,
    ) {
        self.promote(now);
        if self.is_open() {
            self.count_retry();
            let slot = self.slots.find_or_insert(hash, item);
            if !self.keeps_waiting(slot, lane) {
                self.run_after(
                    now,
                    slot,
                    Delayed {
                        lane,
                        backoff: false,
                    },
                    wait,
                );
            }
        }
    }

    /// The item failed somewhere else and is to be run when the limiter says.
    pub(crate) fn add_rate_limited(&mut self, now: Duration, hash: u64, item: T, lane: Lane) {
        self.promote(now);
        if self.is_open() {
            self.count_retry();
            let slot = self.slots.find_or_insert(hash, item);
            if !self.keeps_waiting(slot, lane) {
                let wait = self.count_failure(now, slot);
                self.run_after(
                    now,
                    slot,
                    Delayed {
                        lane,
                        backoff: true,
                    },
                    wait,
                );
            }
        }
    }

    /// The item's failures are forgotten. What is scheduled stays so.
    pub(crate) fn forget(&mut self, hash: u64, item: &T) {
        match self.slots.find(hash, item) {
            Some(slot) => self.clear_failures(slot),
            None => self.limiter.forget(item),
        }
    }

    /// Failures in a row of an item that waits or runs.
    pub(crate) fn failures(&self, hash: u64, item: &T) -> u32 {
        let slot = self.slots.find(hash, item);
        slot.and_then(|slot| self.slots.get(slot))
            .map_or(0, |entry| entry.failures)
    }
}

impl<T: Clone> Core<T> {
    /// A worker asks for an item.
    pub(crate) fn take(&mut self, now: Duration) -> Take<T> {
        self.promote(now);
        if self.lanes.len() == 0 {
            return if self.is_closed() {
                Take::Closed
            } else {
                Take::Nothing
            };
        }
        self.held_until = self
            .dispatch_limit
            .as_mut()
            .and_then(|bucket| bucket.try_take(now).err());
        if self.held_until.is_some() {
            return Take::Nothing;
        }
        let next = self
            .lanes
            .pop(|slot, ticket| self.slots.holds(slot, ticket));
        let slot = next.expect("something is ready");
        let place = u32::try_from(self.running.len()).expect("no more than there are slots");
        self.running.push(slot);
        let entry = self.slots.at(slot);
        let Phase::Ready { lane, .. } = entry.phase else {
            unreachable!("what a lane holds is ready");
        };
        entry.phase = Phase::Running {
            lane,
            place,
            again: None,
        };
        let (item, failures) = (entry.item.clone(), entry.failures);
        if self.timed {
            let times = self.slots.times(slot);
            times.started_at = now;
            self.report.queue_duration = Some(now.saturating_sub(times.added_at));
        }
        Take::Item {
            slot,
            item,
            failures,
        }
    }
}
