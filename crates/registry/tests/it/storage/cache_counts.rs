//! The metrics of a watch cache.

use super::cache::gated;
use kubist_registry::metrics::Count;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn a_cache_counts_its_work() {
    let (s, gate) = gated().await;
    let cacher = s.cacher.clone().expect("it has one");
    let first = s.create("ns", "a").await.revision();
    s.label("ns", "a", "x").await;
    let last = s.delete("ns", "a").await.revision();
    assert_eq!(s.names("ns", "").await.len(), 0);
    let stats = cacher.stats();
    let counts = &cacher.metrics().cache;
    let values = [
        &counts.events_received,
        &counts.events_dispatched,
        &counts.initializations,
        counts.consistent_reads(true, false),
    ];
    assert_eq!(values.map(Count::value), [3, 3, 1, 1]);
    assert_eq!(cacher.metrics().engine_events.value(), 3);
    assert!(stats.revision >= last && last > first);
    gate.hold(true);
    s.create("ns", "b").await;
    assert_eq!(
        s.names("ns", "").await,
        ["ns/b"],
        "storage answers after three seconds"
    );
    assert_eq!(counts.consistent_reads(true, true).value(), 1);
    gate.hold(false);
    for number in 0..100 {
        s.create("ns", &format!("n{number}")).await;
    }
    assert_eq!(s.names("ns", "").await.len(), 101);
    assert_eq!(counts.capacity_increases.value(), 1);
}

#[tokio::test(start_paused = true)]
async fn watchers_that_leave_by_themselves_are_not_counted_as_ended() {
    let (s, _gate) = gated().await;
    let cacher = s.cacher.clone().expect("it has one");
    let start = s.create("ns", "a").await.revision();
    let version = format!("resourceVersion={start}");
    let mut reads_nothing = s.watch("ns", &version).await;
    // More events than the watcher's buffer holds; it leaves while the cache waits for it.
    let leaves = s.watch("ns", &version).await;
    let mut leaving = JoinSet::new();
    leaving.spawn(async move {
        sleep(Duration::from_millis(10)).await;
        drop(leaves);
    });
    for number in 0..40 {
        s.create("ns", &format!("n{number}")).await;
    }
    sleep(Duration::from_secs(1)).await;
    leaving.join_all().await;
    assert_eq!(cacher.stats().watchers, 0);
    assert_eq!(cacher.metrics().cache.watchers_terminated.value(), 1);
    let mut got = 0;
    while let Some(events) = reads_nothing.next().await {
        got += events.len();
    }
    assert!((1..40).contains(&got), "{got} events were kept for it");
}
