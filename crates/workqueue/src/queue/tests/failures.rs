//! Items whose workers fail, panic or are cancelled.

use super::*;

/// Contract WORK-3.
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

/// Contract WORK-3.
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

/// Contract WORK-3.
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
    work.fail_retry_after(7000 * MS);
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
