//! `Work`: an item that a worker processes.
//!
//! No other worker has the item while the guard exists. Dropping the guard tells the queue how the
//! run ended, including panics and cancelled futures. If a guard is leaked (`mem::forget`), its
//! item never runs again.

use super::Shared;
use crate::core::Outcome;
use crate::slot_id::SlotId;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// An item to be processed.
///
/// Dropping it means that the work failed: the item is retried when the rate limiter allows.
/// Success must be stated with [`Work::succeed`], because every other way out of a worker (`?`, a
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

    /// Returns the item, to which the guard also dereferences.
    pub fn item(&self) -> &T {
        &self.item
    }

    /// Returns the number of this attempt: 1, plus the failures since the last success.
    pub fn attempt(&self) -> u32 {
        self.failures.saturating_add(1)
    }

    /// Completes the work and resets the failure count. The item runs again only if it is added
    /// again, was added meanwhile, or is delayed.
    pub fn succeed(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// Completes the work, resets the failure count, and runs the item again after `wait`. If it is
    /// added before that, it runs then, and again after `wait`.
    pub fn requeue_after(mut self, wait: Duration) {
        self.outcome = Outcome::Requeued(wait);
    }

    /// Returns the item unprocessed: it runs after `wait`, and if it is added before that, then
    /// too. The failure count is unchanged. Without `wait` it goes to the end of its lane, even if
    /// the queue is shut down.
    pub fn postpone(mut self, wait: Duration) {
        self.outcome = Outcome::Postponed(wait);
    }

    /// Fails the work, like dropping the guard.
    pub fn fail(self) {
        drop(self);
    }

    /// Fails the work with a minimum delay, for instance a server's Retry-After: the item waits for
    /// the rate limiter's delay, and at least for `wait`.
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
