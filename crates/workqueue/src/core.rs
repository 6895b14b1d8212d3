//! The queue's algorithm as a pure state machine.
//!
//! It keeps the contracts of the crate: one worker per item, one run for any number of additions
//! before it, one more for any number during it, the earliest of several delays, and retries
//! through the limiter. An item is *ready* (in a lane), *running* (with a worker, perhaps to run
//! again), *delayed*, or delayed and one of the others.
//!
//! It reads no clock, calls no wakers and holds no lock. `now` is the time since the queue was
//! created; items whose delay has passed become ready at the start of the next operation.

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
use std::collections::VecDeque;
use std::time::Duration;

pub(crate) struct Core<T> {
    slots: Slots<T>,
    lanes: Lanes,
    delays: Delays,
    /// Empty between operations; kept for its memory.
    due: VecDeque<SlotId>,
    /// Slots that are released together if they are still at rest; a slot may be here twice, or be
    /// another item's by now. Empty if nothing is ready.
    idle: Vec<SlotId>,
    group: Option<Group<T>>,
    running: Vec<SlotId>,
    /// How many running items were added again.
    again: usize,
    mode: Mode,
    limiter: Box<dyn RateLimiter<T>>,
    during_backoff: DuringBackoff,
    dispatch_limit: Option<Bucket>,
    /// The dispatch limit allows no item before this time.
    held_until: Option<Duration>,
    timed: bool,
    adds: u64,
    retries: u64,
    report: Report,
}

/// Whether the queue accepts and returns items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Accepts and returns items.
    Open,
    /// Accepts no items; returns items until nothing is queued and no running item will run again.
    Draining,
    /// Accepts no items; returns those that are queued.
    ShutDown,
}

/// What a worker gets.
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
    /// Succeeded, and runs again after this delay.
    Requeued(Duration),
    /// Not started, neither success nor failure; runs after this delay.
    Postponed(Duration),
    /// Failed; the limiter decides when it runs again, but not before this delay.
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
            due: VecDeque::new(),
            idle: Vec::new(),
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

    /// Ends the run of an item that [`Core::take`] returned.
    pub(crate) fn finish(&mut self, now: Duration, slot: SlotId, outcome: Outcome) {
        self.promote(now);
        self.end(now, slot, outcome);
    }

    fn end(&mut self, now: Duration, slot: SlotId, outcome: Outcome) {
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
        self.release_later(slot);
    }

    /// Stops accepting items. Delayed items are dropped; ready ones are still returned. With
    /// `drain`, so are running items that were added again.
    pub(crate) fn shut_down(&mut self, now: Duration, drain: bool) {
        // Due items would be ready if an operation had promoted them.
        self.promote_all(now);
        self.mode = match self.mode {
            Mode::Open | Mode::Draining if drain => Mode::Draining,
            _ => Mode::ShutDown,
        };
        while let Some(slot) = self.delays.pop() {
            self.slots.at(slot).delayed = None;
            self.release_later(slot);
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.mode == Mode::Open
    }

    /// Reports whether no item will ever be returned again.
    pub(crate) fn is_closed(&self) -> bool {
        match self.mode {
            Mode::Open => false,
            Mode::Draining => self.lanes.len() == 0 && self.again == 0,
            Mode::ShutDown => self.lanes.len() == 0,
        }
    }

    /// Reports whether waits for the drain are over.
    pub(crate) fn is_drained(&self) -> bool {
        match self.mode {
            Mode::Open => false,
            Mode::Draining => self.lanes.len() == 0 && self.running.is_empty(),
            Mode::ShutDown => true,
        }
    }

    /// Returns how many items could be taken.
    pub(crate) fn runnable(&self) -> usize {
        if self.held_until.is_some() {
            0
        } else {
            self.lanes.len()
        }
    }

    /// Returns when an item may become available without further operations.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let held_until = self.held_until.filter(|_| self.lanes.len() > 0);
        self.delays.earliest().into_iter().chain(held_until).min()
    }

    /// Reports whether there is nothing to record, and no worker to be notified of the shutdown.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.timed && self.is_open()
    }

    /// Reports whether all operations need the current time; otherwise only delays and failures do.
    pub(crate) fn reads_clock(&self) -> bool {
        self.timed || self.dispatch_limit.is_some() || !self.delays.is_empty()
    }

    /// Returns how many items are ready at `now`.
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

    /// Returns the metrics since the last call.
    pub(crate) fn take_report(&mut self) -> Report {
        std::mem::take(&mut self.report)
    }
}

impl<T: Eq> Core<T> {
    /// Processes all entries of the intake in order.
    pub(crate) fn bring_in(&mut self, now: Duration, entries: &mut Vec<Entry<T>>) {
        // Once for all of them, or one operation would make ready what many may.
        self.promote(now);
        self.slots.fetch_for(entries);
        for entry in entries.drain(..) {
            match entry {
                Entry::Added { hash, item, lane } => self.accept(now, hash, item, lane),
                Entry::Succeeded(slot) => self.end(now, slot, Outcome::Succeeded),
            }
        }
    }

    /// Adds an item.
    pub(crate) fn add(&mut self, now: Duration, hash: u64, item: T, lane: Lane) {
        self.promote(now);
        self.accept(now, hash, item, lane);
    }

    fn accept(&mut self, now: Duration, hash: u64, item: T, lane: Lane) {
        if self.is_open() {
            let slot = self.slots.find_or_insert(hash, item);
            if !self.keeps_waiting(slot, lane) {
                self.make_dirty(now, slot, lane);
            }
        }
    }

    /// Adds an item after `wait`.
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

    /// Adds an item as failed; it runs after the limiter's delay.
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

    /// Resets the failure count of an item. Its delay is unchanged.
    pub(crate) fn forget(&mut self, hash: u64, item: &T) {
        match self
            .slots
            .find(hash, item)
            .filter(|it| !self.slots.is_idle(*it))
        {
            Some(slot) => self.clear_failures(slot),
            None => self.limiter.forget(item),
        }
    }

    /// Returns the consecutive failures of an item that waits or runs.
    pub(crate) fn failures(&self, hash: u64, item: &T) -> u32 {
        let slot = self.slots.find(hash, item);
        slot.and_then(|slot| self.slots.get(slot))
            .map_or(0, |entry| entry.failures)
    }
}

impl<T: Clone> Core<T> {
    /// Takes an item for a worker.
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
        if self.lanes.len() == 1 && !self.idle.is_empty() {
            self.release_idle();
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
