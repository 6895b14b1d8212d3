//! What passing items between tasks costs at least: the same names go through a deque and a set of
//! names under one lock, and delayed ones through a heap and a timer.
//!
//! An item may be processed by two workers at once, none can be retried or delayed and added, and
//! nothing is counted: a work queue does more than this.

use crate::queue::{BETWEEN_YIELDS, Crowd, Lateness};
use kubist_apimachinery::Str;
use meter::cpu;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::{JoinSet, yield_now};

/// Names that wait, each once.
#[derive(Default)]
struct Plain {
    state: Mutex<State>,
    added: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Str>,
    names: HashSet<Str>,
    /// Tasks that wait for a name and were not told of one.
    idle: usize,
    closed: bool,
}

impl Plain {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: Str) {
        let mut state = self.state();
        if state.names.insert(name.clone()) {
            state.waiting.push_back(name);
            if state.idle > 0 {
                state.idle -= 1;
                drop(state);
                self.added.notify_one();
            }
        }
    }

    fn take(&self) -> Option<Str> {
        let mut state = self.state();
        let name = state.waiting.pop_front()?;
        state.names.remove(&name);
        Some(name)
    }

    /// `None` once it is closed and empty.
    async fn next(&self) -> Option<Str> {
        loop {
            // From here on, closing is noticed.
            let added = self.added.notified();
            if let Some(name) = self.take() {
                return Some(name);
            }
            {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                state.idle += 1;
            }
            added.await;
        }
    }

    fn close(&self) {
        self.state().closed = true;
        self.added.notify_waiters();
    }
}

/// Adds and takes one name after another; returns names for a CPU second.
pub(crate) fn one_thread(names: &[Str], items: usize) -> f64 {
    let (plain, start) = (Plain::default(), cpu());
    for number in 0..items {
        plain.add(names[number % names.len()].clone());
        assert!(plain.take().is_some());
    }
    items as f64 / (cpu() - start)
}

/// Producers add names while workers take them; returns names a second.
pub(crate) async fn produce(names: &Arc<[Str]>, items: usize, (producers, workers): Crowd) -> f64 {
    let (plain, start) = (Arc::new(Plain::default()), Instant::now());
    let (mut taking, mut adding) = (JoinSet::new(), JoinSet::new());
    for _ in 0..workers {
        let plain = Arc::clone(&plain);
        taking.spawn(async move { while plain.next().await.is_some() {} });
    }
    for producer in 0..producers {
        let numbers = (0..items).skip(producer).step_by(producers);
        let (plain, names) = (Arc::clone(&plain), Arc::clone(names));
        adding.spawn(async move {
            for (at, number) in numbers.enumerate() {
                plain.add(names[number % names.len()].clone());
                if (at + 1) % BETWEEN_YIELDS == 0 {
                    yield_now().await;
                }
            }
        });
    }
    while adding.join_next().await.is_some() {}
    plain.close();
    while taking.join_next().await.is_some() {}
    items as f64 / start.elapsed().as_secs_f64()
}

/// Names wait in a heap, and one timer is for the first.
pub(crate) async fn delays(waits: impl Iterator<Item = (Str, Duration)>, lateness: &mut Lateness) {
    let mut heap: BinaryHeap<_> = waits
        .map(|(name, wait)| Reverse((Instant::now() + wait, name)))
        .collect();
    lateness.added();
    while let Some(Reverse((due, _))) = heap.peek() {
        tokio::time::sleep_until((*due).into()).await;
        let now = Instant::now();
        while let Some(Reverse((due, _))) = heap.peek()
            && *due <= now
        {
            lateness.late(*due);
            heap.pop();
        }
    }
}
