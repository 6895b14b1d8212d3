//! `Fanout`: wakes watchers without making the writer pay for large numbers of them.
//!
//! The writer wakes a few watchers itself. With more, it wakes only the engine's driver, if one is
//! running, and the driver wakes the watchers in portions.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Waker};

/// Maximum number of wakers that a writer wakes itself.
const WOKEN_BY_WRITER_MAX: usize = 32;
/// Wakers that the driver wakes before it yields.
const WOKEN_AT_ONCE_MAX: usize = 256;
/// Maximum number of wakers that wait for the driver; beyond it, the writer wakes them itself.
const WAITING_MAX: usize = 65_536;

#[derive(Debug, Default)]
pub(crate) struct Fanout {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waker>,
    driven: bool,
    driver: Option<Waker>,
}

impl Fanout {
    /// Wakes all of `wakers` soon.
    pub(crate) fn wake(&self, wakers: Vec<Waker>) {
        if wakers.len() > WOKEN_BY_WRITER_MAX {
            let mut state = self.state.lock();
            if state.driven && state.waiting.len() + wakers.len() <= WAITING_MAX {
                state.waiting.extend(wakers);
                let driver = state.driver.take();
                drop(state);
                driver.into_iter().for_each(Waker::wake);
                return;
            }
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Becomes the driver; `None` if there already is one.
    pub(crate) fn drive(self: &Arc<Self>) -> Option<Driver> {
        let driven = mem::replace(&mut self.state.lock().driven, true);
        (!driven).then(|| Driver(Arc::clone(self)))
    }
}

/// The driver, which must wake the waiting wakers. Dropping it wakes all of them.
#[derive(Debug)]
pub(crate) struct Driver(Arc<Fanout>);

impl Driver {
    /// Wakes a portion; the task is woken again if more are waiting.
    pub(crate) fn poll(&self, cx: &Context<'_>) {
        let mut state = self.0.state.lock();
        let portion = state.waiting.len().min(WOKEN_AT_ONCE_MAX);
        let portion: Vec<_> = state.waiting.drain(..portion).collect();
        let replaced = state.driver.replace(cx.waker().clone());
        let more = !state.waiting.is_empty();
        drop(state);
        drop(replaced);
        portion.into_iter().for_each(Waker::wake);
        if more {
            cx.waker().wake_by_ref();
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let left = mem::take(&mut *self.0.state.lock());
        left.waiting.into_iter().for_each(Waker::wake);
    }
}
