//! `Seen`: the fields of a message that have occurred in JSON, for the check of duplicates.

/// The fields that have occurred; no message has more than 256.
#[derive(Default)]
pub(super) struct Seen([u64; 4]);

impl Seen {
    /// Notes a field, and reports whether it is new.
    pub(super) fn insert(&mut self, index: usize) -> bool {
        let (word, bit) = ((index / 64) % 4, 1u64 << (index % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
}
