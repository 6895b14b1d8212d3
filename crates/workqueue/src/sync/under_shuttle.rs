//! Locks that the shuttle crate schedules, and a clock that the test advances.
//!
//! It has the same names and signatures as in every other build, and one clock per execution of a
//! test. It is not a runtime: a thread of the test advances the clock with [`let_time_pass`].
#![cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "only tests move the clock")
)]

use shuttle::sync::Condvar;
pub(crate) use shuttle::sync::MutexGuard;
pub(crate) use shuttle::sync::atomic::AtomicUsize;
use std::mem;
use std::ops::Add;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Behaves like `parking_lot`'s mutex: a panic of one holder does not poison it.
#[derive(Debug)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn lock_after_others<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

shuttle::lazy_static! {
    static ref CLOCK: Clock = Clock::default();
}

#[derive(Default)]
struct Clock {
    state: shuttle::sync::Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    now: Duration,
    timers: Vec<Timer>,
    made: u64,
    stopped: bool,
}

struct Timer {
    id: u64,
    at: Duration,
    waker: Waker,
}

impl Clock {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Advances the clock to the next timer repeatedly, and waits while there is none, until
/// [`stop_time`] is called.
#[cfg(test)]
pub(crate) fn let_time_pass() {
    let mut state = CLOCK.lock();
    while !state.stopped {
        let Some(next) = state.timers.iter().map(|timer| timer.at).min() else {
            let waited = CLOCK.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        state.now = state.now.max(next);
        let now = state.now;
        let (due, later) = mem::take(&mut state.timers)
            .into_iter()
            .partition(|timer| timer.at <= now);
        state.timers = later;
        drop(state);
        let due: Vec<Timer> = due;
        for timer in due {
            timer.waker.wake();
        }
        state = CLOCK.lock();
    }
}

/// Ends [`let_time_pass`].
#[cfg(test)]
pub(crate) fn stop_time() {
    CLOCK.lock().stopped = true;
    CLOCK.changed.notify_all();
}

/// A time on the test's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(Duration);

impl Instant {
    pub(crate) fn now() -> Self {
        Self(CLOCK.lock().now)
    }

    pub(crate) fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }

    pub(crate) fn checked_add(self, wait: Duration) -> Option<Self> {
        self.0.checked_add(wait).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(wait))
    }
}

/// Completes at its deadline.
pub(crate) struct Sleep {
    id: u64,
    deadline: Instant,
}

pub(crate) fn sleep_until(deadline: Instant) -> Sleep {
    let mut state = CLOCK.lock();
    state.made += 1;
    let id = state.made;
    Sleep { id, deadline }
}

impl Sleep {
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.deadline = deadline;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = CLOCK.lock();
        state.timers.retain(|timer| timer.id != self.id);
        if state.now >= self.deadline.0 {
            return Poll::Ready(());
        }
        state.timers.push(Timer {
            id: self.id,
            at: self.deadline.0,
            waker: cx.waker().clone(),
        });
        CLOCK.changed.notify_all();
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let dropped = {
            let mut state = CLOCK.lock();
            let place = state.timers.iter().position(|timer| timer.id == self.id);
            place.map(|place| state.timers.swap_remove(place))
        };
        drop(dropped);
    }
}
