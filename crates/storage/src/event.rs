//! One committed write to one key, as watchers see it.

use crate::{KeyValue, Revision};
use bytes::Bytes;
use std::sync::Arc;

/// One committed write to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The write's revision. A delete has its own, higher than that of the value it removed.
    pub revision: Revision,
    /// The key written.
    pub key: Bytes,
    /// What happened to it.
    pub kind: EventKind,
    /// The version that this write replaced or removed.
    ///
    /// `None` if there was none, if the watch did not ask for it (the memory engine gives it
    /// anyway), or if the engine has compacted it away.
    pub previous: Option<Arc<KeyValue>>,
}

/// What a write did to its key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a key is written or removed; there is no third"
)]
pub enum EventKind {
    /// The key has this version now.
    Put(Arc<KeyValue>),
    /// The key is gone, by a request or because its lease ended.
    Delete,
}

impl Event {
    /// The version that the write left behind; `None` after a delete.
    pub fn current(&self) -> Option<&Arc<KeyValue>> {
        match &self.kind {
            EventKind::Put(kv) => Some(kv),
            EventKind::Delete => None,
        }
    }

    /// Whether the write brought the key into being.
    pub fn is_create(&self) -> bool {
        self.current().is_some_and(|kv| kv.is_created())
    }

    /// Bytes of key and values that the event keeps alive.
    pub(crate) fn weight(&self) -> usize {
        let value = |kv: &Arc<KeyValue>| kv.value.len();
        self.key.len() + self.current().map_or(0, value) + self.previous.as_ref().map_or(0, value)
    }
}
