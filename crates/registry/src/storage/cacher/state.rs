//! The state of a watch cache: the ordered objects, the recent events, snapshots and watchers.
//!
//! Pure: time is an argument, and no task is woken here.

use super::ring::{Ring, TooOld};
use super::watchers::Watchers;
use kubist_storage::memory::Tree;
use kubist_storage::{Event, EventKind};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The events between two snapshots: the most that a read of the past must undo.
const SNAPSHOT_EVERY: usize = 64;

/// The state of a watch cache.
#[derive(Debug)]
pub(crate) struct State {
    /// `None` until the cache is filled.
    pub(crate) content: Option<Content>,
    /// Since when it has not been ready; meaningless while it is.
    pub(crate) down_since: Instant,
    /// The number of rebuilds.
    pub(crate) generation: u64,
    /// Whether it is closed for good.
    pub(crate) closed: bool,
    /// Whether the last consistency check passed.
    pub(crate) trusted: bool,
    pub(crate) watchers: Watchers,
}

/// The content of a cache that is ready.
#[derive(Debug)]
pub(crate) struct Content {
    tree: Tree,
    /// The tree is complete up to this revision.
    revision: u64,
    ring: Ring,
    snapshots: VecDeque<(u64, Tree)>,
    since_snapshot: usize,
    /// The total size of all values.
    bytes: usize,
}

/// A snapshot, and the events to undo to get to a past state.
#[derive(Debug)]
pub(crate) struct Past {
    tree: Tree,
    undone: Vec<Arc<Event>>,
}

impl Past {
    /// Returns the objects at that state.
    pub(crate) fn tree(mut self) -> Tree {
        for event in self.undone.iter().rev() {
            match &event.previous {
                Some(kv) => drop(self.tree.insert(Arc::clone(kv))),
                None => drop(self.tree.remove(&event.key)),
            }
        }
        self.tree
    }
}

impl State {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            content: None,
            down_since: now,
            generation: 0,
            closed: false,
            trusted: true,
            watchers: Watchers::default(),
        }
    }
}

impl Content {
    /// Creates the state with all objects at `revision`.
    pub(crate) fn new(tree: Tree, revision: u64, history: Duration) -> Self {
        let all = kubist_storage::KeyRange::all();
        let bytes = tree.range(&all).map(|kv| kv.value.len()).sum();
        Self {
            tree,
            revision,
            ring: Ring::new(revision, history),
            snapshots: VecDeque::new(),
            since_snapshot: 0,
            bytes,
        }
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// Applies an event. Returns the event for watchers; `None` if it changes nothing.
    pub(crate) fn apply(&mut self, event: &Arc<Event>, now: Instant) -> Option<Arc<Event>> {
        let old = match &event.kind {
            EventKind::Put(kv) => {
                self.bytes += kv.value.len();
                self.tree.insert(Arc::clone(kv))
            }
            EventKind::Delete => Some(self.tree.remove(&event.key)?),
        };
        self.bytes -= old.as_ref().map_or(0, |kv| kv.value.len());
        let event = if event.previous == old {
            Arc::clone(event)
        } else {
            Arc::new(Event {
                previous: old,
                ..(**event).clone()
            })
        };
        self.ring.push(Arc::clone(&event), now);
        self.since_snapshot += 1;
        Some(event)
    }

    /// Puts events in front of all others: those after a revision, up to the list.
    pub(crate) fn recall(&mut self, (begun_at, events): (u64, VecDeque<Arc<Event>>), now: Instant) {
        self.ring.recall(begun_at, events, now);
    }

    /// Records that everything up to here has been applied.
    pub(crate) fn reached(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
        if self.since_snapshot < SNAPSHOT_EVERY {
            return;
        }
        self.since_snapshot = 0;
        self.snapshots.push_back((self.revision, self.tree.clone()));
        let oldest = self.ring.oldest();
        while self.snapshots.front().is_some_and(|it| it.0 < oldest) {
            self.snapshots.pop_front();
        }
    }

    /// Returns the state at a revision; `None` if it is not available (any more).
    pub(crate) fn at(&self, revision: u64) -> Option<Past> {
        if revision > self.revision {
            return None;
        }
        let after = self.snapshots.partition_point(|it| it.0 < revision);
        let (from, tree) = match self.snapshots.get(after) {
            Some((from, tree)) => (*from, tree),
            None => (self.revision, &self.tree),
        };
        let undone = self.ring.after(revision, from, usize::MAX).ok()?;
        Some(Past {
            tree: tree.clone(),
            undone,
        })
    }

    /// Returns at most `limit` events after `after` up to `until`, plus the rest of the last
    /// revision.
    pub(crate) fn events(
        &self,
        after: u64,
        until: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, TooOld> {
        self.ring.after(after, until, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::cacher::ring::DEFAULT_HISTORY;
    use bytes::Bytes;
    use kubist_storage::{KeyRange, KeyValue, Note, Revision};
    use proptest::prelude::*;

    fn version(key: u8, revision: u64) -> Arc<KeyValue> {
        Arc::new(KeyValue {
            key: Bytes::copy_from_slice(&[b'k', key]),
            value: Bytes::from(vec![0; usize::from(key)]),
            create_revision: Revision(revision),
            mod_revision: Revision(revision),
            version: 1,
            lease: None,
            note: Note::default(),
        })
    }

    fn contents(tree: &Tree) -> Vec<Arc<KeyValue>> {
        tree.range(&KeyRange::all()).cloned().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_state_that_the_ring_reaches_can_be_read_again(
            ops in prop::collection::vec((any::<bool>(), 0_u8..12, 1_u64..3), 1..400),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .expect("it builds");
            let _guard = runtime.enter();
            let now = Instant::now();
            let mut content = Content::new(Tree::default(), 1, DEFAULT_HISTORY);
            let mut states = vec![(1, contents(content.tree()))];
            let mut revision = 1;
            for (put, key, step) in ops {
                revision += step;
                let kv = version(key, revision);
                let event = Arc::new(Event {
                    revision: Revision(revision),
                    key: kv.key.clone(),
                    kind: if put { EventKind::Put(kv) } else { EventKind::Delete },
                    previous: None,
                });
                content.apply(&event, now);
                content.reached(revision);
                states.push((revision, contents(content.tree())));
            }
            let sum: usize = contents(content.tree()).iter().map(|kv| kv.value.len()).sum();
            prop_assert_eq!(content.bytes(), sum);
            for (revision, expected) in &states {
                let past = content.at(*revision).expect("the ring has grown");
                prop_assert_eq!(&contents(&past.tree()), expected);
            }
            prop_assert!(content.at(0).is_none());
            prop_assert!(content.at(revision + 1).is_none());
        }
    }
}
