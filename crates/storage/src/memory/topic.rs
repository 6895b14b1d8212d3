//! `Topic`: what all watchers of one range share: its newest events, and the wakers that wait for
//! the next.
//!
//! A topic is an index into the log, not a second history: it holds few events, and none older than
//! the log. A watcher that needs an earlier one reads the log (`watcher`). Wakers are returned, to
//! be woken and dropped without a lock.

use crate::{Event, KeyRange, Revision};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

/// Maximum number of events in a topic; a watcher further behind reads the log.
const TOPIC_EVENTS_MAX: usize = 1024;

#[derive(Debug)]
pub(crate) struct Topic {
    range: KeyRange,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// All events of the range from this revision on are in `events`.
    complete_from: Revision,
    events: VecDeque<Arc<Event>>,
    /// One slot per watcher, set while it waits.
    waiting: Vec<Option<Waker>>,
    /// Unused slots.
    free: Vec<usize>,
    closed: bool,
}

/// The result of a read.
#[derive(Debug)]
pub(crate) enum Read {
    /// At least one event, oldest first.
    Events(Vec<Arc<Event>>),
    /// Events before this revision have to be read from the log first.
    Behind { complete_from: Revision },
    /// No event yet; the waker will be woken.
    Nothing,
    /// The topic is closed.
    Closed,
}

impl Topic {
    /// A topic of a store whose current revision is `head`.
    pub(crate) fn new(range: KeyRange, head: Revision) -> Self {
        let state = State {
            complete_from: head.next(),
            events: VecDeque::new(),
            waiting: Vec::new(),
            free: Vec::new(),
            closed: false,
        };
        Self {
            range,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn range(&self) -> &KeyRange {
        &self.range
    }

    /// Returns a slot for another watcher.
    pub(crate) fn join(&self) -> usize {
        let mut state = self.state.lock();
        if let Some(slot) = state.free.pop() {
            return slot;
        }
        state.waiting.push(None);
        state.waiting.len() - 1
    }

    /// Frees a slot. Returns whether it was the last, and its waker.
    pub(crate) fn leave(&self, slot: usize) -> (bool, Option<Waker>) {
        let mut state = self.state.lock();
        let waker = state.waiting[slot].take();
        state.free.push(slot);
        (state.free.len() == state.waiting.len(), waker)
    }

    /// Adds an event of the range, and moves the waiting wakers to `wakers`.
    pub(crate) fn push(&self, event: &Arc<Event>, wakers: &mut Vec<Waker>) {
        let mut state = self.state.lock();
        if state.events.len() == TOPIC_EVENTS_MAX {
            state.pop_front();
        }
        state.events.push_back(Arc::clone(event));
        state.take_waiting(wakers);
    }

    /// Drops events that have left the log, so that they do not stay in memory.
    pub(crate) fn drop_before(&self, revision: Revision) {
        let mut state = self.state.lock();
        while state
            .events
            .front()
            .is_some_and(|event| event.revision < revision)
        {
            state.pop_front();
        }
    }

    /// Returns the next events from `position` on, while `wanted` accepts them.
    pub(crate) fn read(
        &self,
        position: Revision,
        slot: usize,
        waker: &Waker,
        mut wanted: impl FnMut(&Event) -> bool,
    ) -> Read {
        let mut state = self.state.lock();
        if state.closed {
            return Read::Closed;
        }
        if position < state.complete_from {
            return Read::Behind {
                complete_from: state.complete_from,
            };
        }
        let start = state
            .events
            .partition_point(|event| event.revision < position);
        let new = state.events.range(start..);
        let events: Vec<_> = new.take_while(|event| wanted(event)).cloned().collect();
        if !events.is_empty() {
            return Read::Events(events);
        }
        let replaced = state.wait(slot, waker);
        drop(state);
        drop(replaced);
        Read::Nothing
    }

    /// Wakes one watcher if it waits.
    pub(crate) fn wake(&self, slot: usize) {
        let waker = self
            .state
            .lock()
            .waiting
            .get_mut(slot)
            .and_then(Option::take);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Closes the topic, and moves all wakers to `wakers`.
    pub(crate) fn close(&self, wakers: &mut Vec<Waker>) {
        let mut state = self.state.lock();
        state.closed = true;
        state.take_waiting(wakers);
    }
}

impl State {
    fn pop_front(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.complete_from = event.revision.next();
        }
    }

    fn take_waiting(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.waiting.iter_mut().filter_map(mem::take));
    }

    /// Stores a waker and returns the previous one. Dropping a waker can drop a task with a watch,
    /// which needs the lock that the caller holds.
    fn wait(&mut self, slot: usize, waker: &Waker) -> Option<Waker> {
        match &mut self.waiting[slot] {
            Some(known) if known.will_wake(waker) => None,
            known => known.replace(waker.clone()),
        }
    }
}
