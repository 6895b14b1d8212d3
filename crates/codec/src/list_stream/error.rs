//! Errors of list streams.

use kubist_apimachinery::Str;
use kubist_apimachinery::wire::{WireError, WireErrorKind};
use std::fmt;

/// A position in a list's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an offset and an index, no more")]
pub struct Place {
    /// The byte offset in the body.
    pub offset: u64,
    /// The number of complete items before it, which is the index of the current item.
    pub item: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}, item {}", self.offset, self.item)
    }
}

/// Why a list cannot be read (further).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListStreamError {
    /// The body ended before the list did.
    #[error("the list ends too early, at {place}")]
    Truncated {
        /// The end of the body.
        place: Place,
    },
    /// The body is not JSON, or not a JSON list.
    #[error("at {place} of the list: expected {expected}, found {found:?}")]
    Syntax {
        /// The position.
        place: Place,
        /// What was expected.
        expected: &'static str,
        /// The byte that was found.
        found: char,
    },
    /// The body is not protobuf, or not an enveloped list.
    #[error("at {place} of the list: {kind}")]
    Protobuf {
        /// The position.
        place: Place,
        /// The problem.
        kind: WireErrorKind,
    },
    /// The body does not begin with `k8s\0`.
    #[error("no protobuf envelope: the list does not begin with k8s\\0")]
    NoMagic,
    /// The envelope has another content encoding.
    #[error("the envelope contains `{found}`, not plain protobuf")]
    Contents {
        /// The content encoding.
        found: String,
    },
    /// An item or the metadata exceeds its limit.
    #[error("at {place} of the list: more than {max} bytes")]
    TooLong {
        /// The position.
        place: Place,
        /// The limit.
        max: usize,
    },
    /// The response is a `Table`, which was not requested.
    #[error("the server answered with a Table, not a list")]
    Table,
    /// The response is an object that is not a list, such as a `Status`.
    #[error("the server answered with {kind} of {api_version}, not a list")]
    NotAList {
        /// The `apiVersion` of the object.
        api_version: Str,
        /// The `kind` of the object.
        kind: Str,
    },
    /// The list has no `items`, or has them twice.
    #[error("the list has `items` {count} times, not once")]
    ItemsCount {
        /// The number of `items`.
        count: u32,
    },
    /// The list's `metadata` cannot be decoded.
    #[error("the metadata of the list")]
    Metadata(#[source] WireError),
}
