//! The future of the next item.
//!
//! Promises: it takes an item only in the poll that returns it, so dropping it loses nothing; a
//! call that it got and did not use goes to another sleeper. It holds a timer only while it is
//! the queue's time keeper.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    task::coop,
    time::{Instant, Sleep, sleep_until},
};

use super::Shared;
use crate::{core::Take, work::Work};

/// The longest that a timer is set to; one that is due later looks again in between.
const SLEEP_MAX: Duration = Duration::from_hours(24);

pub(super) struct Next<'a, T> {
    shared: &'a Arc<Shared<T>>,
    seat: Option<usize>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<'a, T> Next<'a, T> {
    pub(super) fn new(shared: &'a Arc<Shared<T>>) -> Self {
        Self {
            shared,
            seat: None,
            timer: None,
        }
    }

    /// Sets the timer to `deadline` and is ready when it has fired.
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
        loop {
            let mut state = this.shared.state.lock();
            let timed = state.core.reads_clock();
            let now = if timed {
                this.shared.now()
            } else {
                Duration::ZERO
            };
            let work = match state.core.take(now) {
                Take::Nothing => {
                    let deadline = state.core.deadline();
                    let alarm = state.sleepers.sit(&mut this.seat, cx.waker(), deadline);
                    this.shared.release(state);
                    match alarm.map(|deadline| this.poll_timer(cx, deadline)) {
                        Some(Poll::Ready(())) => continue,
                        Some(Poll::Pending) | None => return Poll::Pending,
                    }
                }
                Take::Closed => None,
                Take::Item {
                    slot,
                    item,
                    failures,
                } => Some(Work::new(Arc::clone(this.shared), slot, item, failures)),
            };
            if let Some(seat) = this.seat.take() {
                state.sleepers.leave(seat);
            }
            this.shared.release(state);
            coop.made_progress();
            return Poll::Ready(work);
        }
    }
}

impl<T> Drop for Next<'_, T> {
    fn drop(&mut self) {
        if let Some(seat) = self.seat.take() {
            let mut state = self.shared.state.lock();
            state.sleepers.leave(seat);
            self.shared.release(state);
        }
    }
}
