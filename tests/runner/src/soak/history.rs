//! What a watch has shown, held against what was stored.
//!
//! Both are sequences of events of one resource in the order of their versions; they arrive
//! independently. An event is forgotten as soon as both have it, so that an hour needs no memory.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Added,
    Modified,
    Deleted,
}

/// An event of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) version: u64,
    pub(super) kind: Kind,
    /// The object's key in the store.
    pub(super) key: String,
}

/// All that is known at the moment.
pub(super) struct History {
    /// The version up to which the watch has shown everything, where it is resumed.
    last: u64,
    /// The objects by the events of the watch, with their versions.
    live: BTreeMap<String, u64>,
    /// Events that only one of the two has yet.
    seen: VecDeque<Event>,
    stored: VecDeque<Event>,
    /// How many events of each kind both had.
    counts: [u64; 3],
}

impl History {
    /// Begins with the objects of a list of this version.
    pub(super) fn new(version: u64, live: BTreeMap<String, u64>) -> Self {
        Self {
            last: version,
            live,
            seen: VecDeque::new(),
            stored: VecDeque::new(),
            counts: [0; 3],
        }
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn live(&self) -> &BTreeMap<String, u64> {
        &self.live
    }

    /// Added, modified and deleted objects so far.
    pub(super) fn counts(&self) -> [u64; 3] {
        self.counts
    }

    /// The watch says that there was nothing else up to this version.
    pub(super) fn bookmark(&mut self, version: u64) -> Result<(), String> {
        if version < self.last {
            let last = self.last;
            return Err(format!("a bookmark of {version} came after {last}"));
        }
        self.last = version;
        Ok(())
    }

    /// The watch shows an event.
    pub(super) fn see(&mut self, event: Event) -> Result<(), String> {
        let last = self.last;
        if event.version <= last {
            return Err(format!("{event:?} came after version {last}"));
        }
        self.last = event.version;
        let known = match event.kind {
            Kind::Deleted => self.live.remove(&event.key),
            Kind::Added | Kind::Modified => self.live.insert(event.key.clone(), event.version),
        };
        if known.is_some() == (event.kind == Kind::Added) {
            return Err(format!("{event:?} came while the object was {known:?}"));
        }
        self.seen.push_back(event);
        self.meet()
    }

    /// The store tells an event.
    pub(super) fn store(&mut self, event: Event) -> Result<(), String> {
        self.stored.push_back(event);
        self.meet()
    }

    /// How many events only one of the two has.
    pub(super) fn open(&self) -> [usize; 2] {
        [self.seen.len(), self.stored.len()]
    }

    fn meet(&mut self) -> Result<(), String> {
        while let (Some(seen), Some(stored)) = (self.seen.front(), self.stored.front()) {
            if seen == stored {
                self.counts[seen.kind as usize] += 1;
                self.seen.pop_front();
                self.stored.pop_front();
                continue;
            }
            let order = seen.version.cmp(&stored.version);
            let error = match order {
                Ordering::Greater => {
                    format!("{stored:?} was stored and not seen: {seen:?} came instead")
                }
                Ordering::Less => {
                    format!("{seen:?} was seen and not stored: {stored:?} was the next")
                }
                Ordering::Equal => format!("{stored:?} was stored, and seen as {seen:?}"),
            };
            if order.is_ge() {
                self.stored.pop_front();
            }
            if order.is_le() {
                self.seen.pop_front();
            }
            return Err(error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(version: u64, kind: Kind, key: &str) -> Event {
        Event {
            version,
            kind,
            key: key.to_owned(),
        }
    }

    fn history() -> History {
        History::new(10, BTreeMap::from([("a".to_owned(), 7)]))
    }

    #[test]
    fn what_is_seen_and_stored_in_the_same_order_is_counted_and_forgotten() {
        let mut it = history();
        let events = [
            event(11, Kind::Modified, "a"),
            event(13, Kind::Added, "b"),
            event(14, Kind::Deleted, "a"),
        ];
        for event in &events {
            it.see(event.clone()).unwrap();
        }
        assert_eq!(it.open(), [3, 0]);
        it.bookmark(20).unwrap();
        for event in events {
            it.store(event).unwrap();
        }
        assert_eq!(it.open(), [0, 0]);
        assert_eq!((it.counts(), it.last()), ([1, 1, 1], 20));
        assert_eq!(*it.live(), BTreeMap::from([("b".to_owned(), 13)]));
    }

    #[test]
    fn a_repeated_event_one_in_the_wrong_order_and_an_old_bookmark_are_errors() {
        let mut it = history();
        it.see(event(12, Kind::Modified, "a")).unwrap();
        assert!(it.see(event(12, Kind::Modified, "a")).is_err());
        assert!(it.see(event(11, Kind::Added, "b")).is_err());
        assert!(it.bookmark(11).is_err());
        it.bookmark(12).unwrap();
    }

    #[test]
    fn an_object_is_added_once_and_only_changed_or_deleted_while_it_is_there() {
        for (kind, key) in [
            (Kind::Added, "a"),
            (Kind::Modified, "b"),
            (Kind::Deleted, "b"),
        ] {
            assert!(history().see(event(11, kind, key)).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn a_lost_event_is_found_though_the_last_state_is_right() {
        let mut it = history();
        it.store(event(11, Kind::Modified, "a")).unwrap();
        it.store(event(12, Kind::Modified, "a")).unwrap();
        let error = it.see(event(12, Kind::Modified, "a")).unwrap_err();
        assert!(error.contains("was stored and not seen"), "{error}");
        // The next ones are judged by themselves.
        it.store(event(13, Kind::Deleted, "a")).unwrap();
        it.see(event(13, Kind::Deleted, "a")).unwrap();
    }

    #[test]
    fn an_event_of_nothing_that_was_stored_is_found() {
        let mut it = history();
        it.see(event(11, Kind::Modified, "a")).unwrap();
        let error = it.store(event(12, Kind::Modified, "a")).unwrap_err();
        assert!(error.contains("was seen and not stored"), "{error}");
        let mut it = history();
        it.see(event(11, Kind::Modified, "a")).unwrap();
        let error = it.store(event(11, Kind::Deleted, "a")).unwrap_err();
        assert!(error.contains("and seen as"), "{error}");
    }
}
