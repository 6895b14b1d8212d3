//! The event log that all watchers share, oldest first.
//!
//! Each revision has exactly one event, so a revision determines a position. The log is bounded by
//! count and bytes; discarded events are returned, to be dropped without a lock. Forks share what
//! was logged before the fork, in segments that nobody changes any more.

use crate::{Event, Revision};
use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;

/// Memory of an event beyond its bytes: the event, two versions and their list entries.
const EVENT_OVERHEAD: usize = 320;
/// Segments of forks up to this size are merged, so that a store that is forked after each write
/// has few of them.
const MERGED_EVENTS_MAX: usize = 1024;

#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// The older events, in segments shared with forks; none is empty.
    shared: VecDeque<Arc<Vec<Arc<Event>>>>,
    /// The number of events at the front of the first segment that are no longer in the log.
    skipped: usize,
    /// The newer events.
    events: VecDeque<Arc<Event>>,
    len: usize,
    /// The revision of the next event.
    next: Revision,
    /// Sum of the sizes of the events.
    bytes: usize,
}

impl Log {
    /// An empty log that continues after `head`.
    pub(crate) fn after(head: Revision) -> Self {
        Self {
            shared: VecDeque::new(),
            skipped: 0,
            events: VecDeque::new(),
            len: 0,
            next: head.next(),
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the oldest revision held, or the next one if the log is empty.
    pub(crate) fn first(&self) -> Revision {
        Revision(self.next.0 - self.len as u64)
    }

    pub(crate) fn push(&mut self, event: Arc<Event>) {
        debug_assert_eq!(event.revision, self.next, "one event a revision, in order");
        self.next = self.next.next();
        self.bytes += weight(&event);
        self.len += 1;
        self.events.push_back(event);
    }

    pub(crate) fn pop_front(&mut self) -> Option<Arc<Event>> {
        let event = match self.shared.front() {
            None => self.events.pop_front()?,
            Some(segment) => {
                let event = Arc::clone(segment.get(self.skipped)?);
                self.skipped += 1;
                if self.skipped == segment.len() {
                    self.shared.pop_front();
                    self.skipped = 0;
                }
                event
            }
        };
        self.len -= 1;
        self.bytes -= weight(&event);
        Some(event)
    }

    /// Removes the newest event.
    pub(crate) fn pop_back(&mut self) -> Option<Arc<Event>> {
        if self.events.is_empty() {
            let segment = self.shared.pop_back()?;
            let skipped = if self.shared.is_empty() {
                std::mem::take(&mut self.skipped)
            } else {
                0
            };
            self.events.extend(segment.iter().skip(skipped).cloned());
        }
        let event = self.events.pop_back()?;
        self.len -= 1;
        self.bytes -= weight(&event);
        self.next = event.revision;
        Some(event)
    }

    /// Removes and returns all events below `revision`, at most so many.
    pub(crate) fn drop_before(&mut self, revision: Revision, events_max: usize) -> Vec<Arc<Event>> {
        let count = self.index(revision).min(events_max);
        if self.shared.is_empty() {
            let dropped: Vec<_> = self.events.drain(..count).collect();
            self.len -= count;
            self.bytes -= dropped.iter().map(|it| weight(it)).sum::<usize>();
            return dropped;
        }
        iter::from_fn(|| self.pop_front()).take(count).collect()
    }

    /// Returns the events from `from` (inclusive) to `to` (exclusive) that are held.
    pub(crate) fn range(
        &self,
        from: Revision,
        to: Revision,
    ) -> impl Iterator<Item = &Arc<Event>> + use<'_> {
        let (from, to) = (self.index(from), self.index(to));
        let in_shared = self.len - self.events.len();
        // Positions count from the front of the first segment.
        let (mut at, first) = (0, from.min(to) + self.skipped);
        let last = to.min(in_shared) + self.skipped;
        let older = self.shared.iter().flat_map(move |segment| {
            let begin = at;
            at += segment.len();
            let inside = |position: usize| position.saturating_sub(begin).min(segment.len());
            let (first, last) = (inside(first), inside(last));
            &segment[first.min(last)..last]
        });
        let own = |position: usize| position.saturating_sub(in_shared);
        let newer = self.events.range(own(from.min(to))..own(to));
        let older = (from < in_shared).then_some(older);
        older.into_iter().flatten().chain(newer)
    }

    /// Returns a copy that shares all events. Its cost does not depend on their number, except for
    /// those that were added since the last fork.
    pub(crate) fn fork(&mut self) -> Self {
        if !self.events.is_empty() {
            let mut events: Vec<_> = std::mem::take(&mut self.events).into();
            let last = self.shared.back().map_or(usize::MAX, |it| it.len());
            // The first segment stays, as positions in it are counted.
            if self.shared.len() > 1
                && last.saturating_add(events.len()) <= MERGED_EVENTS_MAX
                && let Some(last) = self.shared.pop_back()
            {
                events.splice(0..0, last.iter().cloned());
            }
            self.shared.push_back(Arc::new(events));
        }
        self.clone()
    }

    /// Returns the position of a revision among the events, clamped to their range.
    fn index(&self, revision: Revision) -> usize {
        let index = revision.0.saturating_sub(self.first().0);
        usize::try_from(index).map_or(self.len, |it| it.min(self.len))
    }
}

fn weight(event: &Event) -> usize {
    event.weight() + EVENT_OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventKind;
    use bytes::Bytes;

    fn event(revision: u64) -> Arc<Event> {
        Arc::new(Event {
            revision: Revision(revision),
            key: Bytes::from_static(b"k"),
            kind: EventKind::Delete,
            previous: None,
        })
    }

    fn revisions(log: &Log, from: u64, to: u64) -> Vec<u64> {
        let range = log.range(Revision(from), Revision(to));
        range.map(|it| it.revision.0).collect()
    }

    /// A log of the revisions 11 to 30, which was forked at some of them.
    fn forked(at: &[u64]) -> Log {
        let mut log = Log::after(Revision(10));
        for revision in 11..=30 {
            log.push(event(revision));
            if at.contains(&revision) {
                drop(log.fork());
            }
        }
        log
    }

    #[test]
    fn a_log_that_was_forked_has_the_same_events_as_one_that_was_not() {
        for at in [&[][..], &[11], &[30], &[15, 16, 25], &[11, 12, 13, 14, 30]] {
            let mut log = forked(at);
            for dropped in 0..=20 {
                let oldest = 11 + dropped;
                assert_eq!(log.first(), Revision(oldest), "{at:?}");
                assert_eq!(log.len() as u64, 20 - dropped, "{at:?}");
                for (from, to) in [(0, 99), (11, 31), (13, 26), (15, 16), (16, 15), (31, 40)] {
                    let expected: Vec<u64> = (from.max(oldest)..to.min(31)).collect();
                    assert_eq!(revisions(&log, from, to), expected, "{at:?} {from}..{to}");
                }
                let front = log.pop_front().map(|it| it.revision.0);
                assert_eq!(front, (dropped < 20).then_some(oldest));
            }
            assert_eq!((log.len(), log.bytes()), (0, 0));
        }
    }

    #[test]
    fn the_newest_events_can_be_taken_back() {
        for at in [&[][..], &[30], &[15, 25], &[11, 20]] {
            let mut log = forked(at);
            log.drop_before(Revision(13), 100);
            for revision in (16..=30).rev() {
                let taken = log.pop_back().map(|it| it.revision.0);
                assert_eq!(taken, Some(revision), "{at:?}");
            }
            log.push(event(16));
            assert_eq!(revisions(&log, 0, 99), [13, 14, 15, 16], "{at:?}");
            assert_eq!(log.drop_before(Revision(99), 100).len(), 4, "{at:?}");
            assert_eq!((log.len(), log.bytes()), (0, 0));
        }
    }

    #[test]
    fn a_fork_goes_on_by_itself() {
        let mut log = forked(&[]);
        let mut fork = log.fork();
        log.push(event(31));
        fork.push(event(31));
        fork.push(event(32));
        assert_eq!(log.drop_before(Revision(30), 100).len(), 19);
        assert_eq!(revisions(&log, 0, 99), [30, 31]);
        assert_eq!(revisions(&fork, 28, 99), [28, 29, 30, 31, 32]);
        assert_eq!(fork.len(), 22);
    }
}
