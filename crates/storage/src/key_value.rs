//! One version of one key, as stored.
//!
//! Immutable once written: engines and readers share it behind an `Arc`.

use crate::{LeaseId, Revision};
use bytes::Bytes;
use std::sync::atomic::{AtomicU64, Ordering};

/// One version of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The key, never empty.
    pub key: Bytes,
    /// The value as it was put; may be empty.
    pub value: Bytes,
    /// The write that created the key. A key that was deleted and put again has a new one.
    pub create_revision: Revision,
    /// The write that made this version.
    pub mod_revision: Revision,
    /// The lease that deletes this key when it expires.
    pub lease: Option<LeaseId>,
    /// What a reader has found out about this very value; storage neither reads nor keeps it.
    pub note: Note,
}

/// A word about a value, for whoever reads it to leave there and to find again as long as the
/// value is in memory. It says nothing that the value does not: two versions that differ in it
/// alone are equal.
#[derive(Debug, Default)]
pub struct Note(AtomicU64);

impl Note {
    /// What was written last; 0 if nothing was.
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Writes it.
    pub fn write(&self, word: u64) {
        self.0.store(word, Ordering::Relaxed);
    }
}

/// Without what it says: a copy may get another value.
impl Clone for Note {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Note {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Note {}

impl KeyValue {
    /// Whether this version is the first since the key came into being.
    pub fn is_created(&self) -> bool {
        self.create_revision == self.mod_revision
    }
}
