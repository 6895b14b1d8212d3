//! One item in the hands of one worker.
//!
//! Promises: as long as the guard lives no other worker has the item; when it goes, the queue
//! learns how the run ended, also when that was a panic or a cancelled future. A guard that is
//! leaked (`mem::forget`) keeps its item from ever running again.

use super::Shared;
use crate::core::Outcome;
use crate::slot_id::SlotId;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// An item to be worked on.
///
/// Dropping it says that the work failed: the item comes back when the rate limiter allows.
/// Success must be said, with [`Work::succeed`], because every other way out of a worker (`?`, a
/// panic, a timeout that drops the future) is a failure and must not need code of its own.
#[must_use = "a dropped item has failed and goes back through the rate limiter"]
pub struct Work<T> {
    shared: Arc<Shared<T>>,
    slot: SlotId,
    item: T,
    failures: u32,
    outcome: Outcome,
}

impl<T> Work<T> {
    pub(crate) fn new(shared: Arc<Shared<T>>, slot: SlotId, item: T, failures: u32) -> Self {
        let outcome = Outcome::Failed {
            wait_min: Duration::ZERO,
        };
        Self {
            shared,
            slot,
            item,
            failures,
            outcome,
        }
    }

    /// The item; also what the guard dereferences to.
    pub fn item(&self) -> &T {
        &self.item
    }

    /// Which try this is: 1, and one more for each failure since the last success.
    pub fn attempt(&self) -> u32 {
        self.failures.saturating_add(1)
    }

    /// The work is done. Failures are forgotten; the item comes back only if it is added again,
    /// was added meanwhile, or was asked for later.
    pub fn succeed(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// The work is done, failures are forgotten, and the item runs again after `wait` (sooner if
    /// it is added before).
    pub fn requeue_after(mut self, wait: Duration) {
        self.outcome = Outcome::Requeued(wait);
    }

    /// The work was not begun: the item runs after `wait`, or sooner if it is added before.
    /// Failures are neither counted nor forgotten. With no `wait` it goes to the end of its lane,
    /// also when the queue has been closed.
    pub fn postpone(mut self, wait: Duration) {
        self.outcome = Outcome::Postponed(wait);
    }

    /// The work failed: the same as dropping the guard.
    pub fn fail(self) {
        drop(self);
    }

    /// The work failed, and whoever refused it said when to come back: the item waits for what
    /// the rate limiter says and at least for `wait`.
    pub fn fail_retry_after(mut self, wait: Duration) {
        self.outcome = Outcome::Failed { wait_min: wait };
    }
}

impl<T> Deref for Work<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.item
    }
}

impl<T: fmt::Debug> fmt::Debug for Work<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work")
            .field("item", &self.item)
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}

impl<T> Drop for Work<T> {
    fn drop(&mut self) {
        self.shared.finish(self.slot, self.outcome);
    }
}
