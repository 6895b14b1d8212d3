//! `StoredBytes`: the message within a stored value.
//!
//! If the value is unchanged from storage, its key-value version is held rather than its bytes: a
//! list already has it at hand, and a second reference count elsewhere in memory is expensive.

use bytes::Bytes;
use kubist_storage::KeyValue;
use std::ops::Deref;
use std::sync::Arc;

/// The bytes of a message.
#[derive(Clone)]
pub(crate) enum StoredBytes {
    /// Bytes of their own.
    Alone(Bytes),
    /// A slice of a value.
    Within {
        /// The version that contains the value.
        kv: Arc<KeyValue>,
        /// The start of the message.
        start: u32,
        /// The end of the message.
        end: u32,
    },
}

impl Deref for StoredBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Alone(bytes) => bytes,
            Self::Within { kv, start, end } => kv
                .value
                .get(*start as usize..*end as usize)
                .unwrap_or_default(),
        }
    }
}

impl From<Bytes> for StoredBytes {
    fn from(bytes: Bytes) -> Self {
        Self::Alone(bytes)
    }
}
