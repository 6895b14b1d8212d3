//! `KeyValue`: one version of one key, as stored.
//!
//! It is immutable: engines and readers share it in an `Arc`.

use crate::{LeaseId, Revision};
use bytes::Bytes;
use std::sync::atomic::{AtomicU64, Ordering};

/// One version of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The key; never empty.
    pub key: Bytes,
    /// The value; may be empty.
    pub value: Bytes,
    /// The revision that created the key. A key that is deleted and written again has a new one.
    pub create_revision: Revision,
    /// The revision that wrote this version.
    pub mod_revision: Revision,
    /// Number of writes since the key was created, this one included: 1 for the first.
    pub version: u64,
    /// The lease that deletes the key when it expires.
    pub lease: Option<LeaseId>,
    /// An annotation by readers of this value, which storage neither reads nor keeps.
    pub note: Note,
}

/// An annotation that a reader attaches to a value for as long as the value is in memory. It must
/// be derived from the value: two versions that differ only in it are equal.
#[derive(Debug, Default)]
pub struct Note(AtomicU64);

impl Note {
    /// Returns what was set last; 0 if nothing was.
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the annotation.
    pub fn write(&self, word: u64) {
        self.0.store(word, Ordering::Relaxed);
    }
}

/// Resets the annotation, because a copy may get another value.
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
    /// Reports whether this is the first version since the key was created.
    pub fn is_created(&self) -> bool {
        self.create_revision == self.mod_revision
    }
}
