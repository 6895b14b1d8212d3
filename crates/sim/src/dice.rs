//! `Dice`: everything that a seed decides, one number after the other (splitmix64).
//!
//! Parts of a run that go on at the same time each have dice of their own, made by
//! [`Dice::fork`], so that one part's luck does not depend on when another rolls.

use std::time::Duration;

/// A source of numbers that a seed repeats.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Other dice, the same for the same label.
    pub(crate) fn fork(&self, label: &str) -> Self {
        let mut dice = self.clone();
        for byte in label.bytes() {
            dice.state = dice.state.rotate_left(7) ^ u64::from(byte);
            dice.next();
        }
        Self { state: dice.next() }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let number = self.next();
        if bound == 0 { 0 } else { number % bound }
    }

    /// A number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// An index below `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// True so many times of a hundred.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// A time between these, in whole milliseconds.
    pub(crate) fn time(&mut self, least: Duration, most: Duration) -> Duration {
        Duration::from_millis(self.between(millis(least), millis(most)))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_depends_on_its_label_and_not_on_other_forks() {
        let dice = Dice::new(7);
        let (mut one, mut two) = (dice.fork("one"), dice.fork("two"));
        let mut again = Dice::new(7).fork("two");
        assert_ne!(one.next(), two.next());
        assert_eq!(two.state, {
            again.next();
            again.state
        });
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut dice = Dice::new(1);
        for _ in 0..1000 {
            assert!(dice.below(3) < 3);
            assert!((5..=6).contains(&dice.between(5, 6)));
        }
        assert_eq!(dice.below(0), 0);
        assert!(!dice.chance(0) && dice.chance(100));
    }
}
