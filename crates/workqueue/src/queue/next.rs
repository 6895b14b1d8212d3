//! The future of the next item.
//!
//! It takes an item only in the poll that returns it, so dropping it loses nothing. A wake-up that
//! it received and did not use is passed on to another waiter. It holds a timer only while it owns
//! the queue's timer.

use super::Shared;
use super::work::Work;
use crate::core::Take;
use crate::sync::{Instant, Sleep, sleep_until};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::task::coop;

/// How many items in a row make the queue busy. A worker that finds nothing then spins briefly,
/// because waiting and being woken costs as much as many items.
const STREAK_BUSY: u32 = if cfg!(shuttle) { 1 } else { 64 };

/// How often it looks into the intake: for 15 µs in all.
const LOOKS_MAX: u32 = if cfg!(shuttle) { 2 } else { 16 };

/// How many iterations of a few tens of nanoseconds are between two looks.
const SPINS: u32 = if cfg!(shuttle) { 1 } else { 16 };

/// How many entries end its look.
const ENOUGH: usize = 64;

/// The maximum time of a timer; for later deadlines it fires in between.
const SLEEP_MAX: Duration = Duration::from_secs(24 * 3600);

pub(super) struct Next<'a, T> {
    shared: &'a Arc<Shared<T>>,
    index: Option<usize>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<'a, T> Next<'a, T> {
    pub(super) fn new(shared: &'a Arc<Shared<T>>) -> Self {
        Self {
            shared,
            index: None,
            timer: None,
        }
    }

    /// Spins until something is left in the intake, and then while more comes: each look takes the
    /// memory away from the producer that is writing there, so many entries are worth a wait.
    fn look(&self, looks_left: &mut u32) {
        let mut seen = 0;
        while *looks_left > 0 {
            *looks_left -= 1;
            for _ in 0..SPINS {
                std::hint::spin_loop();
            }
            let entries = self.shared.intake.seems_to_have();
            if entries >= ENOUGH || (entries > 0 && entries == seen) {
                return;
            }
            seen = entries;
        }
    }

    /// Sets the timer to `deadline`; ready when it has fired.
    fn poll_timer(&mut self, cx: &mut Context<'_>, deadline: Duration) -> Poll<()> {
        let latest = Instant::now() + SLEEP_MAX;
        let due = self
            .shared
            .start
            .checked_add(deadline)
            .unwrap_or(latest)
            .min(latest);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if timer.deadline() != due {
            timer.as_mut().reset(due);
        }
        timer.as_mut().poll(cx)
    }
}

impl<T: Clone> Future for Next<'_, T> {
    type Output = Option<Work<T>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // A worker that always finds an item must still let other tasks run.
        let coop = ready!(coop::poll_proceed(cx));
        let this = self.get_mut();
        let mut looks_left = LOOKS_MAX;
        loop {
            let (mut state, now) = this.shared.enter(false);
            let work = match state.core.take(now) {
                Take::Nothing
                    if state.intake_open && state.streak >= STREAK_BUSY && looks_left > 0 =>
                {
                    this.shared.release(state, now);
                    this.look(&mut looks_left);
                    continue;
                }
                Take::Nothing => {
                    state.streak = 0;
                    let deadline = state.core.deadline();
                    let timer = state
                        .waiters
                        .register(&mut this.index, cx.waker(), deadline);
                    this.shared.release(state, now);
                    match timer.map(|deadline| this.poll_timer(cx, deadline)) {
                        Some(Poll::Ready(())) => continue,
                        Some(Poll::Pending) | None => return Poll::Pending,
                    }
                }
                Take::Closed => None,
                Take::Item {
                    slot,
                    item,
                    failures,
                } => {
                    state.streak = state.streak.saturating_add(1);
                    Some(Work::new(Arc::clone(this.shared), slot, item, failures))
                }
            };
            if let Some(index) = this.index.take() {
                state.waiters.leave(index);
            }
            this.shared.release(state, now);
            coop.made_progress();
            return Poll::Ready(work);
        }
    }
}

impl<T> Drop for Next<'_, T> {
    fn drop(&mut self) {
        if let Some(index) = self.index.take() {
            let (mut state, now) = self.shared.enter(false);
            state.waiters.leave(index);
            self.shared.release(state, now);
        }
    }
}
