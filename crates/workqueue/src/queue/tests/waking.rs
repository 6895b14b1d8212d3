//! Which worker wakes when: additions, delays and cancelled workers.

use super::*;

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
    sleep(MS).await; // one owns the timer for it, and must wake for an earlier one
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
        .expect("a worker owned the timer");
    assert_eq!(taken.expect("one task").expect("no panic"), "a");
}

/// Contract WORK-11.
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
        queue.add("a"); // wakes the one that waited last, which never returns
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
async fn a_delay_longer_than_any_timer_is_still_kept() {
    let queue = queue();
    let start = Instant::now();
    let week = Duration::from_secs(7 * 24 * 3600);
    queue.add_after("never", Duration::MAX);
    queue.add_after("a", week);
    assert_eq!(*next(&queue).await, "a");
    assert_eq!(start.elapsed(), week);
}

#[tokio::test(start_paused = true)]
async fn the_hand_out_limit_spaces_out_what_many_workers_take() {
    let dispatch_limit = Some(Bucket::new(100 * MS, 2));
    let queue = WorkQueue::new(Config {
        dispatch_limit,
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
