//! `Chance`: random numbers for audit ids, token ids and timeouts.
//!
//! Not for secrets. With a seed, they can be repeated.

use kubist_registry::Random;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A source of random numbers.
#[derive(Debug, Default)]
pub(crate) struct Chance {
    seeded: Option<Random>,
}

impl Chance {
    /// Without a seed, nothing can be repeated.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self {
            seeded: seed.map(Random::new),
        }
    }

    /// A random number.
    pub(crate) fn number(&self) -> u64 {
        // The standard library seeds each state differently.
        let other = || RandomState::new().build_hasher().finish();
        self.seeded.as_ref().map_or_else(other, Random::next)
    }

    /// A random (version 4) UUID.
    pub(crate) fn uid(&self) -> String {
        kubist_registry::uuid_v4(self.number(), self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_are_uuids_and_differ() {
        let chance = Chance::default();
        let uid = chance.uid();
        assert_eq!((uid.len(), &uid[14..15]), (36, "4"));
        assert_ne!(uid, chance.uid());
    }

    #[test]
    fn a_seed_repeats_them() {
        let (one, two) = (Chance::new(Some(7)), Chance::new(Some(7)));
        assert_eq!([one.number(), one.number()], [two.number(), two.number()]);
        assert_ne!(one.number(), Chance::new(Some(8)).number());
    }
}
