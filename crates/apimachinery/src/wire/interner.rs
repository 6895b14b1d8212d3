//! `Interner`: a bounded, lossy string interner.
//!
//! It is a direct-mapped table: each string has one slot, by hash, and the last string there wins.
//! So it never grows, needs no clean-up, and a look-up is one comparison. Strings that collide are
//! merely shared less. It is not a symbol table: equal strings may differ in identity.

use crate::Str;
use std::hash::BuildHasher;

/// Shares repeated strings among the objects of one decoder.
#[derive(Debug)]
pub struct Interner {
    slots: Vec<Str>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl Interner {
    /// Strings longer than this, in bytes, are not interned: they rarely repeat.
    pub const LENGTH_MAX: usize = 512;

    /// Creates a table for `capacity` strings, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        let size = capacity.clamp(16, 1 << 20).next_power_of_two();
        Self {
            slots: vec![Str::default(); size],
            hasher: hashbrown::DefaultHashBuilder::default(),
        }
    }

    /// Returns the shared form of `text`.
    pub fn intern(&mut self, text: &str) -> Str {
        if text.is_empty() || text.len() > Self::LENGTH_MAX {
            return Str::from(text);
        }
        let hash = self.hasher.hash_one(text);
        let mask = self.slots.len() - 1;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the mask keeps it below the length"
        )]
        let slot = &mut self.slots[hash as usize & mask];
        if *slot != *text {
            *slot = Str::from(text);
        }
        slot.clone()
    }
}

impl Default for Interner {
    /// Creates a table for 4,096 strings.
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
        let first = interner.intern("kube-system");
        let second = interner.intern("kube-system");
        assert!(first.same_allocation(&second));
    }
}
