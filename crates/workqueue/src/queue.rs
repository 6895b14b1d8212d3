//! The queue that controllers share: keys go in, workers take them out one at a time.
//!
//! Promises: an item is with one worker at a time; an item added while it is worked on runs once
//! more afterwards; nothing is lost when a worker panics or its future is dropped. Any number of
//! tasks may add and take, on any number of threads.
//!
//! It is not persistent, does not spawn, and decides nothing: the algorithm is in `core.rs`, the
//! sleeping workers are in `sleepers.rs`, what was left in passing is in `intake.rs`. Here are the
//! lock, the clock and the wakers.

mod drained;
#[cfg(all(test, shuttle))]
mod interleavings;
mod next;
#[cfg(all(test, not(shuttle)))]
mod tests;
mod work;

use self::drained::{Drained, Drainers};
use self::next::Next;
pub use self::work::Work;
use crate::config::Config;
use crate::core::{Core, Outcome};
use crate::intake::{Entry, Intake};
use crate::lanes::Lane;
use crate::metrics::{MetricsSink, Stats};
use crate::sleepers::Sleepers;
use crate::slot_id::SlotId;
use crate::sync::{Instant, Mutex, MutexGuard};
use hashbrown::DefaultHashBuilder;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// A de-duplicating, delaying, rate-limited queue of items to be worked on.
///
/// Clones are cheap and are the same queue. Items should be cheap to clone (a number, an `Arc`, an
/// interned string): the queue keeps one copy and the worker gets another.
///
/// ```
/// use std::time::Duration;
/// use kubist_workqueue::WorkQueue;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = WorkQueue::default();
/// queue.add("web");
/// queue.add_after("db", Duration::from_millis(1));
///
/// while let Some(work) = queue.next().await {
///     match *work {
///         "db" if work.attempt() == 1 => work.fail(), // once more, after 5 ms
///         "db" => {
///             work.succeed();
///             queue.shut_down();
///         }
///         _ => work.requeue_after(Duration::from_secs(600)),
///     }
/// }
/// # }
/// ```
pub struct WorkQueue<T> {
    shared: Arc<Shared<T>>,
}

impl<T: Eq + Hash + Clone> WorkQueue<T> {
    /// An empty, open queue. Must be called where tokio's clock can be read, which outside of
    /// tests with a paused clock is everywhere.
    pub fn new(config: Config<T>) -> Self {
        let metrics = config.metrics.clone();
        let mut state = State {
            core: Core::new(config),
            sleepers: Sleepers::default(),
            drainers: Drainers::default(),
            intake_open: false,
            entries: Vec::new(),
            bring_in: Core::bring_in,
            streak: 0,
        };
        let intake = Intake::new();
        state.settle_intake(&intake, Duration::ZERO);
        let shared = Shared {
            state: Mutex::new(state),
            intake,
            hasher: DefaultHashBuilder::default(),
            start: Instant::now(),
            metrics,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The item is to be run, in [`Lane::Normal`]. Nothing happens if it waits for a worker
    /// already, or if the queue is shut down. An item that is only delayed runs now, and again
    /// when its delay is over.
    pub fn add(&self, item: T) {
        self.add_to(Lane::Normal, item);
    }

    /// The item is to be run; one that waits in a lower lane moves up to this one.
    pub fn add_to(&self, lane: Lane, item: T) {
        let hash = self.shared.hasher.hash_one(&item);
        let entry = Entry::Added { hash, item, lane };
        if let Err(Entry::Added { hash, item, lane }) = self.shared.intake.leave(entry) {
            self.shared
                .change(false, |core, now| core.add(now, hash, item, lane));
        }
    }

    /// The item is to be run after `wait`, in [`Lane::Normal`]. If it is delayed already, the
    /// earlier time stands.
    pub fn add_after(&self, item: T, wait: Duration) {
        self.add_after_to(Lane::Normal, item, wait);
    }

    /// The item is to be run after `wait`, in this lane or the higher one of an earlier request.
    pub fn add_after_to(&self, lane: Lane, item: T, wait: Duration) {
        let hash = self.shared.hasher.hash_one(&item);
        self.shared.change(true, |core, now| {
            core.add_after(now, hash, item, lane, wait);
        });
    }

    /// The item failed where no [`Work`] was at hand: it counts as a failure, and the item is to
    /// be run when the rate limiter says.
    pub fn add_rate_limited(&self, item: T) {
        let hash = self.shared.hasher.hash_one(&item);
        let lane = Lane::Normal;
        self.shared.change(true, |core, now| {
            core.add_rate_limited(now, hash, item, lane);
        });
    }

    /// The next item, as soon as there is one; `None` once the queue is shut down and nothing is
    /// left to be done.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready takes no item and wakes another worker if this one
    /// had been woken for something.
    pub async fn next(&self) -> Option<Work<T>> {
        Next::new(&self.shared).await
    }

    /// Forgets the failures of an item; what is scheduled for it stays.
    pub fn forget(&self, item: &T) {
        let hash = self.shared.hasher.hash_one(item);
        self.shared.change(false, |core, _| core.forget(hash, item));
    }

    /// How often the item has failed since it last succeeded; 0 for one that neither waits nor
    /// runs.
    pub fn failures(&self, item: &T) -> u32 {
        let hash = self.shared.hasher.hash_one(item);
        self.shared
            .change(false, |core, _| core.failures(hash, item))
    }
}

impl<T> WorkQueue<T> {
    /// How many items wait for a worker; neither those that are delayed nor those that workers
    /// have.
    pub fn len(&self) -> usize {
        self.shared.change(false, Core::len)
    }

    /// Whether no item waits for a worker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The gauges and totals of this moment.
    pub fn stats(&self) -> Stats {
        self.shared.change(false, Core::stats)
    }

    /// Closes the queue. What is added from now on is ignored, what is delayed is dropped, what
    /// waits for a worker is still handed out, and then [`WorkQueue::next`] gives `None`. A run
    /// that fails is not repeated. Ends a [`WorkQueue::shut_down_with_drain`] that is under way.
    pub fn shut_down(&self) {
        self.shared
            .change(false, |core, now| core.shut_down(now, false));
    }

    /// Closes the queue as [`WorkQueue::shut_down`] does, and returns when everything that was
    /// queued has been handed out and finished, also what was added again while it ran. Workers
    /// must go on calling [`WorkQueue::next`] until it gives `None`, and none may hold one item
    /// while it waits for another.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the waiting; the queue stays closed and goes on draining.
    pub async fn shut_down_with_drain(&self) {
        self.shared
            .change(false, |core, now| core.shut_down(now, true));
        Drained::new(&self.shared).await;
    }

    /// Whether the queue is closed, drained or not.
    pub fn is_shut_down(&self) -> bool {
        !self.shared.state.lock().core.is_open()
    }
}

impl<T: Eq + Hash + Clone + 'static> Default for WorkQueue<T> {
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl<T> Clone for WorkQueue<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> fmt::Debug for WorkQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue")
            .field("stats", &self.stats())
            .finish()
    }
}

pub(crate) struct Shared<T> {
    /// Protects all that decides. Held for the time of one operation, never across an await, and
    /// nobody is woken under it.
    state: Mutex<State<T>>,
    /// What the next operation brings in first. Locked after `state` or without it.
    intake: Intake<T>,
    hasher: DefaultHashBuilder,
    start: Instant,
    metrics: Option<Arc<dyn MetricsSink>>,
}

struct State<T> {
    core: Core<T>,
    sleepers: Sleepers,
    drainers: Drainers,
    intake_open: bool,
    /// Empty between operations; kept for its memory.
    entries: Vec<Entry<T>>,
    /// Here as a pointer, so that a queue can be closed and looked at without the bounds on items.
    bring_in: fn(&mut Core<T>, Duration, &mut Vec<Entry<T>>),
    /// How many items were taken since a worker last went to sleep.
    streak: u32,
}

impl<T> Shared<T> {
    pub(crate) fn finish(&self, slot: SlotId, outcome: Outcome) {
        if outcome == Outcome::Succeeded && self.intake.leave(Entry::Succeeded(slot)).is_ok() {
            return;
        }
        let timed = outcome != Outcome::Succeeded;
        self.change(timed, |core, now| core.finish(now, slot, outcome));
    }

    /// One operation on the core, and whatever follows from it. The clock is read only if the
    /// operation is `timed` or the core asks for it: reading it costs as much as the rest.
    fn change<R>(&self, timed: bool, operate: impl FnOnce(&mut Core<T>, Duration) -> R) -> R {
        let (mut state, now) = self.enter(timed);
        let result = operate(&mut state.core, now);
        self.release(state, now);
        result
    }

    /// The lock, the time, and everything brought in that was left for this operation.
    fn enter(&self, timed: bool) -> (MutexGuard<'_, State<T>>, Duration) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let now = if timed || state.core.reads_clock() {
            self.start.elapsed()
        } else {
            Duration::ZERO
        };
        if state.intake_open {
            self.intake.collect(&mut state.entries);
            (state.bring_in)(&mut state.core, now, &mut state.entries);
        }
        (guard, now)
    }

    /// Gives the lock back, then wakes and reports.
    fn release(&self, mut state: MutexGuard<'_, State<T>>, now: Duration) {
        state.settle_intake(&self.intake, now);
        let waker = state.whom_to_wake();
        if state.core.is_quiet() {
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        } else {
            self.release_and_tell(state, waker);
        }
    }

    fn release_and_tell(&self, mut state: MutexGuard<'_, State<T>>, waker: Option<Waker>) {
        let report = state.core.take_report();
        let mut wakers: Vec<_> = waker.into_iter().collect();
        if state.core.is_closed() {
            wakers.extend(state.sleepers.call_all());
        }
        if state.core.is_drained() {
            wakers.extend(state.drainers.call_all());
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        if let Some(sink) = &self.metrics {
            report.record(&**sink);
        }
    }
}

impl<T> State<T> {
    /// Opens or closes the intake. It is open while what is left there needs nobody's attention:
    /// all workers are awake and will come by, nothing is measured, and the queue is not closed.
    fn settle_intake(&mut self, intake: &Intake<T>, now: Duration) {
        let open = self.core.is_quiet() && !self.sleepers.any_asleep();
        if open == self.intake_open {
            return;
        }
        self.intake_open = open;
        if open {
            intake.open();
        } else {
            intake.close(&mut self.entries);
            (self.bring_in)(&mut self.core, now, &mut self.entries);
        }
    }

    /// The one worker that has to wake up now, if any. One is enough: when it has come and taken
    /// its item it asks this again.
    fn whom_to_wake(&mut self) -> Option<Waker> {
        if self.sleepers.called() < self.core.runnable()
            && let Some(waker) = self.sleepers.call()
        {
            return Some(waker);
        }
        self.core
            .deadline()
            .and_then(|deadline| self.sleepers.call_for(deadline))
    }
}
