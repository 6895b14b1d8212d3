//! `EventBroadcasterConfig`: bounds and times of a broadcaster.

use std::time::Duration;

/// The settings of an [`EventBroadcaster`](crate::EventBroadcaster). The defaults are client-go's
/// where it has the same setting.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct EventBroadcasterConfig {
    /// How many events may wait to be looked at; further ones are dropped and counted. Default:
    /// 1,000.
    pub queue_max: usize,
    /// How many writes may wait, for a connection or for another attempt. Default: 1,000.
    pub waiting_writes_max: usize,
    /// How many writes are under way at one time. Default: 8.
    pub concurrent_writes_max: usize,
    /// How many series, and how many objects' token buckets, are remembered; then the oldest are
    /// forgotten. Default: 4,096.
    pub remembered_max: usize,
    /// How many times a write is attempted. Default: 12.
    pub attempts_max: u32,
    /// The pause between attempts; up to a quarter of it is added. A server that requests a longer
    /// one gets it. Default: 10 s.
    pub retry_pause: Duration,
    /// How many writes the events of one object may cause at once. Default: 25.
    pub burst: u32,
    /// After which time an object may cause another write. Default: 5 minutes.
    pub refill: Duration,
    /// How long after its last event a series ends. Default: 6 minutes.
    pub finish_after: Duration,
    /// How often the counts of series are written. Default: 30 minutes.
    pub refresh_every: Duration,
    /// How long to go on after the stop while there are recorders or unwritten events. Default:
    /// 5 s.
    pub drain_timeout: Duration,
    /// The seed of the random shares of pauses, for tests. Default: random.
    pub seed: Option<u64>,
}

impl Default for EventBroadcasterConfig {
    fn default() -> Self {
        Self {
            queue_max: 1_000,
            waiting_writes_max: 1_000,
            concurrent_writes_max: 8,
            remembered_max: 4_096,
            attempts_max: 12,
            retry_pause: Duration::from_secs(10),
            burst: 25,
            refill: Duration::from_secs(300),
            finish_after: Duration::from_secs(6 * 60),
            refresh_every: Duration::from_secs(30 * 60),
            drain_timeout: Duration::from_secs(5),
            seed: None,
        }
    }
}
