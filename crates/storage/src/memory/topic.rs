//! What all watchers of one range share: its newest events, and who waits for the next.
//!
//! A topic is an index into the log, not a second history: it holds few events and never older
//! ones than the log does. A watcher that needs an earlier one reads the log (`watcher`). Wakers
//! are handed out to be woken, and dropped, where no lock is held.

use crate::{Event, KeyRange, Revision};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

/// Events that a topic holds; a watcher further behind reads the log.
const TOPIC_EVENTS_MAX: usize = 1024;

#[derive(Debug)]
pub(crate) struct Topic {
    range: KeyRange,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Every event of the range from this revision on is in `events`.
    complete_from: Revision,
    events: VecDeque<Arc<Event>>,
    /// One slot for each watcher, taken when it waits.
    waiting: Vec<Option<Waker>>,
    /// Slots that no watcher has.
    free: Vec<usize>,
    closed: bool,
}

/// What a topic has for a watcher.
#[derive(Debug)]
pub(crate) enum Read {
    /// Events, oldest first, at least one.
    Events(Vec<Arc<Event>>),
    /// Events before this revision have to be read from the log first.
    Behind { complete_from: Revision },
    /// Nothing yet; the waker will be woken.
    Nothing,
    /// Nothing any more.
    Closed,
}

impl Topic {
    /// A topic of a store that stands at `head`.
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

    /// A slot for one more watcher.
    pub(crate) fn join(&self) -> usize {
        let mut state = self.state.lock();
        if let Some(slot) = state.free.pop() {
            return slot;
        }
        state.waiting.push(None);
        state.waiting.len() - 1
    }

    /// Gives a slot back. Returns whether it was the last, and the waker that lay in it.
    pub(crate) fn leave(&self, slot: usize) -> (bool, Option<Waker>) {
        let mut state = self.state.lock();
        let waker = state.waiting[slot].take();
        state.free.push(slot);
        (state.free.len() == state.waiting.len(), waker)
    }

    /// Adds an event of the range, and moves those who waited for it to `wakers`.
    pub(crate) fn push(&self, event: &Arc<Event>, wakers: &mut Vec<Waker>) {
        let mut state = self.state.lock();
        if state.events.len() == TOPIC_EVENTS_MAX {
            state.pop_front();
        }
        state.events.push_back(Arc::clone(event));
        state.take_waiting(wakers);
    }

    /// Lets go of events that have left the log, so that they are not kept alive here.
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

    /// The next events from `position` on, while `wanted` takes them.
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

    /// Wakes one watcher, if it waits.
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

    /// Ends the topic, and moves all who wait to `wakers`.
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

    /// Stores a waker and returns the one that it replaces. To drop a waker can drop a task, and
    /// with it a watch, which needs the lock that the caller holds.
    fn wait(&mut self, slot: usize, waker: &Waker) -> Option<Waker> {
        match &mut self.waiting[slot] {
            Some(known) if known.will_wake(waker) => None,
            known => known.replace(waker.clone()),
        }
    }
}
