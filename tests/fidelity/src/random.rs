//! `Random`: numbers from a seed, the same on every machine.

/// `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Adjacent seeds start far from each other.
        Self(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    /// Returns true with this percentage.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of several.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_makes_the_same_numbers_each_time_and_another_seed_others() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            let numbers: Vec<usize> = (0..20).map(|_| random.below(1_000)).collect();
            numbers
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert!(numbers(7).iter().all(|number| *number < 1_000));
    }

    #[test]
    fn all_of_several_are_picked_at_some_time() {
        let mut random = Random::new(1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            let picked: usize = *random.pick(&[0, 1, 2, 3, 4]);
            seen[picked] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert!(!random.percent(0));
        assert!(random.percent(100));
    }
}
