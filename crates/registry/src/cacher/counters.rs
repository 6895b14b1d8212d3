//! What a cache has done since it was made, in numbers that only rise.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a cache has done since it was made. Each number only rises; upstream's metric of the same
/// thing stands with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacherCounts {
    /// Times that it has read everything (`apiserver_watch_cache_initializations_total`).
    pub initializations: u64,
    /// Events that came from the engine (`apiserver_watch_cache_events_received_total`).
    pub events_received: u64,
    /// Events that changed something, and were offered to watchers
    /// (`apiserver_watch_cache_events_dispatched_total`).
    pub events_dispatched: u64,
    /// Times that the ring grew (`watch_cache_capacity_increase_total`).
    pub capacity_increases: u64,
    /// Times that the ring shrank (`watch_cache_capacity_decrease_total`).
    pub capacity_decreases: u64,
    /// Watches that were ended because they did not keep up
    /// (`apiserver_terminated_watchers_total`).
    pub watchers_terminated: u64,
    /// Lists of the most recent state that were answered from it
    /// (`apiserver_watch_cache_consistent_read_total`, without fallback).
    pub consistent_reads: u64,
    /// Such lists that storage answered because it did not get there in time (the same, with
    /// fallback).
    pub consistent_reads_fallen_back: u64,
    /// Comparisons with storage that found the same
    /// (`apiserver_storage_consistency_checks_total`, success).
    pub checks_passed: u64,
    /// Comparisons with storage that found something else (the same, failure).
    pub checks_failed: u64,
    /// Comparisons with storage that could not be made (the same, error).
    pub checks_without_result: u64,
}

/// One number.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, more: usize) {
        // A count of what happened fits into 64 bits.
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The numbers while they rise.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) initializations: Counter,
    pub(super) events_received: Counter,
    pub(super) events_dispatched: Counter,
    pub(super) capacity_increases: Counter,
    pub(super) capacity_decreases: Counter,
    pub(super) watchers_terminated: Counter,
    pub(super) consistent_reads: Counter,
    pub(super) consistent_reads_fallen_back: Counter,
    pub(super) checks_passed: Counter,
    pub(super) checks_failed: Counter,
    pub(super) checks_without_result: Counter,
}

impl Counters {
    pub(super) fn now(&self) -> CacherCounts {
        CacherCounts {
            initializations: self.initializations.get(),
            events_received: self.events_received.get(),
            events_dispatched: self.events_dispatched.get(),
            capacity_increases: self.capacity_increases.get(),
            capacity_decreases: self.capacity_decreases.get(),
            watchers_terminated: self.watchers_terminated.get(),
            consistent_reads: self.consistent_reads.get(),
            consistent_reads_fallen_back: self.consistent_reads_fallen_back.get(),
            checks_passed: self.checks_passed.get(),
            checks_failed: self.checks_failed.get(),
            checks_without_result: self.checks_without_result.get(),
        }
    }
}
