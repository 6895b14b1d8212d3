//! `Config`: limits of the engine in memory, and of the one with a journal below it.

use std::num::NonZeroU64;
use std::time::Duration;

/// Limits of the memory engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest key and value together, in bytes. Default: 1.5 MiB, as etcd.
    pub request_bytes_max: usize,
    /// Bytes of all current keys and values together, roughly as they are in memory. Beyond it
    /// writes that need more room are refused. Default: none, no limit.
    pub data_bytes_max: Option<usize>,
    /// Events kept for watches and reads of the past. Default: 100,000.
    pub history_events_max: usize,
    /// Bytes that those events may keep alive, counting current values too. Default: 256 MiB.
    pub history_bytes_max: usize,
    /// Events older than this are given up at a tick. Default: 10 minutes, the longest that
    /// upstream's compactor with its 5 minutes lets history live.
    pub history_age: Duration,
    /// Revisions between two kept states: the most events that a read of the past has to take
    /// back. More often costs memory, and time when writing. Default: 16,384.
    pub checkpoint_every: NonZeroU64,
    /// Events in one batch of a watch. Default: 1,000, as etcd.
    pub batch_events_max: usize,
    /// Bytes in one batch of a watch, except that one event always fits. Default: 1 MiB.
    pub batch_bytes_max: usize,
    /// Longest life of a lease. Default: 9,000,000,000 s, as etcd.
    pub lease_ttl_max: Duration,
    /// How often watches that want progress get it unasked. Default: 10 minutes, as etcd.
    pub progress_every: Duration,
    /// How often [`MemoryKv::run`](super::MemoryKv::run) ticks, and so how late a lease may end.
    /// Default: 500 ms.
    pub tick_every: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            request_bytes_max: 3 << 19,
            data_bytes_max: None,
            history_events_max: 100_000,
            history_bytes_max: 256 << 20,
            history_age: Duration::from_secs(10 * 60),
            checkpoint_every: const { NonZeroU64::new(16_384).expect("not zero") },
            batch_events_max: 1000,
            batch_bytes_max: 1 << 20,
            lease_ttl_max: Duration::from_secs(2_500_000 * 3600),
            progress_every: Duration::from_secs(10 * 60),
            tick_every: Duration::from_millis(500),
        }
    }
}
