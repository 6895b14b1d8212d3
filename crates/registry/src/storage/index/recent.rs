//! `Recent`: the latest changes of an index, to look at a state shortly before the newest.

use bytes::Bytes;
use kubist_storage::{Event, KeyRange, KeyValue};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The maximum of changes.
const CHANGES_MAX: usize = 1024;
/// The maximum of bytes of the values that they have replaced.
const BYTES_MAX: usize = 4 << 20;

/// What was at changed keys before: the versions at an earlier revision.
pub(super) type Undone = BTreeMap<Bytes, Option<Arc<KeyValue>>>;

/// The latest changes.
#[derive(Debug, Default)]
pub(super) struct Recent {
    changes: VecDeque<Change>,
    bytes: usize,
    /// All changes after this revision are here.
    floor: u64,
}

#[derive(Debug)]
struct Change {
    revision: u64,
    key: Bytes,
    previous: Option<Arc<KeyValue>>,
}

impl Change {
    fn bytes(&self) -> usize {
        self.previous.as_ref().map_or(0, |kv| kv.value.len())
    }
}

impl Recent {
    /// Creates an empty list that is complete after a revision.
    pub(super) fn after(floor: u64) -> Self {
        Self {
            floor,
            ..Self::default()
        }
    }

    /// Adds a change.
    pub(super) fn push(&mut self, event: &Event) {
        let change = Change {
            revision: event.revision.0,
            key: event.key.clone(),
            previous: event.previous.clone(),
        };
        self.bytes += change.bytes();
        self.changes.push_back(change);
        while self.changes.len() > CHANGES_MAX || self.bytes > BYTES_MAX {
            self.pop();
        }
    }

    /// Drops all changes.
    pub(super) fn clear(&mut self) {
        while !self.changes.is_empty() {
            self.pop();
        }
        self.changes = VecDeque::new();
    }

    fn pop(&mut self) {
        if let Some(oldest) = self.changes.pop_front() {
            self.bytes -= oldest.bytes();
            self.floor = oldest.revision;
        }
    }

    /// Returns what was at the keys of a range that have changed since a revision; `None` if that
    /// is too long ago.
    pub(super) fn since(&self, revision: u64, range: &KeyRange) -> Option<Undone> {
        if revision < self.floor {
            return None;
        }
        let first = self.changes.partition_point(|it| it.revision <= revision);
        let mut undone = Undone::new();
        for change in self.changes.range(first..) {
            if range.contains(&change.key) {
                let before = || change.previous.clone();
                undone.entry(change.key.clone()).or_insert_with(before);
            }
        }
        Some(undone)
    }
}
