//! `Stats`: the figures of a controller. `Monitor`: reads them while it runs.

use crate::hot_keys::{HotKeys, RECONCILES_MAX, WINDOW};
use crate::{Histogram, Key};
use hashbrown::{HashMap, HashSet};
use kubist_apimachinery::Str;
use kubist_workqueue::{Lane, WorkQueue};
use parking_lot::Mutex;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;
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
#[derive(Clone)]
pub struct Monitor {
    pub(crate) watched: Arc<dyn Watched>,
}

impl Monitor {
    /// Returns the controller's name.
    pub fn name(&self) -> &Str {
        self.watched.name()
    }

    /// Returns the current figures.
    pub fn stats(&self) -> Stats {
        self.watched.stats()
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Monitor").field(self.name()).finish()
    }
}

/// What a monitor reads, whatever the controller's keys are.
pub(crate) trait Watched: Send + Sync {
    fn name(&self) -> &Str;
    fn stats(&self) -> Stats;
}

impl<Q: Key> Watched for Shared<Q> {
    fn name(&self) -> &Str {
        &self.name
    }

    fn stats(&self) -> Stats {
        let mut stats = self.counts.lock().clone();
        // A queue that is not created yet has no figures.
        let queue = self.queue.get().map(WorkQueue::stats);
        stats.queue = queue.unwrap_or_default();
        stats
    }
}

/// The state that event sources, workers and monitors share.
pub(crate) struct Shared<Q> {
    pub(crate) name: Str,
    /// Created when the controller runs, so that its settings can be changed until then.
    queue: OnceLock<WorkQueue<Q>>,
    /// Without the queue's figures.
    pub(crate) counts: Mutex<Stats>,
    /// The time of the first change of each key that no worker has taken since; at most one entry
    /// per waiting key.
    arrivals: Mutex<HashMap<Q, Instant>>,
    /// The keys that were enqueued before there was a queue.
    early: Mutex<HashSet<Q>>,
    hot: Mutex<HotKeys<Q>>,
    /// It was told that reconciles block.
    pub(crate) told_blocked: AtomicBool,
    paused: watch::Sender<bool>,
}

impl<Q: Key> Shared<Q> {
    pub(crate) fn new(name: Str) -> Self {
        Self {
            name,
            queue: OnceLock::new(),
            counts: Mutex::default(),
            arrivals: Mutex::default(),
            early: Mutex::default(),
            hot: Mutex::default(),
            told_blocked: AtomicBool::new(false),
            paused: watch::Sender::new(false),
        }
    }

    /// Creates the queue with these settings.
    pub(crate) fn open_queue(&self, config: kubist_workqueue::Config<Q>) {
        self.queue.get_or_init(|| WorkQueue::new(config));
        for key in std::mem::take(&mut *self.early.lock()) {
            self.add(Lane::Normal, key);
        }
    }

    /// Enqueues a key, now or when the queue is created.
    pub(crate) fn enqueue(&self, lane: Lane, key: Q) {
        let mut early = self.early.lock();
        if self.queue.get().is_none() {
            early.insert(key);
            return;
        }
        drop(early);
        self.add(lane, key);
    }

    pub(crate) fn enqueue_after(&self, key: Q, wait: Duration) {
        match self.queue.get() {
            Some(queue) => queue.add_after(key, wait),
            None => self.enqueue(Lane::Normal, key),
        }
    }

    pub(crate) fn set_paused(&self, paused: bool) {
        self.paused.send_replace(paused);
    }

    pub(crate) fn is_paused(&self) -> bool {
        *self.paused.borrow()
    }

    /// Waits until the controller is not paused.
    pub(crate) async fn resumed(&self) {
        let mut paused = self.paused.subscribe();
        // The sender is a part of this.
        drop(paused.wait_for(|it| !it).await);
    }

    pub(crate) fn queue(&self) -> &WorkQueue<Q> {
        self.queue.get_or_init(WorkQueue::default)
    }

    pub(crate) fn count_event(&self) {
        self.counts.lock().events += 1;
    }

    /// Enqueues a key because of a change.
    pub(crate) fn add(&self, lane: Lane, key: Q) {
        if lane != Lane::Background && !self.queue().is_shut_down() {
            let now = Instant::now();
            self.arrivals.lock().entry(key.clone()).or_insert(now);
        }
        self.queue().add_to(lane, key);
    }

    /// Tells about a key that seems to wake itself.
    fn note_rate(&self, key: &Q, now: Instant) {
        if self.hot.lock().count(key, now) {
            tracing::warn!(
                controller = %self.name, %key,
                "reconciled {RECONCILES_MAX} times within {WINDOW:?}, each time because of a \
                 change: a reconciler that writes at each call, for instance a time into the \
                 status, wakes itself; write only what differs"
            );
        }
    }

    /// Records that a worker took a key. Returns the time, and how long ago the first change came
    /// that it is for, if a change it is.
    pub(crate) fn begin(&self, key: &Q) -> (Instant, Option<Duration>) {
        let now = Instant::now();
        let arrival = self.arrivals.lock().remove(key);
        let mut counts = self.counts.lock();
        counts.reconciles += 1;
        counts.active += 1;
        let queued = arrival.map(|it| now.saturating_duration_since(it));
        if let Some(queued) = queued {
            counts.latency.record(queued);
            drop(counts);
            self.note_rate(key, now);
        }
        (now, queued)
    }
}
