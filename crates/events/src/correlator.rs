//! `Correlator`: decides which events are written, when, and as what, without I/O or a clock.
//!
//! Events with one key are one series: the first is created; the second makes it a series, by a
//! patch; further ones are counted, and the count is written now and then, and when the series
//! ends. An event has at most one write under way, so that they arrive in order.

mod entry;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use write::{Outcome, Write};

use crate::event_key::EventKey;
use crate::random::Random;
use crate::recent::Recent;
use crate::spam_filter::SpamFilter;
use crate::{EventBroadcasterConfig, EventStats};
use entry::{Entry, Progress};
use hashbrown::HashMap;
use kubist_api::events::v1::Event;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The number of an event that is remembered or being written.
pub(crate) type EntryId = u64;

/// What to do next.
#[derive(Debug)]
pub(crate) enum Output {
    /// Write, and report the outcome under this number.
    Write(EntryId, Write),
    /// Poll again at this time, or when something was reported.
    SleepUntil(Instant),
}

#[derive(Debug)]
pub(crate) struct Correlator {
    config: EventBroadcasterConfig,
    random: Random,
    spam: SpamFilter,
    entries: HashMap<EntryId, Entry>,
    /// The series that may still grow, by their last event.
    series: Recent<EventKey, (EntryId, Instant)>,
    /// The writes that wait, by time and order.
    waiting: BTreeMap<(Instant, u64), EntryId>,
    under_way: usize,
    next_refresh: Instant,
    is_draining: bool,
    count: u64,
    stats: EventStats,
}

impl Correlator {
    pub(crate) fn new(config: EventBroadcasterConfig, seed: u64, now: Instant) -> Self {
        Self {
            random: Random::new(seed),
            spam: SpamFilter::new(config.burst, config.refill, config.remembered_max),
            entries: HashMap::new(),
            series: Recent::new(),
            waiting: BTreeMap::new(),
            under_way: 0,
            next_refresh: now + config.refresh_every,
            is_draining: false,
            count: 0,
            stats: EventStats::default(),
            config,
        }
    }

    pub(crate) fn stats(&self) -> EventStats {
        self.stats
    }

    /// Reports whether nothing is to be written.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.under_way == 0
    }

    /// Takes an event.
    pub(crate) fn observe(&mut self, now: Instant, event: Event) {
        self.finish_series(now);
        let key = EventKey::of(&event);
        if let Some((id, last)) = self.series.touch(&key) {
            let id = *id;
            *last = now;
            return self.repeat(now, id, &key, &event);
        }
        if !self.spam.take(now, key.object()) {
            self.stats.filtered += 1;
            return;
        }
        if self.waiting.len() >= self.config.waiting_writes_max {
            self.stats.dropped += 1;
            return;
        }
        if self.series.len() >= self.config.remembered_max
            && let Some((oldest, _)) = self.series.remove_oldest()
        {
            self.finish(now, oldest);
        }
        self.count += 1;
        let id = self.count;
        self.entries.insert(id, Entry::new(event));
        self.series.insert(key, (id, now));
        self.want_write(now, id);
    }

    /// Counts an event of a series.
    fn repeat(&mut self, now: Instant, id: EntryId, key: &EventKey, event: &Event) {
        self.stats.repeated += 1;
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.repeat(event);
        let begins = entry.count() == 2 && self.spam.take(now, key.object());
        if begins || self.is_draining {
            self.want_write(now, id);
        }
    }

    /// Returns what to do next.
    pub(crate) fn poll(&mut self, now: Instant) -> Output {
        self.finish_series(now);
        self.refresh(now);
        let is_free = self.under_way < self.config.concurrent_writes_max;
        if let Some((&(due, order), &id)) = self.waiting.first_key_value().filter(|_| is_free) {
            if due > now {
                return Output::SleepUntil(self.wake_at(due));
            }
            self.waiting.remove(&(due, order));
            if let Some(entry) = self.entries.get_mut(&id) {
                self.under_way += 1;
                return Output::Write(id, entry.begin_write());
            }
        }
        Output::SleepUntil(self.wake_at(self.next_refresh))
    }

    /// Takes the outcome of a write.
    pub(crate) fn written(&mut self, now: Instant, id: EntryId, outcome: Outcome) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let Some(write) = entry.end_write() else {
            return;
        };
        self.under_way = self.under_way.saturating_sub(1);
        match outcome {
            Outcome::Done if write.is_create => self.stats.created += 1,
            Outcome::Done => self.stats.updated += 1,
            Outcome::Rejected => self.stats.rejected += 1,
            Outcome::Missing | Outcome::Failed { .. } => {}
        }
        match outcome {
            Outcome::Done | Outcome::Rejected => entry.settle(write, outcome == Outcome::Done),
            Outcome::Missing | Outcome::Failed { .. } => {
                let pause = match outcome {
                    Outcome::Failed { after } => Some(after.unwrap_or_default()),
                    _ => None,
                };
                entry.exists &= outcome != Outcome::Missing;
                return self.retry(now, id, pause);
            }
        }
        if entry.is_dirty() || (entry.is_finished && entry.has_news()) {
            return self.want_write(now, id);
        }
        self.forget_if_finished(id);
    }

    /// Prepares the end: what waits is attempted once more, and all counts are written.
    pub(crate) fn drain(&mut self, now: Instant) {
        self.is_draining = true;
        let waiting = std::mem::take(&mut self.waiting);
        for (place, id) in waiting.into_values().enumerate() {
            let place = u64::try_from(place).unwrap_or(u64::MAX);
            self.waiting.insert((now, place), id);
        }
        for id in self.with_news() {
            self.want_write(now, id);
        }
    }

    /// Gives up what is not written, and returns how many events that concerns.
    pub(crate) fn give_up(&mut self) -> u64 {
        let waiting = self.waiting.len() + self.under_way;
        self.waiting.clear();
        self.under_way = 0;
        let unwritten = u64::try_from(waiting).unwrap_or(u64::MAX);
        self.stats.given_up += unwritten;
        unwritten
    }

    /// Attempts a write again; none: at once.
    fn retry(&mut self, now: Instant, id: EntryId, pause: Option<Duration>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.attempts += 1;
        let is_last = entry.attempts >= self.config.attempts_max;
        let ends = self.is_draining && pause.is_some();
        if is_last || ends || self.waiting.len() >= self.config.waiting_writes_max {
            entry.give_up();
            self.stats.given_up += 1;
            return self.forget_if_finished(id);
        }
        self.stats.retried += 1;
        let due = match pause {
            None => now,
            Some(requested) => {
                let pause = self.config.retry_pause;
                now + requested.max(pause + pause.mul_f64(0.25 * self.random.share()))
            }
        };
        entry.progress = Progress::Waiting;
        self.enqueue(due, id);
    }

    /// Writes the event soon, unless that is going to happen anyway.
    fn want_write(&mut self, now: Instant, id: EntryId) {
        let is_full = self.waiting.len() >= self.config.waiting_writes_max;
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        match &mut entry.progress {
            Progress::Idle if is_full => {
                self.stats.given_up += 1;
                entry.give_up();
                self.forget_if_finished(id);
            }
            Progress::Idle => {
                entry.progress = Progress::Waiting;
                entry.attempts = 0;
                self.enqueue(now, id);
            }
            Progress::Waiting => {}
            Progress::UnderWay { is_dirty, .. } => *is_dirty = true,
        }
    }

    fn enqueue(&mut self, due: Instant, id: EntryId) {
        self.count += 1;
        self.waiting.insert((due, self.count), id);
    }

    /// Ends the series that have had no event for long enough.
    fn finish_series(&mut self, now: Instant) {
        let finish_after = self.config.finish_after;
        let is_over = |last: Instant| last + finish_after <= now;
        while self.series.oldest().is_some_and(|&(_, last)| is_over(last)) {
            if let Some((id, _)) = self.series.remove_oldest() {
                self.finish(now, id);
            }
        }
    }

    /// Writes the last count of a series that is no longer remembered.
    fn finish(&mut self, now: Instant, id: EntryId) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.is_finished = true;
        if entry.has_news() {
            self.want_write(now, id);
        }
        self.forget_if_finished(id);
    }

    fn forget_if_finished(&mut self, id: EntryId) {
        let is_over = |it: &Entry| it.is_finished && matches!(it.progress, Progress::Idle);
        if self.entries.get(&id).is_some_and(is_over) {
            self.entries.remove(&id);
        }
    }

    fn refresh(&mut self, now: Instant) {
        if now < self.next_refresh {
            return;
        }
        self.next_refresh = now + self.config.refresh_every;
        for id in self.with_news() {
            self.want_write(now, id);
        }
    }

    /// Returns the series with counts that are not written.
    fn with_news(&self) -> Vec<EntryId> {
        let series = self.series.values().map(|(id, _)| *id);
        let has_news = |id: &EntryId| self.entries.get(id).is_some_and(Entry::has_news);
        series.filter(has_news).collect()
    }

    fn wake_at(&self, at: Instant) -> Instant {
        let ends = self.series.oldest();
        let ends = ends.map(|&(_, last)| last + self.config.finish_after);
        ends.into_iter()
            .chain([self.next_refresh])
            .fold(at, Instant::min)
    }
}
