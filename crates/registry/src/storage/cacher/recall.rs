//! `Recall`: the events before the list that a cache begins with, from the history of the engine.
//!
//! A cache that begins anew, in a server that was started again, knows no events before its list.
//! Without them each watch from before would end with 410, and its client would list again. So the
//! cache's watch begins earlier than the list, and what comes up to the list is put in front of the
//! recent events. The cache is not ready before, unless that takes too long.

use kubist_storage::{Event, EventKind};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many revisions before the list are asked for.
const REVISIONS: u64 = 1_000;
/// The most events that are kept, and the most bytes of their values.
const EVENTS_MAX: usize = 1_000;
const BYTES_MAX: usize = 16 << 20;

/// The events between a revision and a list, while they come.
#[derive(Debug)]
pub(super) struct Recall {
    /// The revision before the first event that could be here.
    begun_at: u64,
    /// The revision of the list.
    until: u64,
    events: VecDeque<Arc<Event>>,
}

impl Recall {
    /// Begins as early as is useful; `None` if nothing is before the list.
    pub(super) fn before(list: u64) -> Option<Self> {
        Self::after(list.saturating_sub(REVISIONS), list)
    }

    /// Begins after a revision; `None` if that is not before the list.
    pub(super) fn after(begun_at: u64, list: u64) -> Option<Self> {
        (begun_at < list).then(|| Self {
            begun_at,
            until: list,
            events: VecDeque::new(),
        })
    }

    pub(super) fn begun_at(&self) -> u64 {
        self.begun_at
    }

    pub(super) fn until(&self) -> u64 {
        self.until
    }

    /// Takes the next events, none of which is after the list.
    pub(super) fn take(&mut self, events: &[Arc<Event>]) {
        for event in events {
            if is_complete(event) {
                self.events.push_back(Arc::clone(event));
            } else {
                // What was there before is compacted: no watch can begin before this one.
                self.events.clear();
                self.begun_at = event.revision.0;
            }
        }
        let sizes = self.events.iter().map(|it| size(it));
        let mut bytes: usize = sizes.sum();
        while self.events.len() > EVENTS_MAX || bytes > BYTES_MAX {
            let Some(gone) = self.events.pop_front() else {
                break;
            };
            bytes -= size(&gone);
            self.begun_at = gone.revision.0;
        }
        // A revision is here as a whole or not at all.
        while self
            .events
            .front()
            .is_some_and(|it| it.revision.0 <= self.begun_at)
        {
            self.events.pop_front();
        }
    }

    /// Returns the events once all are here.
    pub(super) fn into_events(self) -> (u64, VecDeque<Arc<Event>>) {
        (self.begun_at, self.events)
    }
}

/// The bytes of the values of an event.
fn size(event: &Event) -> usize {
    let new = match &event.kind {
        EventKind::Put(kv) => kv.value.len(),
        EventKind::Delete => 0,
    };
    new + event.previous.as_ref().map_or(0, |kv| kv.value.len())
}

/// Reports whether the state before an event is known.
fn is_complete(event: &Event) -> bool {
    match &event.kind {
        EventKind::Put(kv) => event.previous.is_some() || kv.create_revision == kv.mod_revision,
        EventKind::Delete => event.previous.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use kubist_storage::{KeyValue, Revision};

    fn put(revision: u64, created: u64, knows_previous: bool) -> Arc<Event> {
        let at = |revision: u64| {
            Arc::new(KeyValue {
                key: Bytes::from_static(b"k"),
                value: Bytes::new(),
                create_revision: Revision(created),
                mod_revision: Revision(revision),
                version: 1,
                lease: None,
                note: Default::default(),
            })
        };
        Arc::new(Event {
            revision: Revision(revision),
            key: Bytes::from_static(b"k"),
            kind: EventKind::Put(at(revision)),
            previous: knows_previous.then(|| at(revision - 1)),
        })
    }

    fn kept(recall: Recall) -> (u64, Vec<u64>) {
        let (begun_at, events) = recall.into_events();
        (begun_at, events.iter().map(|it| it.revision.0).collect())
    }

    #[test]
    fn nothing_is_recalled_before_the_first_revision() {
        assert!(Recall::before(0).is_none());
        assert!(Recall::after(7, 7).is_none());
        assert_eq!(Recall::before(5).map(|it| it.begun_at()), Some(0));
        let long = Recall::before(REVISIONS + 3).map(|it| (it.begun_at(), it.until()));
        assert_eq!(long, Some((3, REVISIONS + 3)));
    }

    #[test]
    fn events_begin_after_one_whose_past_is_compacted() {
        let mut recall = Recall::after(0, 10).unwrap();
        recall.take(&[put(2, 2, false), put(3, 2, true)]);
        recall.take(&[put(4, 2, false), put(5, 2, true), put(6, 6, false)]);
        assert_eq!(kept(recall), (4, vec![5, 6]));
    }

    #[test]
    fn the_newest_are_kept_and_no_revision_in_part() {
        let mut recall = Recall::after(0, 10_000).unwrap();
        let two = |revision: u64| {
            [
                put(revision, revision, false),
                put(revision, revision, false),
            ]
        };
        let all: Vec<_> = (1..=600).flat_map(two).collect();
        recall.take(&all);
        let (begun_at, revisions) = kept(recall);
        assert_eq!((begun_at, revisions.len()), (100, EVENTS_MAX));
        assert_eq!(revisions[..2], [101, 101]);
        let mut recall = Recall::after(0, 10_000).unwrap();
        let odd: Vec<_> = [put(1, 1, false)]
            .into_iter()
            .chain((2..=600).flat_map(two))
            .collect();
        recall.take(&odd);
        recall.take(&two(601)[..1]);
        let (begun_at, revisions) = kept(recall);
        assert_eq!((begun_at, revisions[0]), (101, 102), "{}", revisions.len());
    }
}
