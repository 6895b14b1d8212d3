//! `Event`: one committed write to one key, as watchers see it.

use crate::{KeyValue, Revision};
use bytes::Bytes;
use std::sync::Arc;

/// One committed write to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The revision of the write. A delete has its own, higher than that of the value it removed.
    pub revision: Revision,
    /// The key.
    pub key: Bytes,
    /// The kind of write.
    pub kind: EventKind,
    /// The version that the write replaced or removed.
    ///
    /// `None` if there was none, if the watch did not request it (the memory engine provides it
    /// anyway), or if the engine has compacted it.
    pub previous: Option<Arc<KeyValue>>,
}

/// The kind of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a key is written or removed; there is no third"
)]
pub enum EventKind {
    /// The key has this version now.
    Put(Arc<KeyValue>),
    /// The key was deleted, by a request or because its lease ended.
    Delete,
}

impl Event {
    /// Returns the version after the write; `None` after a delete.
    pub fn current(&self) -> Option<&Arc<KeyValue>> {
        match &self.kind {
            EventKind::Put(kv) => Some(kv),
            EventKind::Delete => None,
        }
    }

    /// Reports whether the write created the key.
    pub fn is_create(&self) -> bool {
        self.current().is_some_and(|kv| kv.is_created())
    }

    /// Bytes of the key and the values that the event keeps in memory.
    pub(crate) fn weight(&self) -> usize {
        let value = |kv: &Arc<KeyValue>| kv.value.len();
        self.key.len() + self.current().map_or(0, value) + self.previous.as_ref().map_or(0, value)
    }
}
