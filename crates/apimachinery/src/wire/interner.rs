//! `Interner`: a bounded, lossy string interner.
//!
//! It is a direct-mapped table: each string has one slot, by hash, and the last string there wins.
//! So it needs no clean-up, and a look-up is one comparison. Strings that collide are merely shared
//! less. It is not a symbol table: equal strings may differ in identity. The table grows up to its
//! capacity as strings collide: of the many decoders of a process, most see few strings.

use crate::Str;
use std::hash::BuildHasher;

/// Shares repeated strings among the objects of one decoder.
#[derive(Debug)]
pub struct Interner {
    /// As many as a power of two, or none before the first string.
    slots: Vec<Str>,
    size_max: usize,
    hasher: hashbrown::DefaultHashBuilder,
}

/// The slots of the first table.
const SIZE_MIN: usize = 16;

impl Interner {
    /// Strings longer than this, in bytes, are not interned: they rarely repeat.
    pub const LENGTH_MAX: usize = 512;

    /// Creates a table for up to `capacity` strings, rounded up to a power of two. It is allocated
    /// with the first strings, and doubled as long as strings collide.
    pub fn new(capacity: usize) -> Self {
        Self {
            slots: Vec::new(),
            size_max: capacity.clamp(SIZE_MIN, 1 << 20).next_power_of_two(),
            hasher: hashbrown::DefaultHashBuilder::default(),
        }
    }

    /// Returns the shared form of `text`.
    pub fn intern(&mut self, text: &str) -> Str {
        // Short texts are in place, and have nothing to share.
        if text.len() <= Str::IN_PLACE_MAX || text.len() > Self::LENGTH_MAX {
            return Str::from(text);
        }
        if self.slots.is_empty() {
            self.slots = vec![Str::default(); SIZE_MIN];
        }
        let hash = self.hasher.hash_one(text);
        let mut at = self.index(hash);
        if self.slots[at] == *text {
            return self.slots[at].clone();
        }
        while !self.slots[at].is_empty() && self.slots.len() < self.size_max {
            self.grow();
            at = self.index(hash);
        }
        self.slots[at] = Str::from(text);
        self.slots[at].clone()
    }

    fn index(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the mask keeps it below the length"
        )]
        let index = hash as usize & mask;
        index
    }

    fn grow(&mut self) {
        let more = vec![Str::default(); self.slots.len() * 2];
        let before = std::mem::replace(&mut self.slots, more);
        // Strings of different slots have different ones in a larger table, so none is lost.
        for text in before.into_iter().filter(|it| !it.is_empty()) {
            let at = self.index(self.hasher.hash_one(text.as_str()));
            self.slots[at] = text;
        }
    }
}

impl Default for Interner {
    /// Creates a table for up to 4,096 strings.
    fn default() -> Self {
        Self::new(4096)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_one_allocation() {
        let mut interner = Interner::default();
        let first = interner.intern("kube-controller-manager");
        let second = interner.intern("kube-controller-manager");
        assert!(first.same_allocation(&second));
    }

    #[test]
    fn a_table_grows_as_strings_collide_and_loses_none_by_that() {
        let mut interner = Interner::new(64);
        assert_eq!(interner.slots.capacity(), 0);
        let mut known = Vec::new();
        for number in 0..1_000 {
            let text = format!("{number:020}");
            known.push((interner.intern(&text), text));
            if interner.slots.len() < 64 {
                for (interned, text) in &known {
                    assert!(interner.intern(text).same_allocation(interned));
                }
            }
        }
        assert_eq!(interner.slots.len(), 64, "its capacity is its bound");
    }
}
