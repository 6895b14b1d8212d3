//! The memory engine against the conformance suite, and its specific behaviour.

use kubist_storage::conformance::Subject;
use kubist_storage::conformance_suite;
use kubist_storage::memory::{Config, MemoryKv};
use kubist_storage::{DeleteRequest, Expected, KeyRange, ManualClock, PutRequest, RangeRequest};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use kubist_storage::{ReadError, Revision, WatchError, WatchRangeRequest, WriteError};
use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

fn subject() -> Ready<Subject> {
    let kv = MemoryKv::default();
    let mut tasks = JoinSet::new();
    let runner = kv.clone();
    tasks.spawn(async move { runner.run().await });
    ready(Subject::new(Arc::new(kv), "/check/", tasks))
}

conformance_suite!(#[tokio::test(start_paused = true)] => subject());

fn manual(config: Config) -> (MemoryKv, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    (
        MemoryKv::new(config, Arc::<ManualClock>::clone(&clock)),
        clock,
    )
}

async fn put(kv: &MemoryKv, key: &str, value: &str) -> Revision {
    let request = PutRequest::new(key.to_owned(), value.to_owned(), Expected::Any);
    kv.put(request).await.unwrap().committed().unwrap()
}

#[tokio::test]
async fn first_write_of_an_empty_store_has_revision_two() {
    let kv = MemoryKv::default();
    assert_eq!(kv.revision().await.unwrap(), Revision(1));
    let empty = kv
        .range(RangeRequest::new(KeyRange::all()).at(Revision(1)))
        .await
        .unwrap();
    assert_eq!((empty.kvs.len(), empty.revision), (0, Revision(1)));
    assert_eq!(put(&kv, "a", "1").await, Revision(2));
    assert_eq!(kv.compacted(), Revision::ZERO);
}

#[tokio::test]
async fn a_store_in_the_place_of_another_refuses_what_only_that_one_knew() {
    let begin = Revision(1_000_000);
    let clock = Arc::new(ManualClock::default());
    let kv = MemoryKv::beginning_at(begin, Config::default(), clock);
    assert_eq!(kv.revision().await.unwrap(), begin);
    for at in [None, Some(begin)] {
        let mut request = RangeRequest::new(KeyRange::all());
        request.at = at;
        assert_eq!(kv.range(request).await.unwrap().revision, begin);
    }
    assert_eq!(put(&kv, "a", "1").await, begin.next());
    let before = RangeRequest::new(KeyRange::all()).at(Revision(57));
    assert!(matches!(
        kv.range(before).await,
        Err(ReadError::Compacted { .. })
    ));
    let watch = |from| kv.watch(WatchRangeRequest::new(KeyRange::all()).from(from));
    let mut of_another = watch(Revision(58)).await.unwrap();
    assert!(matches!(
        of_another.next().await,
        Some(Err(WatchError::Compacted { .. }))
    ));
    let mut own = watch(begin.next()).await.unwrap();
    let batch = own.next().await.unwrap().unwrap();
    assert_eq!(batch.events.len(), 1);
}

#[tokio::test]
async fn history_is_bounded_by_number_of_events() {
    let (kv, _) = manual(Config {
        history_events_max: 10,
        ..Config::default()
    });
    for at in 0..100 {
        put(&kv, &format!("k{}", at % 3), "1").await;
    }
    let stats = kv.stats();
    assert_eq!((stats.history_events, stats.keys), (10, 3));
    assert_eq!(
        (stats.revision, stats.compacted),
        (Revision(101), Revision(92))
    );
    assert!(kv.get(b"k0", Some(Revision(92))).await.is_ok());
    let below = kv.get(b"k0", Some(Revision(91))).await;
    assert!(matches!(
        below,
        Err(ReadError::Compacted {
            compacted: Revision(92),
            ..
        })
    ));
}

#[tokio::test]
async fn history_is_bounded_by_bytes_but_keeps_the_newest_event() {
    let (kv, _) = manual(Config {
        history_bytes_max: 100_000,
        ..Config::default()
    });
    let value = "x".repeat(10_000);
    for _ in 0..50 {
        put(&kv, "a", &value).await;
    }
    let stats = kv.stats();
    assert!(
        stats.history_bytes <= 100_000 && stats.history_events >= 4,
        "{stats:?}"
    );
    put(&kv, "a", &"x".repeat(200_000)).await;
    assert_eq!(kv.stats().history_events, 1);
}

#[tokio::test]
async fn history_is_bounded_by_age_at_a_tick() {
    let config = Config {
        history_age: Duration::from_secs(60),
        ..Config::default()
    };
    let (kv, clock) = manual(config);
    let mut at_second = Vec::new();
    for _ in 0..120 {
        at_second.push(put(&kv, "a", "1").await);
        kv.tick();
        clock.advance(Duration::from_secs(1));
    }
    let compacted = kv.compacted();
    assert!(
        compacted > at_second[50] && compacted <= at_second[60],
        "{compacted}"
    );
}

#[tokio::test]
async fn watcher_that_fell_behind_ends_and_an_idle_one_does_not() {
    let (kv, _) = manual(Config {
        history_events_max: 10,
        ..Config::default()
    });
    let range = |prefix: &'static str| WatchRangeRequest::new(KeyRange::prefix(prefix));
    let mut slow = kv.watch(range("busy/")).await.unwrap();
    let mut idle = kv.watch(range("quiet/")).await.unwrap();
    for _ in 0..100 {
        put(&kv, "busy/a", "1").await;
    }
    let error = slow.next().await.unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            WatchError::Compacted {
                compacted: Revision(92),
                ..
            }
        ),
        "{error:?}"
    );
    assert!(slow.next().await.is_none());
    let written = put(&kv, "quiet/a", "1").await;
    assert_eq!(
        idle.next().await.unwrap().unwrap().events[0].revision,
        written
    );
}

#[tokio::test]
async fn compaction_under_a_watcher_takes_only_what_it_has_not_read() {
    let (kv, _) = manual(Config::default());
    let mut read = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    let mut unread = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    put(&kv, "a", "1").await;
    put(&kv, "a", "2").await;
    assert_eq!(read.next().await.unwrap().unwrap().events.len(), 2);
    let third = put(&kv, "a", "3").await;
    kv.compact(third).await.unwrap();
    assert_eq!(
        read.next().await.unwrap().unwrap().events[0].revision,
        third
    );
    assert!(matches!(
        unread.next().await,
        Some(Err(WatchError::Compacted { .. }))
    ));
}

#[tokio::test]
async fn batches_are_bounded_by_number_and_bytes_but_never_empty() {
    let (kv, _) = manual(Config {
        batch_events_max: 3,
        batch_bytes_max: 1000,
        ..Config::default()
    });
    let mut watch = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    for size in [1, 1, 1, 1, 600, 600, 5000] {
        put(&kv, &format!("k{}", kv.stats().revision), &"x".repeat(size)).await;
    }
    let mut sizes = Vec::new();
    while sizes.iter().sum::<usize>() < 7 {
        sizes.push(watch.next().await.unwrap().unwrap().events.len());
    }
    assert_eq!(sizes, [3, 2, 1, 1]);
}

#[tokio::test]
async fn request_limit_is_what_the_configuration_says() {
    let (kv, _) = manual(Config {
        request_bytes_max: 10,
        ..Config::default()
    });
    put(&kv, "key", "1234567").await;
    let request = PutRequest::new("key", "12345678", Expected::Any);
    let error = kv.put(request).await.unwrap_err();
    assert!(
        matches!(
            error,
            WriteError::TooLarge {
                bytes: 11,
                bytes_max: 10
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "the request is too large: 11 bytes, at most 10"
    );
}

#[tokio::test]
async fn closed_store_ends_watches_and_refuses_everything() {
    let (kv, _) = manual(Config::default());
    let mut watch = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    let lease = kv.grant(Duration::from_secs(1)).await.unwrap();
    kv.close();
    assert!(kv.is_closed());
    assert!(matches!(watch.next().await, Some(Err(WatchError::Closed))));
    assert!(watch.next().await.is_none());
    assert!(matches!(kv.get(b"a", None).await, Err(ReadError::Closed)));
    assert!(matches!(kv.revision().await, Err(ReadError::Closed)));
    let request = PutRequest::new("a", "1", Expected::Any);
    assert!(matches!(kv.put(request).await, Err(WriteError::Closed)));
    let request = DeleteRequest::new("a", Expected::Any);
    assert!(matches!(kv.delete(request).await, Err(WriteError::Closed)));
    assert!(kv.grant(Duration::from_secs(1)).await.is_err());
    assert!(kv.revoke(lease).await.is_err());
    assert!(kv.compact(Revision(1)).await.is_err());
    assert!(matches!(
        kv.watch(WatchRangeRequest::new(KeyRange::all())).await,
        Err(WatchError::Closed)
    ));
    kv.tick();
}

#[tokio::test]
async fn fork_shares_the_past_and_not_the_future() {
    let (kv, clock) = manual(Config::default());
    let first = put(&kv, "a", "1").await;
    let lease = kv.grant(Duration::from_secs(5)).await.unwrap();
    kv.put(PutRequest::new("b", "1", Expected::Any).lease(lease))
        .await
        .unwrap();
    let fork = kv.fork();
    put(&kv, "a", "original").await;
    put(&fork, "a", "fork").await;
    assert_eq!(
        kv.get(b"a", None).await.unwrap().kv.unwrap().value,
        "original"
    );
    assert_eq!(
        fork.get(b"a", None).await.unwrap().kv.unwrap().value,
        "fork"
    );
    assert_eq!(
        fork.get(b"a", Some(first)).await.unwrap().kv.unwrap().value,
        "1"
    );
    clock.advance(Duration::from_secs(6));
    fork.tick();
    assert!(fork.get(b"b", None).await.unwrap().kv.is_none());
    assert!(kv.get(b"b", None).await.unwrap().kv.is_some());
}

#[tokio::test]
async fn lease_of_many_keys_ends_completely() {
    let (kv, clock) = manual(Config::default());
    let lease = kv.grant(Duration::from_secs(5)).await.unwrap();
    for at in 0..1000 {
        let request = PutRequest::new(format!("k{at}"), "1", Expected::Any).lease(lease);
        kv.put(request).await.unwrap();
    }
    clock.advance(Duration::from_millis(4_999));
    kv.tick();
    assert_eq!(kv.stats().keys, 1000);
    clock.advance(Duration::from_millis(1));
    kv.tick();
    let stats = kv.stats();
    assert_eq!(
        (stats.keys, stats.leases, stats.revision),
        (0, 0, Revision(2001))
    );
}

#[tokio::test(start_paused = true)]
async fn run_ends_once_the_store_is_closed() {
    let kv = MemoryKv::default();
    let mut tasks = JoinSet::new();
    let runner = kv.clone();
    tasks.spawn(async move { runner.run().await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(tasks.try_join_next().is_none());
    kv.close();
    tasks.join_next().await.unwrap().unwrap();
}
