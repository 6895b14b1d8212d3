//! `SimRng`: all random decisions of a run, derived from its seed (splitmix64).
//!
//! Concurrent components have generators of their own, created by [`SimRng::fork`], so that the
//! numbers of one do not depend on when another draws.

use std::time::Duration;

/// A random number generator that a seed repeats.
#[derive(Clone, Debug)]
pub(crate) struct SimRng {
    state: u64,
}

impl SimRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Creates another generator, the same for the same label.
    pub(crate) fn fork(&self, label: &str) -> Self {
        let mut rng = self.clone();
        for byte in label.bytes() {
            rng.state = rng.state.rotate_left(7) ^ u64::from(byte);
            rng.next();
        }
        Self { state: rng.next() }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let number = self.next();
        if bound == 0 { 0 } else { number % bound }
    }

    /// Returns a number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// Returns an index below `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// Returns true with this probability in percent.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// Returns one of these.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// Returns a time between these in whole milliseconds.
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
        let rng = SimRng::new(7);
        let (mut one, mut two) = (rng.fork("one"), rng.fork("two"));
        let mut again = SimRng::new(7).fork("two");
        assert_ne!(one.next(), two.next());
        assert_eq!(two.state, {
            again.next();
            again.state
        });
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut rng = SimRng::new(1);
        for _ in 0..1000 {
            assert!(rng.below(3) < 3);
            assert!((5..=6).contains(&rng.between(5, 6)));
        }
        assert_eq!(rng.below(0), 0);
        assert!(!rng.chance(0) && rng.chance(100));
    }
}
