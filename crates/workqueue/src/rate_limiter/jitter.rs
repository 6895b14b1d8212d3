//! Random jitter, which spreads the retries of items that failed together.
//!
//! The delay is never shorter than that of the inner limiter. The numbers depend on the seed only,
//! so a run can be repeated.

use super::RateLimiter;
use std::time::Duration;

/// The delay of `inner`, plus a random part of up to `fraction` of it.
#[derive(Debug, Clone)]
pub struct Jitter<L> {
    inner: L,
    fraction: f64,
    state: u64,
}

impl<L> Jitter<L> {
    /// A `fraction` of 0.1 adds up to a tenth; negative values and NaN count as 0.
    pub fn new(inner: L, fraction: f64, seed: u64) -> Self {
        Self {
            inner,
            fraction: fraction.max(0.0),
            state: seed,
        }
    }

    /// Returns a random number from 0 up to but not including 1.
    fn draw(&mut self) -> f64 {
        // SplitMix64 (Steele, Lea and Flood, 2014): sufficient for jitter, with one word of state.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let [a, b, c, d, ..] = (mixed ^ (mixed >> 31)).to_be_bytes();
        f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
    }
}

impl<T: ?Sized, L: RateLimiter<T>> RateLimiter<T> for Jitter<L> {
    fn delay(&mut self, item: &T, failures: u32, now: Duration) -> Duration {
        let wait = self.inner.delay(item, failures, now);
        let extra = wait.as_secs_f64() * self.fraction * self.draw();
        wait.saturating_add(Duration::try_from_secs_f64(extra).unwrap_or(Duration::MAX))
    }

    fn forget(&mut self, item: &T) {
        self.inner.forget(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limiter::Exponential;

    fn waits(fraction: f64, seed: u64) -> Vec<Duration> {
        let mut limiter = Jitter::new(Exponential::default(), fraction, seed);
        (0..1000)
            .map(|_| limiter.delay("a", 8, Duration::ZERO))
            .collect()
    }

    #[test]
    fn waits_spread_over_the_fraction_and_are_never_shorter() {
        let plain = Duration::from_millis(640);
        let waits = waits(0.5, 7);
        assert!(
            waits
                .iter()
                .all(|wait| (plain..plain * 3 / 2).contains(wait))
        );
        assert!(waits.iter().any(|wait| *wait < plain * 11 / 10));
        assert!(waits.iter().any(|wait| *wait > plain * 14 / 10));
    }

    #[test]
    fn the_same_seed_gives_the_same_waits() {
        assert_eq!(waits(0.5, 1), waits(0.5, 1));
        assert_ne!(waits(0.5, 1), waits(0.5, 2));
    }

    #[test]
    fn a_fraction_that_makes_no_sense_changes_nothing() {
        assert!(
            waits(-1.0, 1)
                .iter()
                .all(|wait| *wait == Duration::from_millis(640))
        );
        assert!(
            waits(f64::NAN, 1)
                .iter()
                .all(|wait| *wait == Duration::from_millis(640))
        );
        assert!(
            waits(f64::INFINITY, 1)
                .iter()
                .all(|wait| *wait >= Duration::from_millis(640))
        );
    }
}
