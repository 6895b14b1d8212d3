//! The hand-over between producers, workers and shutdowns under many interleavings. Built with
//! `--cfg shuttle` only; `cargo xtask ci` runs it.
//!
//! Each test must pass for every interleaving of the threads' steps. A lost wake-up leaves every
//! thread waiting, which shuttle reports as a deadlock with its schedule. Each test runs with
//! random schedules and with schedules that force orderings (PCT). The tests cover the lock, the
//! intake, the waiting workers, the owner of the timer, and waits for a drain. They do not cover
//! tokio's tasks and timers, which are replaced by shuttle's and by a test clock.

use super::WorkQueue;
use crate::Lane;
use crate::sync::under_shuttle::{let_time_pass, stop_time};
use shuttle::future::block_on;
use shuttle::thread::{self, JoinHandle};
use shuttle::{check_pct, check_random};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

/// The number of schedules that each test tries of either kind.
const SCHEDULES: usize = 1_500;

/// The number of thread orderings that a schedule forces.
const DEPTH: usize = 3;

const MS: Duration = Duration::from_millis(1);

fn check(test: impl Fn() + Send + Sync + Clone + 'static) {
    check_random(test.clone(), SCHEDULES);
    check_pct(test, SCHEDULES, DEPTH);
}

/// The additions of each item, and those that a worker has processed.
#[derive(Default)]
struct Items {
    wanted: [AtomicUsize; 2],
    seen: [AtomicUsize; 2],
    runs: AtomicUsize,
}

impl Items {
    fn want(&self, queue: &WorkQueue<usize>, item: usize, lane: Lane) {
        self.wanted[item].fetch_add(1, Ordering::SeqCst);
        queue.add_to(lane, item);
    }

    fn assert_nothing_is_lost(&self) {
        for (wanted, seen) in self.wanted.iter().zip(&self.seen) {
            let (wanted, seen) = (wanted.load(Ordering::SeqCst), seen.load(Ordering::SeqCst));
            assert_eq!(wanted, seen);
        }
    }
}

/// Takes items until the queue is shut down.
fn worker(queue: &WorkQueue<usize>, items: &Arc<Items>) -> JoinHandle<()> {
    let (queue, items) = (queue.clone(), Arc::clone(items));
    thread::spawn(move || {
        while let Some(work) = block_on(queue.next()) {
            let wanted = items.wanted[*work].load(Ordering::SeqCst);
            items.seen[*work].fetch_max(wanted, Ordering::SeqCst);
            items.runs.fetch_add(1, Ordering::SeqCst);
            work.succeed();
        }
    })
}

/// Polls for an item once and gives up.
fn impatient(queue: &WorkQueue<usize>) -> JoinHandle<()> {
    let queue = queue.clone();
    thread::spawn(move || {
        let mut next = pin!(queue.next());
        let look = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx)));
        // If it gets an item after all, the item fails and is retried.
        drop(block_on(look));
        thread::yield_now();
    })
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("no panic");
    }
}

#[test]
fn every_change_is_seen_by_a_worker() {
    check(|| {
        let (queue, items) = (WorkQueue::default(), Arc::new(Items::default()));
        let workers = [worker(&queue, &items), worker(&queue, &items)];
        let producers = [Lane::Normal, Lane::Urgent].map(|lane| {
            let (queue, items) = (queue.clone(), Arc::clone(&items));
            thread::spawn(move || {
                items.want(&queue, 0, lane);
                items.want(&queue, 1, lane);
                items.want(&queue, 0, lane);
            })
        });
        join(producers);
        block_on(queue.shut_down_with_drain());
        items.assert_nothing_is_lost();
        join(workers);
    });
}

#[test]
fn an_item_reaches_a_sleeping_worker_without_any_further_help() {
    check(|| {
        let (queue, items) = (WorkQueue::default(), Arc::new(Items::default()));
        let (one, other) = (worker(&queue, &items), worker(&queue, &items));
        items.want(&queue, 0, Lane::Normal);
        items.want(&queue, 1, Lane::Normal);
        // The queue is not used until both have been processed.
        while items.runs.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
        items.assert_nothing_is_lost();
        queue.shut_down();
        join([one, other]);
    });
}

#[test]
fn a_call_to_a_worker_that_goes_away_is_passed_on() {
    check(|| {
        let queue: WorkQueue<usize> = WorkQueue::default();
        let waiting = queue.clone();
        let taker = thread::spawn(move || {
            let work = block_on(waiting.next()).expect("the queue is open");
            work.succeed();
        });
        let gone = [impatient(&queue), impatient(&queue)];
        let time = thread::spawn(let_time_pass); // for items that failed in `impatient`
        queue.add(0);
        join(gone);
        join([taker]);
        stop_time();
        join([time]);
    });
}

#[test]
fn a_delayed_item_is_taken_whichever_worker_owned_the_timer() {
    check(|| {
        let queue: WorkQueue<usize> = WorkQueue::default();
        let time = thread::spawn(let_time_pass);
        let takers = [0, 1].map(|_| {
            let queue = queue.clone();
            thread::spawn(move || {
                let work = block_on(queue.next()).expect("the queue is open");
                work.succeed();
            })
        });
        let gone = impatient(&queue);
        queue.add_after(0, 50 * MS);
        queue.add_after(1, 20 * MS);
        join([gone]);
        join(takers);
        stop_time();
        join([time]);
    });
}

#[test]
fn closing_lets_every_worker_go_whatever_else_happens() {
    check(|| {
        let (queue, items) = (WorkQueue::default(), Arc::new(Items::default()));
        let workers = [worker(&queue, &items), worker(&queue, &items)];
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.add(0);
                queue.add_after(1, MS);
                queue.add(1);
            })
        };
        let gone = impatient(&queue);
        queue.shut_down();
        join(workers);
        join([producer, gone]);
    });
}

#[test]
fn every_wait_for_the_drain_returns() {
    check(|| {
        let (queue, items) = (WorkQueue::default(), Arc::new(Items::default()));
        let workers = [worker(&queue, &items), worker(&queue, &items)];
        items.want(&queue, 0, Lane::Normal);
        items.want(&queue, 1, Lane::Normal);
        let drains = [0, 1].map(|_| {
            let (queue, items) = (queue.clone(), Arc::clone(&items));
            thread::spawn(move || {
                block_on(queue.shut_down_with_drain());
                items.assert_nothing_is_lost();
            })
        });
        join(drains);
        join(workers);
    });
}
