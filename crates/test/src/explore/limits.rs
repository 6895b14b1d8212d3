//! `Limits`: how long an exploration waits for what should happen.

use std::time::Duration;

/// The bounds of one world, so that nothing hangs. Times are virtual unless they say real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests fill it in")]
pub struct Limits {
    /// How long nothing may be written until a world counts as settled. It should be longer than
    /// the pauses of retries. Default: 2 minutes.
    pub quiet: Duration,
    /// How long a world may take to settle after its last fault and its last step. Default: 1 hour.
    pub settle: Duration,
    /// Writes, besides leases and events, that a run may make after its last fault and its last
    /// step. Default: 100, and 10 times as many as the run without faults makes.
    pub writes: Option<u64>,
    /// Requests of one world, and the number of them without time passing that counts as a loop.
    /// Default: 20,000.
    pub requests: u64,
    /// How long a controller may take to return after its token is cancelled. Default: 2 minutes.
    pub stop: Duration,
    /// How often a controller may end by itself before it counts as broken; it is started again as
    /// by a kubelet. Default: 20.
    pub restarts: u32,
    /// Real time without any request or step of a world, after which it counts as blocked. Default:
    /// 10 s.
    pub blocked: Duration,
    /// Real time of one world. Default: 2 minutes.
    pub world: Duration,
    /// Worlds run to make a failure smaller. Default: 300.
    pub shrink: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(2 * 60),
            settle: Duration::from_secs(60 * 60),
            writes: None,
            requests: 20_000,
            stop: Duration::from_secs(2 * 60),
            restarts: 20,
            blocked: Duration::from_secs(10),
            world: Duration::from_secs(2 * 60),
            shrink: 300,
        }
    }
}
