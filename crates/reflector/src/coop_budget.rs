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

/// The most calls between two looks at the clock, which costs as much as a cheap call.
const CALLS_MAX: u32 = 8;

/// The budget of one turn of a task, to be checked after each piece of work.
#[derive(Debug)]
pub struct CoopBudget {
    began: Instant,
    /// The calls until the next look at the clock, see [`Self::yield_if_due_often`].
    calls_left: u32,
    /// How many they were.
    calls: u32,
    /// When the clock was looked at.
    looked: Instant,
}

impl CoopBudget {
    /// Starts a turn.
    pub fn start() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            calls_left: 1,
            calls: 1,
            looked: now,
        }
    }

    /// Starts another turn of work of the same kind.
    fn restart(&mut self) {
        self.began = Instant::now();
        self.looked = self.began;
    }

    /// Returns when this turn began: another one means that other tasks could run.
    pub fn turn(&self) -> Instant {
        self.began
    }

    /// Yields if this turn was longer than [`TURN_MAX`].
    ///
    /// # Cancel safety
    /// Safe: it has no other effect.
    pub async fn yield_if_due(&mut self) {
        self.yield_if_due_at(Instant::now()).await;
    }

    async fn yield_if_due_at(&mut self, now: Instant) {
        if now - self.began >= TURN_MAX {
            // This lets timers and sockets run too, which a mere wake-up would not.
            self.yield_now().await;
        } else {
            tokio::task::consume_budget().await;
        }
    }

    /// Lets other tasks run, whether it is due or not.
    ///
    /// # Cancel safety
    /// Safe: it has no other effect.
    pub async fn yield_now(&mut self) {
        tokio::task::yield_now().await;
        self.restart();
    }

    /// Does the same as [`Self::yield_if_due`], for pieces of work that are mostly as short as the
    /// last ones: while they take microseconds, the clock is read once for several.
    ///
    /// # Cancel safety
    /// Safe: it has no other effect.
    pub async fn yield_if_due_often(&mut self) {
        self.calls_left -= 1;
        if self.calls_left > 0 {
            tokio::task::consume_budget().await;
            return;
        }
        let now = Instant::now();
        let was_short = now - self.looked < TURN_MAX / 32;
        self.looked = now;
        self.calls = if was_short {
            (2 * self.calls).min(CALLS_MAX)
        } else {
            1
        };
        self.calls_left = self.calls;
        self.yield_if_due_at(now).await;
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
            self.restart();
        }
        output
    }

    /// Does the same as [`Self::yield_if_due`] for futures that are polled by hand: pending means
    /// that the turn is over.
    pub fn poll_yield(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.began.elapsed() >= TURN_MAX {
            self.restart();
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

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use tokio::time::advance;

    /// Runs `work` beside a task that counts how often it could run.
    fn others_ran(work: impl AsyncFnOnce(&mut CoopBudget)) -> u32 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let ran = std::cell::Cell::new(0);
        runtime.expect("a runtime starts").block_on(async {
            let other = async {
                loop {
                    tokio::task::yield_now().await;
                    ran.set(ran.get() + 1);
                }
            };
            tokio::select! {
                biased;
                () = async { work(&mut CoopBudget::start()).await } => {}
                () = other => {}
            }
        });
        ran.get()
    }

    #[test]
    fn a_turn_ends_when_it_is_due_and_not_before() {
        let early = others_ran(async |budget| {
            let turn = budget.turn();
            budget.yield_if_due().await;
            assert_eq!(budget.turn(), turn);
        });
        assert_eq!(early, 0);
        others_ran(async |budget| {
            let turn = budget.turn();
            advance(TURN_MAX).await;
            budget.yield_if_due().await;
            assert_eq!(budget.turn(), turn + TURN_MAX);
        });
    }

    #[test]
    fn others_run_when_it_yields_at_once() {
        let ran = others_ran(async |budget| {
            budget.yield_now().await;
            budget.yield_now().await;
        });
        assert!(ran > 0);
    }

    #[test]
    fn the_clock_is_read_at_least_once_in_eight_short_calls() {
        others_ran(async |budget| {
            for _ in 0..100 {
                budget.yield_if_due_often().await;
            }
            let turn = budget.turn();
            advance(TURN_MAX).await;
            for _ in 0..CALLS_MAX {
                budget.yield_if_due_often().await;
            }
            assert!(budget.turn() > turn);
        });
    }

    #[test]
    fn a_future_that_was_pending_begins_a_turn() {
        others_ran(async |budget| {
            let turn = budget.turn();
            budget.track(std::future::ready(())).await;
            assert_eq!(budget.turn(), turn);
            budget.track(advance(TURN_MAX / 2)).await;
            assert_eq!(budget.turn(), turn + TURN_MAX / 2);
        });
    }
}
