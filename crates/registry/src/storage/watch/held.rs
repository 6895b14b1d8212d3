//! `HeldBack`: the objects whose newest version a watch cannot deliver because it cannot be
//! decoded, and the client's state of them.

use bytes::Bytes;
use kubist_storage::KeyValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum of objects that one watch holds back; one more ends it. The number is that of
/// objects named in upstream's list error.
const HELD_MAX: usize = 100;

/// The client's state of an object.
#[derive(Clone, Debug)]
pub(super) enum ClientState {
    /// The client does not see the object.
    Absent,
    /// The client has this version.
    Version(Arc<KeyValue>),
    /// The client may have a version older than those that the watch has passed.
    Unknown,
}

/// The held-back objects, by key.
#[derive(Debug, Default)]
pub(super) struct HeldBack(BTreeMap<Bytes, ClientState>);

impl HeldBack {
    /// Holds an object back. Returns false if there are too many.
    pub(super) fn hold(&mut self, key: &Bytes, state: ClientState) -> bool {
        if self.0.len() >= HELD_MAX {
            return false;
        }
        self.0.insert(key.clone(), state);
        true
    }

    /// Returns the client's state of a held-back object.
    pub(super) fn get(&self, key: &Bytes) -> Option<&ClientState> {
        self.0.get(key)
    }

    /// Returns the client's state of an object, and no longer holds it back.
    pub(super) fn take(&mut self, key: &Bytes) -> Option<ClientState> {
        // Almost always empty.
        if self.0.is_empty() {
            return None;
        }
        self.0.remove(key)
    }
}
