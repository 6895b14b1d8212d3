//! `Config`: how a controller works, apart from what it watches.

use kubist_apimachinery::ObjectName;
use std::fmt;
use std::time::Duration;

/// The settings of a [`Controller`](crate::Controller).
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct Config<Q = ObjectName> {
    /// The maximum number of concurrent reconciles, of different keys. Default: 1, as in
    /// controller-runtime; 0 counts as 1.
    pub workers: usize,
    /// The queue: rate limiter, fairness and dispatch limit. Default: client-go's numbers.
    pub queue: kubist_workqueue::Config<Q>,
    /// How long to wait for the informers' first lists before the controller fails. `None`: no
    /// limit. Default: 2 minutes, as in controller-runtime.
    pub sync_timeout: Option<Duration>,
    /// The time limit of one reconcile, after which its future is dropped and counts as failed.
    /// Default: `None`, no limit.
    pub reconcile_timeout: Option<Duration>,
    /// How long a key waits until the cache shows its own writes, with
    /// [`reads_own_writes`](crate::Controller::reads_own_writes); after that it is reconciled
    /// nevertheless, and [counted](crate::Stats::own_writes_overdue). Default: 10 s. On an idle
    /// kind, or for objects that a selector excludes, the cache advances by bookmarks, which
    /// servers send about once a minute.
    pub own_writes_timeout: Duration,
    /// How long running reconciles may continue after the stop before their futures are dropped.
    /// Default: 30 s, as in controller-runtime.
    pub stop_timeout: Duration,
}

impl<Q: 'static> Default for Config<Q> {
    fn default() -> Self {
        Self {
            workers: 1,
            queue: kubist_workqueue::Config::default(),
            sync_timeout: Some(Duration::from_secs(2 * 60)),
            reconcile_timeout: None,
            own_writes_timeout: Duration::from_secs(10),
            stop_timeout: Duration::from_secs(30),
        }
    }
}

impl<Q> fmt::Debug for Config<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("workers", &self.workers)
            .field("queue", &self.queue)
            .field("sync_timeout", &self.sync_timeout)
            .field("reconcile_timeout", &self.reconcile_timeout)
            .field("own_writes_timeout", &self.own_writes_timeout)
            .field("stop_timeout", &self.stop_timeout)
            .finish()
    }
}
