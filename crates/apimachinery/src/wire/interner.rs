//! A lossy, bounded interner: strings that repeat are shared, strings that do not cost one slot.
//!
//! A direct-mapped table: each string has one place, by hash; whoever comes last holds it. So it
//! never grows, needs no clean-up, and look-ups are one comparison. Two strings that often
//! collide are merely shared less. It is not a symbol table: equal strings may differ in identity.

use crate::Str;
use std::hash::BuildHasher;

/// Shares repeated strings among the objects that one decoder makes.
#[derive(Debug)]
pub struct Interner {
    slots: Vec<Str>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl Interner {
    /// Strings longer than this (bytes) are not looked up: they rarely repeat.
    pub const LENGTH_MAX: usize = 512;

    /// A table with room for `capacity` strings, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        let size = capacity.clamp(16, 1 << 20).next_power_of_two();
        Self {
            slots: vec![Str::default(); size],
            hasher: hashbrown::DefaultHashBuilder::default(),
        }
    }

    /// The shared form of `text`.
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
    /// 4,096 strings.
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
