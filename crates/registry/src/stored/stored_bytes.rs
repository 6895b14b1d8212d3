//! `StoredBytes`: the message within a stored value.
//!
//! Where the value is as storage has it, its version of the key is held rather than its bytes:
//! whoever lists has that in hand, and another count in another place of a large memory is what
//! costs.

use bytes::Bytes;
use kubist_storage::KeyValue;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes of a message.
#[derive(Clone)]
pub(crate) enum StoredBytes {
    /// By themselves.
    Alone(Bytes),
    /// Part of a value.
    Within {
        /// The version that has the value.
        kv: Arc<KeyValue>,
        /// What comes before the message.
        start: u32,
        /// Where it ends.
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
