//! The event log that all watchers share, oldest first.
//!
//! Each revision has exactly one event, so a revision determines a position. The log is bounded by
//! count and bytes; discarded events are returned, to be dropped without a lock.

use crate::{Event, Revision};
use std::collections::VecDeque;
use std::collections::vec_deque;
use std::sync::Arc;

/// Memory of an event beyond its bytes: the event, two versions and their list entries.
const EVENT_OVERHEAD: usize = 320;

#[derive(Clone, Debug)]
pub(crate) struct Log {
    events: VecDeque<Arc<Event>>,
    /// The revision of the next event.
    next: Revision,
    /// Sum of the sizes of the events.
    bytes: usize,
}

impl Log {
    /// An empty log that continues after `head`.
    pub(crate) fn after(head: Revision) -> Self {
        Self {
            events: VecDeque::new(),
            next: head.next(),
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the oldest revision held, or the next one if the log is empty.
    pub(crate) fn first(&self) -> Revision {
        Revision(self.next.0 - self.events.len() as u64)
    }

    pub(crate) fn push(&mut self, event: Arc<Event>) {
        debug_assert_eq!(event.revision, self.next, "one event a revision, in order");
        self.next = self.next.next();
        self.bytes += weight(&event);
        self.events.push_back(event);
    }

    pub(crate) fn pop_front(&mut self) -> Option<Arc<Event>> {
        let event = self.events.pop_front()?;
        self.bytes -= weight(&event);
        Some(event)
    }

    /// Removes and returns all events below `revision`, at most so many.
    pub(crate) fn drop_before(&mut self, revision: Revision, events_max: usize) -> Vec<Arc<Event>> {
        let count = self.index(revision).min(events_max);
        let dropped: Vec<_> = self.events.drain(..count).collect();
        self.bytes -= dropped.iter().map(|it| weight(it)).sum::<usize>();
        dropped
    }

    /// Returns the events from `from` (inclusive) to `to` (exclusive) that are held.
    pub(crate) fn range(&self, from: Revision, to: Revision) -> vec_deque::Iter<'_, Arc<Event>> {
        let (from, to) = (self.index(from), self.index(to));
        self.events.range(from.min(to)..to)
    }

    /// Returns the position of a revision among the events, clamped to their range.
    fn index(&self, revision: Revision) -> usize {
        let index = revision.0.saturating_sub(self.first().0);
        usize::try_from(index).map_or(self.events.len(), |it| it.min(self.events.len()))
    }
}

fn weight(event: &Event) -> usize {
    event.weight() + EVENT_OVERHEAD
}
