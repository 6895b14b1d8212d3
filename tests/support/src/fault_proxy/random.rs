//! `Random`: numbers from a seed.

use std::time::Duration;

/// A `SplitMix64` generator with this seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Returns at least a millisecond and at most `most`; zero if that is zero.
    pub(super) fn span(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        match most {
            0 => Duration::ZERO,
            _ => Duration::from_millis(1 + self.below(most)),
        }
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}
