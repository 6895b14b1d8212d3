//! What passing items between tasks costs at least: names are hashed and handed over in batches,
//! and delayed ones are sorted and wait for a timer.
//!
//! Nothing else that a work queue does is done: a name is handed over as often as it is added, and
//! none can be retried, delayed again or counted.

use crate::queue::{BETWEEN_YIELDS, Crowd, Lateness, due_times};
use hashbrown::DefaultHashBuilder;
use kubist_apimachinery::Str;
use meter::cpu;
use std::hash::BuildHasher as _;
use std::hint::black_box;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

/// Names with their hashes, which whoever takes takes all.
struct Handover {
    state: Mutex<State>,
    /// A permit for each task that was told of names, or of the end.
    told: Semaphore,
    hasher: DefaultHashBuilder,
}

#[derive(Default)]
struct State {
    waiting: Vec<(u64, Str)>,
    /// Tasks that wait and were not told.
    idle: usize,
    closed: bool,
}

impl Handover {
    fn new() -> Self {
        Self {
            state: Mutex::default(),
            told: Semaphore::new(0),
            hasher: DefaultHashBuilder::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: Str) {
        let hash = self.hasher.hash_one(&name);
        let mut state = self.state();
        state.waiting.push((hash, name));
        if state.idle > 0 {
            state.idle -= 1;
            drop(state);
            self.told.add_permits(1);
        }
    }

    /// Swaps the empty list for what waits; false once it is closed and nothing does.
    async fn take(&self, names: &mut Vec<(u64, Str)>) -> bool {
        loop {
            {
                let mut state = self.state();
                mem::swap(&mut state.waiting, names);
                if !names.is_empty() {
                    return true;
                }
                if state.closed {
                    return false;
                }
                state.idle += 1;
            }
            // It is never closed.
            self.told.acquire().await.ok().map(|it| it.forget());
        }
    }

    fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        self.told.add_permits(mem::take(&mut state.idle));
    }
}

/// Adds and takes one name after another; returns names for a CPU second.
pub(crate) fn one_thread(names: &[Str], items: usize) -> f64 {
    let (handover, mut taken, start) = (Handover::new(), Vec::new(), cpu());
    for number in 0..items {
        handover.add(names[number % names.len()].clone());
        mem::swap(&mut handover.state().waiting, &mut taken);
        assert!(black_box(taken.pop()).is_some());
    }
    items as f64 / (cpu() - start)
}

/// Producers add names while workers take them; returns names a second.
pub(crate) async fn produce(names: &Arc<[Str]>, items: usize, (producers, workers): Crowd) -> f64 {
    let (handover, start) = (Arc::new(Handover::new()), Instant::now());
    let (mut taking, mut adding) = (JoinSet::new(), JoinSet::new());
    for _ in 0..workers {
        let handover = Arc::clone(&handover);
        taking.spawn(async move {
            let mut names = Vec::new();
            while handover.take(&mut names).await {
                names.drain(..).for_each(|it| drop(black_box(it)));
            }
        });
    }
    for producer in 0..producers {
        let numbers = (0..items).skip(producer).step_by(producers);
        let (handover, names) = (Arc::clone(&handover), Arc::clone(names));
        adding.spawn(async move {
            for (at, number) in numbers.enumerate() {
                handover.add(names[number % names.len()].clone());
                if (at + 1) % BETWEEN_YIELDS == 0 {
                    yield_now().await;
                }
            }
        });
    }
    while adding.join_next().await.is_some() {}
    handover.close();
    while taking.join_next().await.is_some() {}
    items as f64 / start.elapsed().as_secs_f64()
}

/// Names are sorted once by when they are due, and one timer is for the first.
pub(crate) async fn delays(names: &[Str], lateness: &mut Lateness) {
    let mut waiting = Vec::with_capacity(names.len());
    let due = due_times(names, |name, wait: Duration| {
        waiting.push((Instant::now() + wait, name));
    });
    waiting.sort_unstable_by_key(|it| it.0);
    lateness.added();
    let mut waiting = waiting.iter().peekable();
    while let Some((first, _)) = waiting.peek() {
        tokio::time::sleep_until((*first).into()).await;
        let now = Instant::now();
        while let Some((_, name)) = waiting.next_if(|it| it.0 <= now) {
            lateness.late(due[name]);
        }
    }
}
