//! A position in the history of the whole store.
//!
//! Promises a total order and nothing else: revisions of two stores cannot be compared.

use std::fmt;

/// A position in the history of the whole store, not of one key.
///
/// An empty store stands at revision 1, so the first write gets 2, unless it was made to begin
/// later. Each write that changes something raises it by exactly one; reads and refused writes
/// never do (etcd v3's rule).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// Before all history. As a key's modification revision it means "the key is absent".
    pub const ZERO: Self = Self(0);
    /// Where an empty store stands.
    pub const EMPTY_STORE: Self = Self(1);

    /// The revision after this one. Saturates.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The revision before this one; zero has none and stays.
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
