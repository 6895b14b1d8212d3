//! Forks of the memory engine, of the present and of the past, against what was recorded.

use kubist_storage::WatchRangeRequest;
use kubist_storage::memory::{Config, MemoryKv};
use kubist_storage::{DeleteRequest, Expected, KeyRange, KeyValue, ManualClock, PutRequest};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite, RangeRequest, ReadError, Revision};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

type Content = Vec<Arc<KeyValue>>;

fn store(config: Config) -> (MemoryKv, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let kv = MemoryKv::new(config, Arc::<ManualClock>::clone(&clock));
    (kv, clock)
}

async fn content(kv: &MemoryKv, at: Option<Revision>) -> Content {
    let mut request = RangeRequest::new(KeyRange::all());
    request.at = at;
    kv.range(request).await.unwrap().kvs
}

async fn put(kv: &MemoryKv, key: String, value: u64) {
    let request = PutRequest::new(key, value.to_string(), Expected::Any);
    kv.put(request).await.unwrap().committed().unwrap();
}

/// Puts and deletes among ten keys; returns the content at each revision.
async fn write(kv: &MemoryKv, writes: u64, forks: bool) -> BTreeMap<Revision, Content> {
    let mut contents = BTreeMap::new();
    for number in 0..writes {
        let key = format!("k{}", number * 7 % 10);
        if number % 3 == 2 {
            let request = DeleteRequest::new(key, Expected::Any);
            kv.delete(request).await.unwrap();
        } else {
            put(kv, key, number).await;
        }
        contents.insert(kv.current_revision(), content(kv, None).await);
        if forks && number % 5 == 0 {
            drop(kv.fork());
        }
    }
    contents
}

fn few_checkpoints() -> Config {
    Config {
        checkpoint_every: NonZeroU64::new(8).unwrap(),
        history_events_max: 60,
        ..Config::default()
    }
}

#[tokio::test]
async fn a_fork_of_each_revision_has_its_content_and_its_past() {
    for forks in [false, true] {
        let (kv, clock) = store(few_checkpoints());
        let contents = write(&kv, 120, forks).await;
        let oldest = kv.compacted();
        assert!(oldest > Revision(2), "history is bounded");
        for (&revision, expected) in &contents {
            let forked = kv.fork_at(revision, Arc::<ManualClock>::clone(&clock));
            if revision < oldest {
                assert!(
                    matches!(forked, Err(ReadError::Compacted { .. })),
                    "{revision:?}"
                );
                continue;
            }
            let fork = forked.unwrap();
            assert_eq!(fork.current_revision(), revision);
            assert_eq!(&content(&fork, None).await, expected, "{revision:?}");
            for (&past, expected) in contents.range(oldest..=revision) {
                assert_eq!(
                    &content(&fork, Some(past)).await,
                    expected,
                    "{past:?} of {revision:?}"
                );
            }
            put(&fork, "new".to_owned(), 1).await;
            assert_eq!(fork.current_revision(), revision.next());
            assert_eq!(&content(&fork, Some(revision)).await, expected);
        }
        let last = contents.last_key_value().unwrap();
        assert_eq!(
            &content(&kv, None).await,
            last.1,
            "the origin is what it was"
        );
        let future = kv.fork_at(last.0.next(), clock);
        assert!(matches!(future, Err(ReadError::FutureRevision { .. })));
    }
}

#[tokio::test]
async fn a_watch_of_a_fork_goes_on_from_a_revision_before_it() {
    let (kv, clock) = store(Config::default());
    write(&kv, 20, false).await;
    let fork = kv.fork_at(Revision(10), clock).unwrap();
    put(&fork, "mine".to_owned(), 1).await;
    put(&kv, "other".to_owned(), 1).await;
    let request = WatchRangeRequest::new(KeyRange::all()).from(Revision(9));
    let mut watch = fork.watch(request).await.unwrap();
    let events = watch.next().await.unwrap().unwrap().events;
    let revisions: Vec<_> = events.iter().map(|it| it.revision.0).collect();
    assert_eq!(revisions, [9, 10, 11]);
    assert_eq!(events[2].key, "mine");
}

#[tokio::test]
async fn leases_end_in_a_fork_as_in_its_origin() {
    let (kv, clock) = store(Config::default());
    let lease = kv.grant(Duration::from_secs(5)).await.unwrap();
    let leased = PutRequest::new("leased", "1", Expected::Any).lease(lease);
    kv.put(leased).await.unwrap();
    let then = kv.current_revision();
    let of = |at| kv.fork_at(at, Arc::<ManualClock>::clone(&clock)).unwrap();
    let alive = of(then);
    clock.advance(Duration::from_secs(4));
    alive.tick();
    assert_eq!(content(&alive, None).await.len(), 1);
    clock.advance(Duration::from_secs(2));
    alive.tick();
    assert!(content(&alive, None).await.is_empty());
    kv.tick();
    // Before the lease ended: it ends again.
    let again = of(then);
    assert_eq!(content(&again, None).await.len(), 1);
    again.tick();
    assert!(content(&again, None).await.is_empty());
}

#[tokio::test]
async fn a_restored_store_has_the_versions_and_no_history() {
    let (kv, clock) = store(Config::default());
    write(&kv, 30, false).await;
    let (revision, kvs) = (kv.current_revision(), content(&kv, None).await);
    let copies = kvs.iter().map(|it| KeyValue::clone(it));
    let restored = MemoryKv::restored(revision, copies, Config::default(), clock);
    assert_eq!(content(&restored, None).await, kvs);
    assert_eq!(restored.current_revision(), revision);
    assert_eq!(content(&restored, Some(revision)).await, kvs);
    let mut request = RangeRequest::new(KeyRange::all());
    request.at = Some(revision.previous());
    let past = restored.range(request).await;
    assert!(matches!(past, Err(ReadError::Compacted { .. })));
    put(&restored, "next".to_owned(), 1).await;
    assert_eq!(restored.current_revision(), revision.next());
}
