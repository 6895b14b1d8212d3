//! The shell: wake-ups, timers, cancellation, shutdown. On a paused clock.

use std::{future::poll_fn, panic::AssertUnwindSafe, sync::Arc, task::Poll, time::Duration};

use parking_lot::Mutex;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::*;
use crate::{
    metrics::{Metric, MetricsSink},
    rate_limiter::{Bucket, Exponential},
};

const MS: Duration = Duration::from_millis(1);

fn queue() -> WorkQueue<&'static str> {
    WorkQueue::default()
}

async fn next(queue: &WorkQueue<&'static str>) -> Work<&'static str> {
    queue.next().await.expect("the queue is open")
}

/// Whether nothing comes although all timers may fire for `wait`.
async fn silent(queue: &WorkQueue<&'static str>, wait: Duration) -> bool {
    timeout(wait, queue.next()).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn a_waiting_worker_is_woken_by_an_add() {
    let queue = queue();
    let adder = queue.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        sleep(10 * MS).await;
        adder.add("a");
    });
    let work = next(&queue).await;
    assert_eq!((*work, work.attempt()), ("a", 1));
    work.succeed();
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_wakes_a_worker_on_time_although_others_wait_too() {
    let queue = queue();
    let start = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..3 {
        let queue = queue.clone();
        workers.spawn(async move {
            let work = next(&queue).await;
            let item = *work;
            work.succeed();
            (item, Instant::now())
        });
    }
    tokio::task::yield_now().await;
    queue.add_after("late", 50 * MS);
    sleep(MS).await; // one keeps the time for it, and must be told of an earlier one
    queue.add_after("early", 19 * MS);
    queue.add_after("later", 89 * MS);
    for (item, at) in [("early", 20), ("late", 50), ("later", 90)] {
        let done = workers
            .join_next()
            .await
            .expect("three workers")
            .expect("no panic");
        assert_eq!(done, (item, start + MS * at));
    }
}

#[tokio::test(start_paused = true)]
async fn another_worker_keeps_the_time_when_the_keeper_is_cancelled() {
    let queue = queue();
    queue.add_after("a", 50 * MS);
    let other = queue.clone();
    let mut tasks = JoinSet::new();
    {
        let mut keeper = pin!(queue.next());
        poll_fn(|cx| {
            assert!(keeper.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        tasks.spawn(async move { *next(&other).await });
        tokio::task::yield_now().await;
    }
    let taken = timeout(60 * MS, tasks.join_next())
        .await
        .expect("somebody kept the time");
    assert_eq!(taken.expect("one task").expect("no panic"), "a");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_woken_and_cancelled_passes_the_call_on() {
    let queue = queue();
    let other = queue.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { *next(&other).await });
    tokio::task::yield_now().await;
    {
        let mut woken = pin!(queue.next());
        poll_fn(|cx| {
            assert!(woken.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        queue.add("a"); // calls the one that waited last, which never comes back
    }
    let taken = timeout(MS, tasks.join_next())
        .await
        .expect("the call was passed on");
    assert_eq!(taken.expect("one task").expect("no panic"), "a");
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_worker_that_waits_loses_nothing() {
    let queue = queue();
    for _ in 0..10 {
        assert!(silent(&queue, MS).await);
    }
    queue.add("a");
    assert_eq!(*next(&queue).await, "a");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_item_has_failed_and_backs_off() {
    let queue = queue();
    let start = Instant::now();
    queue.add("a");
    for attempt in 1..=4 {
        let work = next(&queue).await;
        assert_eq!(work.attempt(), attempt);
        drop(work);
    }
    assert_eq!(start.elapsed(), MS * (5 + 10 + 20));
    assert_eq!(queue.failures(&"a"), 4);
    next(&queue).await.succeed();
    assert_eq!(queue.failures(&"a"), 0);
    assert!(silent(&queue, 10_000 * MS).await);
}

#[tokio::test(start_paused = true)]
async fn an_item_whose_worker_panics_comes_back() {
    let queue = queue();
    queue.add("a");
    let work = next(&queue).await;
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(move || {
        let _work = work;
        std::panic::resume_unwind(Box::new("reconcile went wrong"));
    }));
    assert!(panicked.is_err());
    let work = next(&queue).await;
    assert_eq!((*work, work.attempt()), ("a", 2));
}

#[tokio::test(start_paused = true)]
async fn an_item_whose_worker_is_cancelled_comes_back() {
    let queue = queue();
    queue.add("a");
    let endless = async {
        let _work = next(&queue).await;
        std::future::pending::<()>().await;
    };
    assert!(timeout(MS, endless).await.is_err());
    assert_eq!(next(&queue).await.attempt(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_requeued_item_comes_back_after_its_time() {
    let queue = queue();
    let start = Instant::now();
    queue.add("a");
    next(&queue).await.requeue_after(600_000 * MS);
    let work = next(&queue).await;
    assert_eq!((start.elapsed(), work.attempt()), (600_000 * MS, 1));
    work.fail_for(7000 * MS);
    let _again = next(&queue).await;
    assert_eq!(start.elapsed(), 607_000 * MS);
}

#[tokio::test(start_paused = true)]
async fn an_item_added_from_outside_with_the_limiter_backs_off() {
    let limiter = Box::new(Exponential {
        base: 100 * MS,
        max: 1000 * MS,
    });
    let queue = WorkQueue::new(Config {
        limiter,
        ..Config::default()
    });
    let start = Instant::now();
    queue.add_rate_limited("a");
    queue.add_rate_limited("a");
    assert_eq!(next(&queue).await.attempt(), 3);
    assert_eq!(start.elapsed(), 100 * MS, "the earlier of the two waits");
    queue.forget(&"a");
    assert_eq!(queue.failures(&"a"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_delay_longer_than_any_timer_is_still_kept() {
    let queue = queue();
    let start = Instant::now();
    let week = Duration::from_hours(7 * 24);
    queue.add_after("never", Duration::MAX);
    queue.add_after("a", week);
    assert_eq!(*next(&queue).await, "a");
    assert_eq!(start.elapsed(), week);
}

#[tokio::test(start_paused = true)]
async fn the_hand_out_limit_spaces_out_what_many_workers_take() {
    let hand_out = Some(Bucket::new(100 * MS, 2));
    let queue = WorkQueue::new(Config {
        hand_out,
        ..Config::default()
    });
    let start = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..3 {
        let queue: WorkQueue<u32> = queue.clone();
        workers.spawn(async move {
            let mut times = Vec::new();
            while let Some(work) = queue.next().await {
                times.push(start.elapsed());
                work.succeed();
            }
            times
        });
    }
    tokio::task::yield_now().await;
    for item in 0..6 {
        queue.add(item);
    }
    queue.shut_down();
    let mut times = workers.join_all().await.concat();
    times.sort();
    assert_eq!(times, [0, 0, 100, 200, 300, 400].map(|ms| MS * ms));
}

#[tokio::test(start_paused = true)]
async fn shutdown_lets_all_waiting_workers_go() {
    let queue = queue();
    let mut workers = JoinSet::new();
    for _ in 0..4 {
        let queue = queue.clone();
        workers.spawn(async move { queue.next().await.is_none() });
    }
    tokio::task::yield_now().await;
    queue.add_after("dropped", MS);
    queue.shut_down();
    queue.shut_down();
    assert!(queue.is_shut_down());
    assert_eq!(workers.join_all().await, [true; 4]);
    queue.add("late");
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn shutdown_hands_out_what_is_queued_first() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    queue.shut_down();
    assert_eq!(queue.len(), 2);
    next(&queue).await.succeed();
    drop(next(&queue).await);
    assert!(queue.next().await.is_none(), "a failure is not repeated");
}

#[tokio::test(start_paused = true)]
async fn a_drain_returns_when_everything_queued_is_done() {
    let queue = queue();
    let done = Arc::new(Mutex::new(Vec::new()));
    queue.add("a");
    let first = next(&queue).await;
    queue.add("a"); // again, while it runs
    queue.add("b");
    let mut tasks = JoinSet::new();
    let (worker, log) = (queue.clone(), Arc::clone(&done));
    tasks.spawn(async move {
        sleep(10 * MS).await;
        log.lock().push(*first);
        first.succeed();
        while let Some(work) = worker.next().await {
            sleep(10 * MS).await;
            log.lock().push(*work);
            work.succeed();
        }
    });
    let start = Instant::now();
    queue.shut_down_with_drain().await;
    assert_eq!(*done.lock(), ["a", "b", "a"]);
    assert_eq!(start.elapsed(), 30 * MS);
    tasks.join_all().await;
}

#[tokio::test(start_paused = true)]
async fn during_a_drain_idle_workers_stay_for_what_runs_again() {
    let queue = queue();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    let mut tasks = JoinSet::new();
    for _ in 0..2 {
        let queue = queue.clone();
        tasks.spawn(async move { queue.next().await.map(Work::succeed).is_some() });
    }
    let drain = queue.clone();
    tasks.spawn(async move {
        drain.shut_down_with_drain().await;
        true
    });
    sleep(MS).await;
    work.succeed();
    let mut got = timeout(MS, tasks.join_all()).await.expect("all end");
    got.sort_unstable();
    assert_eq!(
        got,
        [false, true, true],
        "one worker got it, the other was let go"
    );
}

#[tokio::test(start_paused = true)]
async fn a_drain_of_an_idle_queue_returns_at_once_and_can_be_forced_otherwise() {
    let idle = queue();
    idle.add_after("dropped", MS);
    timeout(MS, idle.shut_down_with_drain())
        .await
        .expect("nothing to wait for");

    let queue = queue();
    queue.add("a");
    let work = next(&queue).await;
    assert!(timeout(MS, queue.shut_down_with_drain()).await.is_err());
    let drain = queue.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { drain.shut_down_with_drain().await });
    sleep(MS).await;
    queue.shut_down();
    timeout(MS, tasks.join_all())
        .await
        .expect("released by force");
    work.succeed();
}

#[tokio::test(start_paused = true)]
async fn an_endless_supply_of_items_does_not_starve_other_tasks() {
    let queue: WorkQueue<u64> = WorkQueue::default();
    let worker = queue.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(work) = worker.next().await {
            worker.add(*work + 1);
            work.succeed();
        }
    });
    queue.add(0_u64);
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    queue.shut_down();
    tasks.join_all().await;
}

#[derive(Default)]
struct Sink(Mutex<Vec<Metric>>);

impl MetricsSink for Sink {
    fn record(&self, metric: Metric) {
        self.0.lock().push(metric);
    }
}

#[tokio::test(start_paused = true)]
async fn metrics_reach_the_sink_under_client_go_names() {
    let sink = Arc::new(Sink::default());
    let metrics: Arc<dyn MetricsSink> = Arc::<Sink>::clone(&sink);
    let queue = WorkQueue::new(Config {
        metrics: Some(metrics),
        ..Config::default()
    });
    queue.add("a");
    sleep(3 * MS).await;
    let work = next(&queue).await;
    sleep(4 * MS).await;
    assert_eq!(queue.stats().longest_running, 4 * MS);
    drop(work);
    let seen = std::mem::take(&mut *sink.0.lock());
    let expected = [
        Metric::Adds(1),
        Metric::QueueDuration(3 * MS),
        Metric::Retries(1),
        Metric::WorkDuration(4 * MS),
    ];
    assert_eq!(seen, expected);
    let names: Vec<_> = seen.iter().map(Metric::name).collect();
    let expected = [
        "workqueue_adds_total",
        "workqueue_queue_duration_seconds",
        "workqueue_retries_total",
        "workqueue_work_duration_seconds",
    ];
    assert_eq!(names, expected);
}
