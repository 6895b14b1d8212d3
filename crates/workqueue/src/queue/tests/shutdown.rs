//! Shutdown and draining.

use super::*;

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
