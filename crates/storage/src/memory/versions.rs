//! The multi-version core: the current version of every key, and the past ones.
//!
//! The present is a persistent tree. The past is the event log, whose events have the versions that
//! they replaced, and a tree retained every so many revisions: an earlier state is the next tree
//! after it with the events between undone. So writes need no per-key bookkeeping, a snapshot is a
//! pointer, and compaction drops the old end of the log. It has no lock, clock, leases or watchers.

use super::Config;
use super::log::Log;
use super::tree::Tree;
use super::view::View;
use crate::{
    CompactError, Event, EventKind, KeyRange, KeyValue, LeaseId, Note, ReadError, Revision,
};
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Versions {
    head: Tree,
    /// Total size of the current values.
    live_bytes: usize,
    revision: Revision,
    /// The revision before the first write.
    begin: Revision,
    /// Reads below it fail. Zero before the first compaction.
    compacted: Revision,
    log: Log,
    /// Retained trees, oldest first, none below `compacted`.
    checkpoints: VecDeque<(Revision, Tree)>,
    checkpoint_every: u64,
    history_events_max: usize,
    history_bytes_max: usize,
}

/// A write, and the events that it displaced from history.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) event: Arc<Event>,
    pub(crate) dropped: Vec<Arc<Event>>,
    /// The trees that nobody can ask for any more.
    pub(crate) retired: Vec<Tree>,
}

/// A step of a compaction.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// The events that have left history, oldest first.
    pub(crate) dropped: Vec<Arc<Event>>,
    /// The trees that nobody can ask for any more.
    pub(crate) retired: Vec<Tree>,
    /// Whether the requested revision is reached.
    pub(crate) done: bool,
}

/// A section of the log for a late watcher.
#[derive(Debug, PartialEq)]
pub(crate) enum Scan {
    /// The events of the range in the section, and where to continue.
    Found {
        events: Vec<Arc<Event>>,
        next: Revision,
    },
    /// The log does not go back that far.
    Compacted { compacted: Revision },
}

impl Versions {
    /// An empty store with the limits of `config`.
    pub(crate) fn new(config: &Config) -> Self {
        let revision = Revision::EMPTY_STORE;
        Self {
            head: Tree::default(),
            live_bytes: 0,
            revision,
            begin: revision,
            compacted: Revision::ZERO,
            log: Log::after(revision),
            checkpoints: VecDeque::new(),
            checkpoint_every: config.checkpoint_every.get(),
            history_events_max: config.history_events_max,
            history_bytes_max: config.history_bytes_max,
        }
    }

    /// An empty store whose history begins at `revision`.
    pub(crate) fn beginning_at(config: &Config, revision: Revision) -> Self {
        let revision = revision.max(Revision::EMPTY_STORE);
        let is_first = revision == Revision::EMPTY_STORE;
        Self {
            revision,
            begin: revision,
            compacted: if is_first { Revision::ZERO } else { revision },
            log: Log::after(revision),
            ..Self::new(config)
        }
    }

    /// An empty store whose history is about to be restored: versions added with
    /// [`keep`](Self::keep) precede it, those added with [`apply`](Self::apply) are part of it.
    pub(crate) fn compacted_at(config: &Config, compacted: Revision) -> Self {
        let before = compacted.previous().max(Revision::EMPTY_STORE);
        Self {
            revision: before,
            compacted,
            log: Log::after(before),
            ..Self::new(config)
        }
    }

    /// Returns a copy that shares everything.
    pub(crate) fn fork(&mut self) -> Self {
        let log = self.log.fork();
        Self {
            log,
            ..self.clone()
        }
    }

    /// Goes back to an earlier revision, as if nothing had been written since. It must be
    /// [readable](Self::readable). Returns what was undone, newest first.
    pub(crate) fn rewind(&mut self, revision: Revision) -> Vec<Arc<Event>> {
        let mut undone = Vec::new();
        while self.revision > revision
            && let Some(event) = self.log.pop_back()
        {
            match event.previous.clone() {
                Some(kv) => drop(self.insert(kv)),
                None => drop(self.remove(&event.key)),
            }
            self.revision = event.revision.previous();
            undone.push(event);
        }
        self.checkpoints.retain(|(at, _)| *at <= revision);
        undone
    }

    /// Adds a version older than the history. Returns the previous one.
    pub(crate) fn keep(&mut self, kv: Arc<KeyValue>) -> Option<Arc<KeyValue>> {
        debug_assert!(kv.mod_revision <= self.revision, "it is before history");
        self.insert(kv)
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn begin(&self) -> Revision {
        self.begin
    }

    /// Returns the current versions in byte order.
    pub(crate) fn head(&self) -> &Tree {
        &self.head
    }

    pub(crate) fn compacted(&self) -> Revision {
        self.compacted
    }

    pub(crate) fn keys(&self) -> usize {
        self.head.len()
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    pub(crate) fn current(&self, key: &[u8]) -> Option<&Arc<KeyValue>> {
        self.head.get(key)
    }

    /// Returns the revision that a read at `at` refers to, if it is readable.
    pub(crate) fn readable(&self, at: Option<Revision>) -> Result<Revision, ReadError> {
        let (requested, current) = (at.unwrap_or(self.revision), self.revision);
        if requested > current {
            return Err(ReadError::FutureRevision { requested, current });
        }
        if requested < self.compacted {
            let compacted = self.compacted;
            return Err(ReadError::Compacted {
                requested,
                compacted,
            });
        }
        Ok(requested)
    }

    /// Returns a view of `range` at a readable revision.
    pub(crate) fn view(&self, range: &KeyRange, requested: Revision) -> View {
        if requested == self.revision {
            return View::new(self.head.clone(), Vec::new());
        }
        let above = self
            .checkpoints
            .partition_point(|(revision, _)| *revision < requested);
        let (reached, tree) = match self.checkpoints.get(above) {
            Some((revision, tree)) => (*revision, tree),
            None => (self.revision, &self.head),
        };
        let undone = self.log.range(requested.next(), reached.next());
        let undone = undone
            .filter(|event| range.contains(&event.key))
            .cloned()
            .collect();
        View::new(tree.clone(), undone)
    }

    pub(crate) fn put(&mut self, key: &[u8], value: Bytes, lease: Option<LeaseId>) -> Commit {
        let revision = self.revision.next();
        // One buffer per key, shared by all its versions, and not part of a larger one.
        let (key, create_revision, version) = match self.head.get(key) {
            Some(kv) => (
                kv.key.clone(),
                kv.create_revision,
                kv.version.saturating_add(1),
            ),
            None => (Bytes::copy_from_slice(key), revision, 1),
        };
        let kv = KeyValue {
            key: key.clone(),
            value,
            create_revision,
            mod_revision: revision,
            version,
            lease,
            note: Note::default(),
        };
        let kv = Arc::new(kv);
        let previous = self.insert(Arc::clone(&kv));
        self.commit(Event {
            revision,
            key,
            kind: EventKind::Put(kv),
            previous,
        })
    }

    /// Deletes a key; `None` without effect if it does not exist.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Option<Commit> {
        let previous = self.remove(key)?;
        let (revision, key) = (self.revision.next(), previous.key.clone());
        let previous = Some(previous);
        Some(self.commit(Event {
            revision,
            key,
            kind: EventKind::Delete,
            previous,
        }))
    }

    /// Discards history below `revision`, at most so many events.
    pub(crate) fn compact(
        &mut self,
        revision: Revision,
        events_max: usize,
    ) -> Result<Compacted, CompactError> {
        let requested = revision;
        if requested <= self.compacted {
            return Err(CompactError::Compacted {
                requested,
                compacted: self.compacted,
            });
        }
        if requested > self.revision {
            return Err(CompactError::FutureRevision {
                requested,
                current: self.revision,
            });
        }
        let dropped = self.log.drop_before(revision, events_max);
        // Short of events before it, the log begins there.
        let done = self.log.first() >= revision;
        let reached = if done { revision } else { self.log.first() };
        let retired = self.compacted_to(reached);
        Ok(Compacted {
            dropped,
            retired,
            done,
        })
    }

    /// Returns events of `range` from `from` on and below `to`, looking at most at `looked_at_max`
    /// events, until `wanted` declines one.
    pub(crate) fn scan(
        &self,
        range: &KeyRange,
        from: Revision,
        to: Revision,
        looked_at_max: u64,
        mut wanted: impl FnMut(&Event) -> bool,
    ) -> Scan {
        if from < self.compacted {
            return Scan::Compacted {
                compacted: self.compacted,
            };
        }
        let to = to.min(Revision(from.0.saturating_add(looked_at_max)));
        let mut events = Vec::new();
        for event in self.log.range(from, to) {
            if range.contains(&event.key) {
                if !wanted(event) {
                    return Scan::Found {
                        events,
                        next: event.revision,
                    };
                }
                events.push(Arc::clone(event));
            }
        }
        Scan::Found {
            events,
            next: to.max(from),
        }
    }

    /// Applies a write that was decided elsewhere, without discarding history.
    pub(crate) fn apply(&mut self, event: &Arc<Event>) {
        match event.current() {
            Some(kv) => drop(self.insert(Arc::clone(kv))),
            None => drop(self.remove(&event.key)),
        }
        self.remember(event);
    }

    fn insert(&mut self, kv: Arc<KeyValue>) -> Option<Arc<KeyValue>> {
        self.live_bytes += live_weight(&kv);
        let previous = self.head.insert(kv);
        self.live_bytes -= previous.as_deref().map_or(0, live_weight);
        previous
    }

    fn remove(&mut self, key: &[u8]) -> Option<Arc<KeyValue>> {
        let previous = self.head.remove(key)?;
        self.live_bytes -= live_weight(&previous);
        Some(previous)
    }

    /// Returns the total size of the current values.
    pub(crate) fn live_bytes(&self) -> usize {
        self.live_bytes
    }

    fn commit(&mut self, event: Event) -> Commit {
        let event = Arc::new(event);
        self.remember(&event);
        let mut dropped = Vec::new();
        // The newest event always stays: its watchers are about to read it.
        while self.log.len() > 1
            && (self.log.len() > self.history_events_max
                || self.log.bytes() > self.history_bytes_max)
        {
            dropped.extend(self.log.pop_front());
        }
        let mut retired = Vec::new();
        if !dropped.is_empty() {
            retired = self.compacted_to(self.log.first());
        }
        Commit {
            event,
            dropped,
            retired,
        }
    }

    /// Adds an event that the current tree already contains to the history.
    fn remember(&mut self, event: &Arc<Event>) {
        self.revision = event.revision;
        self.log.push(Arc::clone(event));
        if self.revision.0.is_multiple_of(self.checkpoint_every) {
            self.checkpoints
                .push_back((self.revision, self.head.clone()));
        }
    }

    /// Returns the trees that are not needed any more, to be dropped without a lock.
    fn compacted_to(&mut self, revision: Revision) -> Vec<Tree> {
        self.compacted = revision;
        let mut retired = Vec::new();
        while let Some((at, _)) = self.checkpoints.front()
            && *at < revision
        {
            retired.extend(self.checkpoints.pop_front().map(|(_, tree)| tree));
        }
        retired
    }
}

/// Returns the size of a key with a value of this length.
pub(crate) fn weight_of(key: usize, value: usize) -> usize {
    key + value + KEY_OVERHEAD
}

fn live_weight(kv: &KeyValue) -> usize {
    weight_of(kv.key.len(), kv.value.len())
}

/// Memory of a current value beyond its bytes: the version and its tree entry.
const KEY_OVERHEAD: usize = 160;
