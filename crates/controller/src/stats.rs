//! `Stats`: what a controller has done; `Monitor`: reads them while it runs.

use crate::Histogram;
use hashbrown::HashMap;
use kubist_apimachinery::{ObjectName, Str};
use kubist_workqueue::{Lane, WorkQueue};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use tokio::time::Instant;

/// What a controller has done so far. Names follow controller-runtime's metrics.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Changes that informers told, those of the first lists included.
    pub events: u64,
    /// Calls of mappings and predicates that panicked.
    pub mapping_panics: u64,
    /// Runs of the reconciler, whatever came of them.
    pub reconciles: u64,
    /// Runs that failed, panics and timeouts included.
    pub errors: u64,
    /// Runs that failed and are not tried again until something changes.
    pub terminal_errors: u64,
    /// Runs that panicked.
    pub panics: u64,
    /// Runs that took longer than they may.
    pub timeouts: u64,
    /// Runs that were dropped because they did not end after the stop.
    pub abandoned: u64,
    /// Names that were put back after a failure.
    pub retries: u64,
    /// Names that the reconciler asked to see again later.
    pub requeues: u64,
    /// Times that a name waited for its own writes to be seen.
    pub own_writes_waits: u64,
    /// Times that it waited in vain, and was reconciled all the same.
    pub own_writes_overdue: u64,
    /// Runs that are under way.
    pub active: u64,
    /// From the first change that a run answers to the begin of that run. First lists, resyncs,
    /// retries and requeues do not count.
    pub latency: Histogram,
    /// How long runs took.
    pub duration: Histogram,
    /// The queue.
    pub queue: kubist_workqueue::Stats,
}

/// Reads a controller's figures, before, while and after it runs. Clones read the same.
#[derive(Clone, Debug)]
pub struct Monitor {
    pub(crate) shared: Arc<Shared>,
}

impl Monitor {
    /// The controller's name.
    pub fn name(&self) -> &Str {
        &self.shared.name
    }

    /// The figures of this moment.
    pub fn stats(&self) -> Stats {
        let mut stats = self.shared.counts.lock().clone();
        // Nothing has passed through one that is not made yet.
        stats.queue = self
            .shared
            .queue
            .get()
            .map(WorkQueue::stats)
            .unwrap_or_default();
        stats
    }
}

/// What triggers, workers and monitors share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) name: Str,
    /// Made when the controller runs, so that its settings can be changed until then.
    queue: OnceLock<WorkQueue<ObjectName>>,
    /// Without the queue's figures.
    pub(crate) counts: Mutex<Stats>,
    /// When the first change came of each name that a worker has not taken since: no more entries
    /// than names that wait.
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

    /// The controller runs with these settings.
    pub(crate) fn open_queue(&self, config: kubist_workqueue::Config<ObjectName>) {
        self.queue.get_or_init(|| WorkQueue::new(config));
    }

    pub(crate) fn queue(&self) -> &WorkQueue<ObjectName> {
        self.queue.get_or_init(WorkQueue::default)
    }

    pub(crate) fn count_event(&self) {
        self.counts.lock().events += 1;
    }

    /// A change concerns this name.
    pub(crate) fn add(&self, lane: Lane, key: ObjectName) {
        if lane != Lane::Background && !self.queue().is_shut_down() {
            let now = Instant::now();
            self.arrivals.lock().entry(key.clone()).or_insert(now);
        }
        self.queue().add_to(lane, key);
    }

    /// A worker has this name.
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
