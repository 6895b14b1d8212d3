//! `ResetFields`: the fields that a write through a path resets.
//!
//! A reset field keeps its old value, or is cleared on create, whatever the client sends.
//! Therefore the client does not become its owner. The filter for field management is built by
//! [`reset_filter`](crate::reset_filter).

/// The fields that a write through one path (the object or a subresource) resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum ResetFields {
    /// The fields that the store itself resets: the status for the object, if it is a subresource;
    /// for the status, the spec and the metadata by [`StatusKeeps`](crate::StatusKeeps); none for
    /// other subresources.
    ByStore,
    /// These fields and those below them, each as a path of field names.
    Paths(&'static [&'static [&'static str]]),
    /// All fields but those below these paths; `None` stands for any list item, map key or field.
    AllBut(&'static [&'static [Option<&'static str>]]),
}
