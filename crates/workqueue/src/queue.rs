//! The queue that controllers share: producers add keys, and workers take them one at a time.
//!
//! An item is processed by one worker at a time, an item that is added while it runs runs once
//! more, and nothing is lost when a worker panics or its future is dropped. Any number of tasks may
//! add and take, on any number of threads.
//!
//! The queue is not persistent and spawns nothing. It makes no decisions: the algorithm is in
//! `core.rs`, the waiting workers are in `waiters.rs`, and unprocessed additions are in
//! `intake.rs`. This file has the lock, the clock and the wake-ups.

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
use crate::slot_id::SlotId;
use crate::sync::{Instant, Mutex, MutexGuard, lock_after_others};
use crate::waiters::Waiters;
use hashbrown::DefaultHashBuilder;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::Deref;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// A de-duplicating, delaying, rate-limited queue of items.
///
/// Clones are cheap and refer to the same queue. Items should be cheap to clone (a number, an
/// `Arc`, an interned string): the queue keeps one copy and the worker gets another.
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
    /// Creates an empty, open queue. With a paused clock it must be called inside the runtime.
    pub fn new(config: Config<T>) -> Self {
        let metrics = config.metrics.clone();
        let mut state = State {
            core: Core::new(config),
            waiters: Waiters::default(),
            drainers: Drainers::default(),
            intake_open: false,
            entries: Vec::new(),
            bring_in: Core::bring_in,
            streak: 0,
        };
        let intake = Intake::new();
        state.settle_intake(&intake, Duration::ZERO);
        let shared = Shared {
            state: OwnLines(Mutex::new(state)),
            intake: OwnLines(intake),
            hasher: DefaultHashBuilder::default(),
            start: Instant::now(),
            metrics,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Adds an item in [`Lane::Normal`]. This has no effect if the item is waiting for a worker, or
    /// the queue is shut down. A delayed item runs now, and again after its delay.
    pub fn add(&self, item: T) {
        self.add_to(Lane::Normal, item);
    }

    /// Adds an item; one that waits in a lower lane moves up to this one.
    pub fn add_to(&self, lane: Lane, item: T) {
        let hash = self.shared.hasher.hash_one(&item);
        let entry = Entry::Added { hash, item, lane };
        if let Err(Entry::Added { hash, item, lane }) = self.shared.intake.leave(entry) {
            self.shared
                .change(false, |core, now| core.add(now, hash, item, lane));
        }
    }

    /// Adds an item after `wait`, in [`Lane::Normal`]. If the item is delayed already, the earlier
    /// time counts.
    pub fn add_after(&self, item: T, wait: Duration) {
        self.add_after_to(Lane::Normal, item, wait);
    }

    /// Adds an item after `wait`, in this lane or the higher one of an earlier request.
    pub fn add_after_to(&self, lane: Lane, item: T, wait: Duration) {
        let hash = self.shared.hasher.hash_one(&item);
        self.shared.change(true, |core, now| {
            core.add_after(now, hash, item, lane, wait);
        });
    }

    /// Adds an item as failed, without a [`Work`] guard: the failure is counted, and the item runs
    /// after the rate limiter's delay.
    pub fn add_rate_limited(&self, item: T) {
        let hash = self.shared.hasher.hash_one(&item);
        let lane = Lane::Normal;
        self.shared.change(true, |core, now| {
            core.add_rate_limited(now, hash, item, lane);
        });
    }

    /// Returns the next item as soon as there is one; `None` once the queue is shut down and
    /// nothing is left to do.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it completes takes no item, and wakes another worker if this one
    /// had been woken. A future that was woken must be polled or dropped: its item waits for it.
    pub async fn next(&self) -> Option<Work<T>> {
        Next::new(&self.shared).await
    }

    /// Resets the failure count of an item. Its delay is unchanged.
    pub fn forget(&self, item: &T) {
        let hash = self.shared.hasher.hash_one(item);
        self.shared.change(false, |core, _| core.forget(hash, item));
    }

    /// Returns how many times the item failed since it last succeeded; 0 if it neither waits nor
    /// runs.
    pub fn failures(&self, item: &T) -> u32 {
        let hash = self.shared.hasher.hash_one(item);
        self.shared
            .change(false, |core, _| core.failures(hash, item))
    }
}

impl<T> WorkQueue<T> {
    /// Returns how many items wait for a worker, without those that are delayed or being processed.
    pub fn len(&self) -> usize {
        self.shared.change_promoted(Core::len)
    }

    /// Reports whether no item waits for a worker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the current gauges and totals.
    pub fn stats(&self) -> Stats {
        self.shared.change_promoted(Core::stats)
    }

    /// Shuts down the queue. Later additions are ignored and delayed items are dropped. Items that
    /// wait for a worker are still returned, and then [`WorkQueue::next`] returns `None`. Failed
    /// runs are not retried. Ends a pending [`WorkQueue::shut_down_with_drain`].
    pub fn shut_down(&self) {
        self.shared
            .change_promoted(|core, now| core.shut_down(now, false));
    }

    /// Shuts down the queue like [`WorkQueue::shut_down`], and returns when all queued items were
    /// processed, including those added again while they ran. Workers must keep calling
    /// [`WorkQueue::next`] until it returns `None`, and none may hold one item while it waits for
    /// another.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait; the queue stays shut down and continues to drain.
    pub async fn shut_down_with_drain(&self) {
        self.shared
            .change_promoted(|core, now| core.shut_down(now, true));
        Drained::new(&self.shared).await;
    }

    /// Reports whether the queue is shut down, drained or not.
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
    /// Protects all decisions. It is held for one operation, never across an await, and no waker is
    /// called under it.
    state: OwnLines<Mutex<State<T>>>,
    /// Entries for the next operation to process. Locked after `state` or without it.
    intake: OwnLines<Intake<T>>,
    hasher: DefaultHashBuilder,
    start: Instant,
    metrics: Option<Arc<dyn MetricsSink>>,
}

/// A value in cache lines of its own: producers, which write to the intake, do not slow down
/// workers, which write to the state. Processors fetch lines in pairs, hence twice 64 bytes.
#[repr(align(128))]
struct OwnLines<T>(T);

impl<T> Deref for OwnLines<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

struct State<T> {
    core: Core<T>,
    waiters: Waiters,
    drainers: Drainers,
    intake_open: bool,
    /// Empty between operations; kept for its memory.
    entries: Vec<Entry<T>>,
    /// A function pointer, so that a queue can be shut down and inspected without the bounds on
    /// items.
    bring_in: fn(&mut Core<T>, Duration, &mut Vec<Entry<T>>),
    /// How many items were taken since a worker last started to wait.
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

    /// Performs one operation on the core and everything that follows from it. The clock is read
    /// only if the operation is `timed` or the core needs it: reading it costs as much as the rest.
    fn change<R>(&self, timed: bool, operate: impl FnOnce(&mut Core<T>, Duration) -> R) -> R {
        let (mut state, now) = self.enter(timed);
        let result = operate(&mut state.core, now);
        self.release(state, now);
        result
    }

    /// Does the same once all items are ready whose delay has passed. They become so some at a
    /// time, and others get the lock in between.
    fn change_promoted<R>(&self, operate: impl FnOnce(&mut Core<T>, Duration) -> R) -> R {
        while self.change(false, Core::promote) {}
        self.change(false, operate)
    }

    /// Takes the lock, reads the time, and processes the entries of the intake.
    fn enter(&self, timed: bool) -> (MutexGuard<'_, State<T>>, Duration) {
        let mut guard = lock_after_others(&self.state);
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

    /// Releases the lock, then calls wakers and records metrics.
    fn release(&self, mut state: MutexGuard<'_, State<T>>, now: Duration) {
        state.settle_intake(&self.intake, now);
        let waker = state.next_waker();
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
            wakers.extend(state.waiters.wake_all());
        }
        if state.core.is_drained() {
            wakers.extend(state.drainers.wake_all());
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        if let Some(sink) = &self.metrics {
            report.record(&**sink);
        }
    }
}

impl<T> State<T> {
    /// Opens or closes the intake. It is open while its entries need no attention: no worker waits,
    /// nothing is measured, and the queue is not shut down.
    fn settle_intake(&mut self, intake: &Intake<T>, now: Duration) {
        let open = self.core.is_quiet() && !self.waiters.any_waiting();
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

    /// Returns the waker of a worker that has to wake up now, if any. One is enough: after taking
    /// its item, it calls this again.
    fn next_waker(&mut self) -> Option<Waker> {
        if self.waiters.woken() < self.core.runnable()
            && let Some(waker) = self.waiters.wake_one()
        {
            return Some(waker);
        }
        self.core
            .deadline()
            .and_then(|deadline| self.waiters.wake_for(deadline))
    }
}
