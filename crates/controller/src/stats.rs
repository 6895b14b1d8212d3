//! `Stats`: the figures of a controller. `Monitor`: reads them while it runs.

use crate::Histogram;
use hashbrown::HashMap;
use kubist_apimachinery::{ObjectName, Str};
use kubist_workqueue::{Lane, WorkQueue};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use tokio::time::Instant;

/// The figures of a controller. Names follow controller-runtime's metrics.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Events received from informers, including initial lists.
    pub events: u64,
    /// Panics in mappings and predicates.
    pub mapping_panics: u64,
    /// Reconciles, successful or not.
    pub reconciles: u64,
    /// Failed reconciles, including panics and timeouts.
    pub errors: u64,
    /// Failed reconciles that are not retried until something changes.
    pub terminal_errors: u64,
    /// Reconciles that panicked.
    pub panics: u64,
    /// Reconciles that exceeded their time limit.
    pub timeouts: u64,
    /// Reconciles that were dropped because they did not end after the stop.
    pub abandoned: u64,
    /// Keys requeued after a failure.
    pub retries: u64,
    /// Keys requeued at the reconciler's request.
    pub requeues: u64,
    /// How many times a key waited for its own writes.
    pub own_writes_waits: u64,
    /// How many times a key was reconciled although its own writes were not shown in time.
    pub own_writes_overdue: u64,
    /// Running reconciles.
    pub active: u64,
    /// The time from the first change until the reconcile that handles it starts. Initial lists,
    /// resyncs, retries and requeues do not count.
    pub latency: Histogram,
    /// The duration of reconciles.
    pub duration: Histogram,
    /// The queue.
    pub queue: kubist_workqueue::Stats,
}

/// Reads a controller's figures before, during and after its run. Clones read the same.
#[derive(Clone, Debug)]
pub struct Monitor {
    pub(crate) shared: Arc<Shared>,
}

impl Monitor {
    /// Returns the controller's name.
    pub fn name(&self) -> &Str {
        &self.shared.name
    }

    /// Returns the current figures.
    pub fn stats(&self) -> Stats {
        let mut stats = self.shared.counts.lock().clone();
        // A queue that is not created yet has no figures.
        stats.queue = self
            .shared
            .queue
            .get()
            .map(WorkQueue::stats)
            .unwrap_or_default();
        stats
    }
}

/// The state that event sources, workers and monitors share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) name: Str,
    /// Created when the controller runs, so that its settings can be changed until then.
    queue: OnceLock<WorkQueue<ObjectName>>,
    /// Without the queue's figures.
    pub(crate) counts: Mutex<Stats>,
    /// The time of the first change of each key that no worker has taken since; at most one entry
    /// per waiting key.
    arrivals: Mutex<HashMap<ObjectName, Instant>>,
}

impl Shared {
    pub(crate) fn new(name: Str) -> Self {
        Self {
            name,
            queue: OnceLock::new(),
            counts: Mutex::default(),
            arrivals: Mutex::default(),
        }
    }

    /// Creates the queue with these settings.
    pub(crate) fn open_queue(&self, config: kubist_workqueue::Config<ObjectName>) {
        self.queue.get_or_init(|| WorkQueue::new(config));
    }

    pub(crate) fn queue(&self) -> &WorkQueue<ObjectName> {
        self.queue.get_or_init(WorkQueue::default)
    }

    pub(crate) fn count_event(&self) {
        self.counts.lock().events += 1;
    }

    /// Enqueues a key because of a change.
    pub(crate) fn add(&self, lane: Lane, key: ObjectName) {
        if lane != Lane::Background && !self.queue().is_shut_down() {
            let now = Instant::now();
            self.arrivals.lock().entry(key.clone()).or_insert(now);
        }
        self.queue().add_to(lane, key);
    }

    /// Records that a worker took a key.
    pub(crate) fn begin(&self, key: &ObjectName) -> Instant {
        let now = Instant::now();
        let arrival = self.arrivals.lock().remove(key);
        let mut counts = self.counts.lock();
        counts.reconciles += 1;
        counts.active += 1;
        if let Some(arrival) = arrival {
            counts
                .latency
                .record(now.saturating_duration_since(arrival));
        }
        now
    }
}
