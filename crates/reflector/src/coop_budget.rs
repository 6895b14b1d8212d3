//! `CoopBudget`: how long a task works before others have their turn.
//!
//! By the clock, because what a call of somebody else's costs is not ours to say; and by tokio's
//! count, so that a paused clock does not make it unfair. It bounds the work between two looks, not
//! a single call that blocks.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// How long a task works before it yields.
pub const TURN_MAX: Duration = Duration::from_millis(1);

/// One turn of a task. Ask it after each piece of work.
#[derive(Debug)]
pub struct CoopBudget {
    began: Instant,
}

impl CoopBudget {
    /// A turn begins.
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    /// Lets others have their turn if this one was longer than [`TURN_MAX`].
    ///
    /// # Cancel safety
    /// Safe: it does nothing else.
    pub async fn yield_if_due(&mut self) {
        if self.began.elapsed() >= TURN_MAX {
            // Timers and sockets have their turn too, which a mere wake-up would not give them.
            tokio::task::yield_now().await;
            *self = Self::start();
        } else {
            tokio::task::consume_budget().await;
        }
    }

    /// Awaits; if that had to wait, others had their turn, and this one begins anew.
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

    /// As [`Self::yield_if_due`], for futures that are polled by hand: pending means that the turn is over.
    pub fn poll_yield(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.began.elapsed() >= TURN_MAX {
            *self = Self::start();
            // The first poll asks to be woken, and is pending.
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
