//! The public API on several threads.
//!
//! Under real concurrency no item is lost, none is processed by two workers, and everything ends.

use kubist_workqueue::rate_limiter::Exponential;
use kubist_workqueue::{Config, Lane, Work, WorkQueue};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

const ITEMS: usize = 200;
const ROUNDS: usize = 200;

struct Slot {
    /// The number of changes, and of those that a worker has processed.
    wanted: AtomicUsize,
    seen: AtomicUsize,
    busy: AtomicBool,
}

fn slots() -> Arc<Vec<Slot>> {
    let slot = || Slot {
        wanted: AtomicUsize::new(0),
        seen: AtomicUsize::new(0),
        busy: AtomicBool::new(false),
    };
    Arc::new((0..ITEMS).map(|_| slot()).collect())
}

fn fast_queue() -> WorkQueue<usize> {
    let limiter = Exponential {
        base: Duration::from_micros(50),
        max: Duration::from_micros(200),
    };
    WorkQueue::new(Config {
        limiter: Box::new(limiter),
        ..Config::default()
    })
}

async fn work(queue: WorkQueue<usize>, slots: Arc<Vec<Slot>>) {
    let mut runs = 0_usize;
    while let Some(work) = queue.next().await {
        runs += 1;
        let slot = &slots[*work];
        assert!(
            !slot.busy.swap(true, Ordering::SeqCst),
            "two workers have item {}",
            *work
        );
        let wanted = slot.wanted.load(Ordering::SeqCst);
        if runs.is_multiple_of(3) {
            tokio::task::yield_now().await;
        }
        slot.busy.store(false, Ordering::SeqCst);
        match runs % 11 {
            0 => drop(work),
            5 => work.requeue_after(Duration::from_micros(100)),
            _ => {
                slot.seen.fetch_max(wanted, Ordering::SeqCst);
                work.succeed();
            }
        }
    }
}

/// Contract WORK-1.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_change_is_seen_by_one_worker_at_a_time() {
    let queue = fast_queue();
    let slots = slots();
    let mut workers = JoinSet::new();
    for _ in 0..4 {
        workers.spawn(work(queue.clone(), Arc::clone(&slots)));
    }
    let mut producers = JoinSet::new();
    for producer in 0..2 {
        let (queue, slots) = (queue.clone(), Arc::clone(&slots));
        producers.spawn(async move {
            for round in 0..ROUNDS {
                for item in (0..ITEMS).filter(|item| (item + round) % 2 == producer) {
                    slots[item].wanted.fetch_add(1, Ordering::SeqCst);
                    match (item + round) % 17 {
                        0 => queue.add_after(item, Duration::from_micros(30)),
                        1 => queue.add_to(Lane::Urgent, item),
                        2 => queue.add_to(Lane::Background, item),
                        _ => queue.add(item),
                    }
                }
                tokio::task::yield_now().await;
            }
        });
    }
    producers.join_all().await;
    let settled = async {
        let behind =
            |slot: &Slot| slot.seen.load(Ordering::SeqCst) != slot.wanted.load(Ordering::SeqCst);
        while slots.iter().any(behind) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), settled)
        .await
        .expect("no change is lost");
    queue.shut_down_with_drain().await;
    workers.join_all().await;
    assert_eq!(queue.stats().processing, 0);
}

/// Contract WORK-11.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn workers_that_are_cancelled_at_random_lose_no_item() {
    let queue = fast_queue();
    let done = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for nth in 0..4_u64 {
        let (queue, done) = (queue.clone(), Arc::clone(&done));
        workers.spawn(async move {
            let patience = Duration::from_micros(20 + 10 * nth);
            loop {
                match tokio::time::timeout(patience, queue.next()).await {
                    Ok(Some(work)) => {
                        done.fetch_add(1, Ordering::SeqCst);
                        work.succeed();
                    }
                    Ok(None) => return,
                    Err(_) => {}
                }
            }
        });
    }
    for item in 0..20_000 {
        queue.add(item);
        if item % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    queue.shut_down_with_drain().await;
    workers.join_all().await;
    assert_eq!(done.load(Ordering::SeqCst), 20_000);
}

#[test]
fn a_queue_and_its_futures_can_be_sent_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<WorkQueue<String>>();
    is_send_and_sync::<Work<String>>();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let _entered = runtime.enter();
    is_send(&WorkQueue::<String>::default().next());
}
