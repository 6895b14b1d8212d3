//! Why a body is not a list that can be cut.

use kubist_apimachinery::Str;
use kubist_apimachinery::wire::{WireError, WireErrorKind};
use std::fmt;

/// A place in a list's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an offset and an index, no more")]
pub struct Place {
    /// Bytes from the start of the body.
    pub offset: u64,
    /// How many items were complete before it, which is the index of the item it is in.
    pub item: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}, item {}", self.offset, self.item)
    }
}

/// A list that cannot be cut (further).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListStreamError {
    /// The body ended before the list did.
    #[error("the list ends too early, at {place}")]
    Truncated {
        /// Where it ended.
        place: Place,
    },
    /// Not JSON, or not a JSON list.
    #[error("at {place} of the list: expected {expected}, found {found:?}")]
    Syntax {
        /// Where.
        place: Place,
        /// What could have stood there.
        expected: &'static str,
        /// What stands there.
        found: char,
    },
    /// Not protobuf, or not an enveloped list.
    #[error("at {place} of the list: {kind}")]
    Protobuf {
        /// Where.
        place: Place,
        /// What is wrong there.
        kind: WireErrorKind,
    },
    /// The body does not begin with `k8s\0`.
    #[error("no protobuf envelope: the list does not begin with k8s\\0")]
    NoMagic,
    /// The envelope names another encoding of its contents.
    #[error("the envelope says that its contents are `{found}`, not plain protobuf")]
    Contents {
        /// The encoding.
        found: String,
    },
    /// An item or the metadata is longer than its limit.
    #[error("at {place} of the list: more than {max} bytes")]
    TooLong {
        /// Where.
        place: Place,
        /// The limit.
        max: usize,
    },
    /// A `Table` came, which nobody asked for.
    #[error("the server answered with a Table, not a list")]
    Table,
    /// An object came that is not a list, such as a `Status`.
    #[error("the server answered with {kind} of {api_version}, not a list")]
    NotAList {
        /// Its `apiVersion`.
        api_version: Str,
        /// Its `kind`.
        kind: Str,
    },
    /// The list has no `items` at all, or has them twice.
    #[error("the list has `items` {count} times, not once")]
    ItemsCount {
        /// How often.
        count: u32,
    },
    /// The list's `metadata` cannot be decoded.
    #[error("the metadata of the list")]
    Metadata(#[source] WireError),
}
