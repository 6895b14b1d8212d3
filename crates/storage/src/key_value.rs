//! One version of one key, as stored.
//!
//! Immutable once written: engines and readers share it behind an `Arc`.

use crate::{LeaseId, Revision};
use bytes::Bytes;

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
}

impl KeyValue {
    /// Whether this version is the first since the key came into being.
    pub fn is_created(&self) -> bool {
        self.create_revision == self.mod_revision
    }
}
