//! The event log that all watchers share, oldest first.
//!
//! Each revision has exactly one event, so a revision is a position and look-up is arithmetic.
//! Bounded by number and by bytes; what is pushed out is handed back, to be dropped where no
//! lock is held.

use crate::{Event, Revision};
use std::collections::VecDeque;
use std::collections::vec_deque;
use std::sync::Arc;

/// Cost of an event beyond its bytes: the event, two versions and their places in lists.
const EVENT_OVERHEAD: usize = 320;

#[derive(Clone, Debug)]
pub(crate) struct Log {
    events: VecDeque<Arc<Event>>,
    /// The revision of the next event.
    next: Revision,
    /// Sum of the events' weights.
    bytes: usize,
}

impl Log {
    /// An empty log that will continue after `head`.
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

    /// The oldest revision whose event is held, or the next to come if none is.
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

    /// Takes out all events below `revision`.
    pub(crate) fn drop_before(&mut self, revision: Revision) -> VecDeque<Arc<Event>> {
        let kept = self.events.split_off(self.index(revision));
        let dropped = std::mem::replace(&mut self.events, kept);
        self.bytes -= dropped.iter().map(|it| weight(it)).sum::<usize>();
        dropped
    }

    /// The events from `from` (inclusive) to `to` (exclusive), as far as they are held.
    pub(crate) fn range(&self, from: Revision, to: Revision) -> vec_deque::Iter<'_, Arc<Event>> {
        let (from, to) = (self.index(from), self.index(to));
        self.events.range(from.min(to)..to)
    }

    /// The position of a revision among the held events, clamped to their ends.
    fn index(&self, revision: Revision) -> usize {
        let index = revision.0.saturating_sub(self.first().0);
        usize::try_from(index).map_or(self.events.len(), |it| it.min(self.events.len()))
    }
}

fn weight(event: &Event) -> usize {
    event.weight() + EVENT_OVERHEAD
}
