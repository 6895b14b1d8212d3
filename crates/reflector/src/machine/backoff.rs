//! Growing pauses, and the jitter that keeps clients from retrying at the same time.

use std::time::Duration;

/// How pauses grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct Backoff {
    /// The first pause, without jitter. Default 800 ms.
    pub min: Duration,
    /// The maximum pause without jitter. Default 30 s.
    pub max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            min: Duration::from_millis(800),
            max: Duration::from_secs(30),
        }
    }
}

impl Backoff {
    /// Returns the pause after this many failures: `min * 2^failures` up to `max`, plus jitter of
    /// up to as much again.
    pub(super) fn delay(&self, failures: u32, jitter: &mut Jitter) -> Duration {
        let grown = self
            .min
            .saturating_mul(2u32.saturating_pow(failures.min(30)));
        let delay = grown.min(self.max);
        delay.saturating_add(jitter.below(delay))
    }
}

/// A small random number generator that need not be unpredictable (splitmix64).
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    state: u64,
}

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random time below `limit` in whole milliseconds.
    pub(super) fn below(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let number = self.next();
        Duration::from_millis(if limit == 0 { 0 } else { number % limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract REFL-4.
    #[test]
    fn pauses_double_to_the_limit_with_up_to_as_much_jitter() {
        let (backoff, mut jitter) = (Backoff::default(), Jitter::new(7));
        for (failures, least) in [
            (0, 800),
            (1, 1600),
            (5, 25_600),
            (6, 30_000),
            (u32::MAX, 30_000),
        ] {
            let least = Duration::from_millis(least);
            for _ in 0..100 {
                let delay = backoff.delay(failures, &mut jitter);
                assert!(delay >= least && delay < least * 2, "{failures}: {delay:?}");
            }
        }
    }
}
