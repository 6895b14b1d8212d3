//! `Random`: every random number of an exploration, from its seed (splitmix64).
//!
//! What runs side by side has generators of its own ([`Random::of`]), so that the numbers of one do
//! not depend on when another draws.

use std::time::Duration;

/// A generator that a seed repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns another generator, the same for the same label and numbers.
    pub(crate) fn of(&self, label: &str, numbers: &[u64]) -> Self {
        let mut other = self.clone();
        let bytes = label.bytes().map(u64::from);
        for part in bytes.chain(numbers.iter().copied()) {
            other.0 = other.0.rotate_left(9) ^ part;
            other.next();
        }
        Self(other.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let number = self.next();
        number.checked_rem(bound).unwrap_or(0)
    }

    /// Returns a number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// Returns true with this probability in percent.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of these; the default if there are none.
    pub(crate) fn pick<T: Copy + Default>(&mut self, of: &[T]) -> T {
        let index = usize::try_from(self.below(of.len() as u64)).unwrap_or(0);
        of.get(index).copied().unwrap_or_default()
    }

    /// Returns a time between these, in whole milliseconds.
    pub(crate) fn time(&mut self, least: Duration, most: Duration) -> Duration {
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.between(millis(least), millis(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_depend_on_their_labels_and_numbers_only() {
        let random = Random::new(7);
        assert_eq!(random.of("a", &[1]), Random::new(7).of("a", &[1]));
        assert_ne!(random.of("a", &[1]), random.of("a", &[2]));
        assert_ne!(random.of("a", &[1]), random.of("b", &[1]));
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            assert!(random.below(3) < 3);
            assert!((5..=6).contains(&random.between(5, 6)));
        }
        assert_eq!(random.below(0), 0);
        assert!(!random.chance(0) && random.chance(100));
        assert_eq!(random.pick::<u8>(&[]), 0);
    }
}
