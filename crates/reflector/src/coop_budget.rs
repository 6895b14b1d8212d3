//! `CoopBudget`: limits how long a task runs before it yields.
//!
//! It measures time, because the cost of user callbacks is unknown, and also uses tokio's
//! cooperative budget, so that it is fair under a paused clock. It limits the work between two
//! checks, not a single call that blocks.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// How long a task runs before it yields.
pub const TURN_MAX: Duration = Duration::from_millis(1);

/// The budget of one turn of a task, to be checked after each piece of work.
#[derive(Debug)]
pub struct CoopBudget {
    began: Instant,
}

impl CoopBudget {
    /// Starts a turn.
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    /// Yields if this turn was longer than [`TURN_MAX`].
    ///
    /// # Cancel safety
    /// Safe: it has no other effect.
    pub async fn yield_if_due(&mut self) {
        if self.began.elapsed() >= TURN_MAX {
            // This lets timers and sockets run too, which a mere wake-up would not.
            tokio::task::yield_now().await;
            *self = Self::start();
        } else {
            tokio::task::consume_budget().await;
        }
    }

    /// Awaits a future. If it was pending, other tasks have run, and a new turn starts.
    ///
    /// # Cancel safety
    /// That of `future`.
    pub async fn track<F: Future>(&mut self, future: F) -> F::Output {
        let (mut future, mut waited) = (pin!(future), false);
        let output = poll_fn(|cx| {
            let polled = future.as_mut().poll(cx);
            waited |= polled.is_pending();
            polled
        });
        let output = output.await;
        if waited {
            *self = Self::start();
        }
        output
    }

    /// Does the same as [`Self::yield_if_due`] for futures that are polled by hand: pending means
    /// that the turn is over.
    pub fn poll_yield(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.began.elapsed() >= TURN_MAX {
            *self = Self::start();
            // The first poll wakes this task and is pending.
            return pin!(tokio::task::yield_now()).poll(cx);
        }
        ready!(pin!(tokio::task::consume_budget()).poll(cx));
        Poll::Ready(())
    }
}

impl Default for CoopBudget {
    fn default() -> Self {
        Self::start()
    }
}
