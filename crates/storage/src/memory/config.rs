//! `Config`: limits of the in-memory engine, with or without a journal.

use std::num::NonZeroU64;
use std::time::Duration;

/// Limits of the memory engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Maximum bytes of a key and its value. Default: 1.5 MiB, as etcd.
    pub request_bytes_max: usize,
    /// Maximum bytes of all current keys and values, approximately as in memory. At the limit,
    /// writes that need more space are refused. Default: no limit.
    pub data_bytes_max: Option<usize>,
    /// Number of events kept for watches and reads of the past. Default: 100,000.
    pub history_events_max: usize,
    /// Bytes that these events may keep in memory, including current values. Default: 256 MiB.
    pub history_bytes_max: usize,
    /// Events older than this are discarded, some thousands at each tick. Default: 5 minutes, what
    /// upstream's compactor leaves at least.
    pub history_age: Duration,
    /// Revisions between retained trees: the maximum number of events that a read of the past has
    /// to undo. A smaller interval costs memory and write time. Default: 16,384.
    pub checkpoint_every: NonZeroU64,
    /// Maximum events in a batch of a watch. Default: 1,000, as etcd.
    pub batch_events_max: usize,
    /// Maximum bytes in a batch of a watch; a single event always fits. Default: 1 MiB.
    pub batch_bytes_max: usize,
    /// Maximum lifetime of a lease. Default: 9,000,000,000 s, as etcd.
    pub lease_ttl_max: Duration,
    /// Interval of periodic progress notifications. Default: 10 minutes, as etcd.
    pub progress_every: Duration,
    /// Tick interval of [`MemoryKv::run`](super::MemoryKv::run), which bounds the delay of lease
    /// expiry. Default: 500 ms.
    pub tick_every: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            request_bytes_max: 3 << 19,
            data_bytes_max: None,
            history_events_max: 100_000,
            history_bytes_max: 256 << 20,
            history_age: Duration::from_secs(5 * 60),
            checkpoint_every: const { NonZeroU64::new(16_384).expect("not zero") },
            batch_events_max: 1000,
            batch_bytes_max: 1 << 20,
            lease_ttl_max: Duration::from_secs(2_500_000 * 3600),
            progress_every: Duration::from_secs(10 * 60),
            tick_every: Duration::from_millis(500),
        }
    }
}
