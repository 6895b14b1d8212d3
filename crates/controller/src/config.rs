//! `Config`: how a controller works, beyond what it watches.

use kubist_apimachinery::ObjectName;
use std::time::Duration;

/// The settings of a [`Controller`](crate::Controller).
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct Config {
    /// Reconciles that run at the same time, of different names. Default: 1, as in
    /// controller-runtime; 0 counts as 1.
    pub workers: usize,
    /// The queue: rate limiter, fairness, limit on hand-outs. Default: client-go's numbers.
    pub queue: kubist_workqueue::Config<ObjectName>,
    /// How long to wait for the informers' first lists; then the controller gives up. `None`:
    /// for ever. Default: 2 minutes, as in controller-runtime.
    pub sync_timeout: Option<Duration>,
    /// How long one reconcile may take; then its future is dropped, which counts as a failure.
    /// `None`: for ever, which is the default.
    pub reconcile_timeout: Option<Duration>,
    /// How long a name waits for its own writes to be seen, if
    /// [`reads_own_writes`](crate::Controller::reads_own_writes) was asked for; then it is
    /// reconciled all the same, and [counted](crate::Stats::own_writes_overdue). Default: 10 s. On
    /// an idle kind, or for objects that a selector keeps out, what is waited for is a bookmark,
    /// which servers send about once a minute.
    pub own_writes_timeout: Duration,
    /// How long running reconciles may go on after the stop; then their futures are dropped.
    /// Default: 30 s, as in controller-runtime.
    pub stop_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workers: 1,
            queue: kubist_workqueue::Config::default(),
            sync_timeout: Some(Duration::from_mins(2)),
            reconcile_timeout: None,
            own_writes_timeout: Duration::from_secs(10),
            stop_timeout: Duration::from_secs(30),
        }
    }
}
