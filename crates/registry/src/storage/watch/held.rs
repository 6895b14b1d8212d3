//! `HeldBack`: the objects whose newest version a watch cannot deliver because it cannot be read,
//! and what its client knows of them.

use bytes::Bytes;
use kubist_storage::KeyValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Objects that one watch holds back; one more ends it. As many as upstream names in the error of
/// a list.
const HELD_MAX: usize = 100;

/// What a client knows of an object.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// Nothing: it does not see the object.
    Nothing,
    /// This version.
    Version(Arc<KeyValue>),
    /// Perhaps an older version than those that the watch has come by.
    Untold,
}

/// Objects that are held back, by key.
#[derive(Debug, Default)]
pub(super) struct HeldBack(BTreeMap<Bytes, Known>);

impl HeldBack {
    /// Holds an object back. False if there are too many.
    pub(super) fn hold(&mut self, key: &Bytes, known: Known) -> bool {
        if self.0.len() >= HELD_MAX {
            return false;
        }
        self.0.insert(key.clone(), known);
        true
    }

    /// What the client knows of an object that was held back, and is not any more.
    pub(super) fn take(&mut self, key: &Bytes) -> Option<Known> {
        // Nearly always nothing is.
        if self.0.is_empty() {
            return None;
        }
        self.0.remove(key)
    }
}
