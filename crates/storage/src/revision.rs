//! `Revision`: a position in the history of a store.
//!
//! Revisions of one store are totally ordered; those of two stores cannot be compared.

use std::fmt;

/// A position in the history of the whole store, not of one key.
///
/// An empty store is at revision 1, so the first write gets 2, unless the store was created at a
/// later one. Each write that changes something increments it by one; reads and refused writes do
/// not (the rule of etcd v3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// Before all history. As the modification revision of a key it means that the key is absent.
    pub const ZERO: Self = Self(0);
    /// The revision of an empty store.
    pub const EMPTY_STORE: Self = Self(1);

    /// Returns the next revision. Saturates.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the previous revision; that of zero is zero.
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u64> for Revision {
    fn from(value: u64) -> Self {
        Self(value)
    }
}
