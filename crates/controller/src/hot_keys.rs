//! `HotKeys`: notices keys that wake themselves.
//!
//! A reconciler that writes at each call, for instance a time into the status, causes the change
//! that calls it again, for ever. Nothing fails then; only the rate shows it.

use hashbrown::HashMap;
use std::hash::Hash;
use std::time::Duration;
use tokio::time::Instant;

/// The time over which reconciles are counted.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);
/// As many reconciles of one key in that time, each because of a change, are too many.
pub(crate) const RECONCILES_MAX: u32 = 500;
/// How often it is told.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// The most keys that are counted at a time.
const KEYS_MAX: usize = 4_096;

/// Counts reconciles that changes have caused, by key.
#[derive(Debug)]
pub(crate) struct HotKeys<Q> {
    counts: HashMap<Q, u32>,
    began: Option<Instant>,
    told: Option<Instant>,
}

impl<Q> Default for HotKeys<Q> {
    fn default() -> Self {
        Self {
            counts: HashMap::new(),
            began: None,
            told: None,
        }
    }
}

impl<Q: Clone + Eq + Hash> HotKeys<Q> {
    /// Counts a reconcile, and reports whether its key is to be told about.
    pub(crate) fn count(&mut self, key: &Q, now: Instant) -> bool {
        if self.began.is_none_or(|it| now.duration_since(it) >= WINDOW) {
            self.counts.clear();
            self.began = Some(now);
        }
        if self.counts.len() >= KEYS_MAX && !self.counts.contains_key(key) {
            return false;
        }
        let count = self.counts.entry_ref(key).or_default();
        *count += 1;
        let is_due = self
            .told
            .is_none_or(|it| now.duration_since(it) >= TOLD_EVERY);
        let is_hot = *count >= RECONCILES_MAX && is_due;
        if is_hot {
            self.told = Some(now);
        }
        is_hot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_told_about_once_a_minute_and_only_if_it_is_fast() {
        let mut keys = HotKeys::default();
        let start = Instant::now();
        let mut told = Vec::new();
        for millis in 0..150_000_u64 {
            let now = start + Duration::from_millis(millis);
            if millis % 10 == 0 && keys.count(&"fast", now) {
                told.push(millis / 1_000);
            }
            // 40 a second.
            if millis % 25 == 0 {
                assert!(!keys.count(&"slow", now));
            }
        }
        assert_eq!(told, [4, 64, 124]);
    }

    #[test]
    fn no_more_keys_are_counted_than_the_limit() {
        let mut keys = HotKeys::default();
        let now = Instant::now();
        for key in 0..2 * KEYS_MAX {
            keys.count(&key, now);
        }
        assert_eq!(keys.counts.len(), KEYS_MAX);
    }
}
