//! The specification of the queue, with lists and searches.
//!
//! It has no slots, tickets or heaps, and is not fast.

use super::{End, Item, MS, PASSES_MAX, Step};
use crate::lanes::Lane;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: Duration,
    put: usize,
    item: Item,
    lane: Lane,
    backoff: bool,
}

/// The specification, as simple as possible.
#[derive(Default)]
pub(super) struct Spec {
    keep_backoff: bool,
    pub(super) now: Duration,
    puts: usize,
    closed: bool,
    pub(super) ready: Vec<(Lane, Item)>,
    running: BTreeMap<Item, (Lane, Option<Lane>)>,
    pub(super) delayed: Vec<Due>,
    pub(super) failures: BTreeMap<Item, u32>,
    passes: BTreeMap<Lane, u32>,
    pub(super) adds: u64,
    pub(super) retries: u64,
}

impl Spec {
    pub(super) fn new(keep_backoff: bool) -> Self {
        Self {
            keep_backoff,
            ..Self::default()
        }
    }

    fn pass_time(&mut self) {
        self.delayed.sort_unstable();
        while let Some(due) = self
            .delayed
            .first()
            .copied()
            .filter(|due| due.at <= self.now)
        {
            self.delayed.remove(0);
            self.dirty(due.lane, due.item);
        }
    }

    fn dirty(&mut self, lane: Lane, item: Item) {
        if let Some((_, again)) = self.running.get_mut(&item) {
            self.adds += u64::from(again.is_none());
            *again = (*again).max(Some(lane));
        } else if let Some(place) = self.ready.iter().position(|it| it.1 == item) {
            if self.ready[place].0 < lane {
                self.ready.remove(place);
                self.ready.push((lane, item));
            }
        } else {
            self.adds += 1;
            self.ready.push((lane, item));
        }
    }

    fn in_backoff(&mut self, lane: Lane, item: Item) -> bool {
        let keeps = self.keep_backoff;
        let due = self
            .delayed
            .iter_mut()
            .find(|due| due.item == item && due.backoff && keeps);
        due.is_some_and(|due| {
            due.lane = due.lane.max(lane);
            true
        })
    }

    fn delay(&mut self, lane: Lane, item: Item, wait: Duration, backoff: bool) {
        self.puts += 1;
        let mut due = Due {
            at: self.now + wait,
            put: self.puts,
            item,
            lane,
            backoff,
        };
        if let Some(place) = self.delayed.iter().position(|due| due.item == item) {
            let old = self.delayed.remove(place);
            due.lane = due.lane.max(old.lane);
            due.backoff |= old.backoff;
            if old.at <= due.at && !(self.keep_backoff && backoff) {
                (due.at, due.put) = (old.at, old.put);
            }
        }
        self.delayed.push(due);
    }

    fn later(&mut self, lane: Lane, item: Item, wait: Duration, backoff: bool) {
        if wait.is_zero() {
            self.dirty(lane, item);
        } else {
            self.delay(lane, item, wait, backoff);
        }
    }

    fn fail(&mut self, item: Item) -> Duration {
        let failures = self.failures.entry(item).or_default();
        *failures += 1;
        (10 * MS * 2_u32.pow(*failures - 1)).min(80 * MS)
    }

    fn forget(&mut self, item: Item) {
        self.failures.remove(&item);
        for due in self.delayed.iter_mut().filter(|due| due.item == item) {
            due.backoff = false;
        }
    }

    pub(super) fn take(&mut self) -> Option<Item> {
        let lanes = [Lane::Background, Lane::Normal, Lane::Urgent];
        let waiting: Vec<_> = lanes
            .into_iter()
            .filter(|lane| self.ready.iter().any(|it| it.0 == *lane))
            .collect();
        let passed = |lane: &&Lane| self.passes.get(*lane).is_some_and(|it| *it >= PASSES_MAX);
        let lane = *waiting.iter().find(passed).or_else(|| waiting.last())?;
        for passed in waiting.into_iter().filter(|it| *it < lane) {
            *self.passes.entry(passed).or_default() += 1;
        }
        self.passes.remove(&lane);
        let place = self.ready.iter().position(|it| it.0 == lane)?;
        let (_, item) = self.ready.remove(place);
        self.running.insert(item, (lane, None));
        Some(item)
    }

    pub(super) fn finish(&mut self, item: Item, end: End) {
        let (lane, mut again) = self.running.remove(&item).expect("it runs");
        match end {
            End::Succeed => self.forget(item),
            End::Requeue(wait) => {
                self.forget(item);
                if !self.closed {
                    self.put_back(lane, item, MS * wait, &mut again, false);
                }
            }
            End::Postpone(0) => again = again.max(Some(lane)),
            End::Postpone(wait) if !self.closed => self.delay(lane, item, MS * wait, false),
            End::Fail(wait_min) if !self.closed => {
                let wait = self.fail(item).max(MS * wait_min);
                self.put_back(lane, item, wait, &mut again, true);
            }
            End::Postpone(_) | End::Fail(_) => {}
        }
        if let Some(lane) = again {
            self.ready.push((lane, item));
        }
    }

    fn put_back(
        &mut self,
        lane: Lane,
        item: Item,
        wait: Duration,
        again: &mut Option<Lane>,
        backoff: bool,
    ) {
        self.retries += 1;
        if wait.is_zero() {
            self.adds += u64::from(again.is_none());
            *again = (*again).max(Some(lane));
        } else if backoff && self.keep_backoff {
            self.delay(
                again.take().map_or(lane, |it| it.max(lane)),
                item,
                wait,
                true,
            );
        } else {
            self.delay(lane, item, wait, backoff);
        }
    }

    fn shut_down(&mut self) {
        self.closed = true;
        self.delayed.clear();
    }

    pub(super) fn apply(&mut self, step: Step) {
        if let Step::Advance(by) = step {
            self.now += MS * by;
        }
        self.pass_time();
        match step {
            Step::Add(lane, item) if !self.closed && !self.in_backoff(lane, item) => {
                self.dirty(lane, item);
            }
            Step::AddAfter(lane, item, wait) if !self.closed => {
                self.retries += 1;
                if !self.in_backoff(lane, item) {
                    self.later(lane, item, MS * wait, false);
                }
            }
            Step::AddRateLimited(lane, item) if !self.closed => {
                self.retries += 1;
                if !self.in_backoff(lane, item) {
                    let wait = self.fail(item);
                    self.later(lane, item, wait, true);
                }
            }
            Step::Forget(item) => self.forget(item),
            Step::ShutDown(_) => self.shut_down(),
            _ => {}
        }
    }

    pub(super) fn knows(&self, item: Item) -> bool {
        self.running.contains_key(&item)
            || self.ready.iter().any(|it| it.1 == item)
            || self.delayed.iter().any(|due| due.item == item)
    }
}
