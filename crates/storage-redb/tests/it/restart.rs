//! What a restart preserves: leases, compaction, history, watches.

use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::Config;
use kubist_storage::{
    CompactError, DeleteRequest, Expected, KeyRange, LeaseError, ManualClock, PutRequest,
    RangeRequest, ReadError, Revision, WatchError, WatchRangeRequest, WriteError,
};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use kubist_storage_redb::Store;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn open(dir: &Path, clock: &Arc<ManualClock>) -> JournaledKv {
    let store = Store::open(dir).unwrap();
    let clock = Arc::<ManualClock>::clone(clock);
    store.into_kv(Config::default(), clock).unwrap()
}

async fn put(kv: &JournaledKv, key: &str, value: &str) -> Revision {
    let request = PutRequest::new(key.to_owned(), value.to_owned(), Expected::Any);
    kv.put(request).await.unwrap().committed().unwrap()
}

/// Waits for earlier requests: they are processed in order.
async fn settle(kv: &JournaledKv) {
    let request = DeleteRequest::new("no such key", Expected::Any);
    kv.delete(request).await.unwrap();
}

#[tokio::test]
async fn lease_survives_with_its_keys_and_gets_its_whole_time_again() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let kv = open(folder.path(), &clock);
    let lease = kv.grant(Duration::from_secs(60)).await.unwrap();
    let revoked = kv.grant(Duration::from_secs(60)).await.unwrap();
    let request = PutRequest::new("leased", "1", Expected::Any).lease(lease);
    kv.put(request).await.unwrap();
    kv.revoke(revoked).await.unwrap();
    clock.advance(Duration::from_secs(50));
    kv.close().await;

    let kv = open(folder.path(), &clock);
    assert_eq!(kv.stats().leases, 1);
    let again = kv.revoke(revoked).await;
    assert!(
        matches!(again, Err(LeaseError::NotFound { .. })),
        "{again:?}"
    );
    let request = PutRequest::new("later", "1", Expected::Any).lease(lease);
    kv.put(request).await.unwrap();
    clock.advance(Duration::from_secs(59));
    kv.tick();
    settle(&kv).await;
    assert_eq!(kv.stats().keys, 2, "its time has begun anew");
    clock.advance(Duration::from_secs(1));
    kv.tick();
    settle(&kv).await;
    assert_eq!((kv.stats().keys, kv.stats().leases), (0, 0));
    kv.close().await;

    let kv = open(folder.path(), &clock);
    assert_eq!((kv.stats().keys, kv.stats().leases), (0, 0));
    let request = PutRequest::new("leased", "1", Expected::Any).lease(lease);
    let refused = kv.put(request).await;
    assert!(matches!(refused, Err(WriteError::LeaseNotFound { .. })));
    let next = kv.grant(Duration::from_secs(60)).await.unwrap();
    assert!(next > revoked, "no number is given twice");
}

#[tokio::test]
async fn history_can_be_read_back_to_the_compaction_and_watched_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let kv = open(folder.path(), &clock);
    for round in 0..20 {
        put(&kv, "a", &format!("a{round}")).await;
        put(&kv, "b", &format!("b{round}")).await;
    }
    put(&kv, "old", "never written again").await;
    let compacted = put(&kv, "a", "compacted").await;
    put(&kv, "a", "after").await;
    kv.delete(DeleteRequest::new("b", Expected::Any))
        .await
        .unwrap();
    let last = put(&kv, "b", "again").await;
    kv.compact(compacted).await.unwrap();
    let before = kv
        .watch(WatchRangeRequest::new(KeyRange::all()).from(compacted))
        .await;
    let before = before.unwrap().next().await.unwrap().unwrap();
    kv.close().await;

    let kv = open(folder.path(), &clock);
    assert_eq!(
        (kv.compacted(), kv.revision().await.unwrap()),
        (compacted, last)
    );
    let value = async |key: &'static str, at| {
        let found = kv.get(key.as_bytes(), at).await.unwrap().kv;
        found.map(|kv| kv.value.clone())
    };
    assert_eq!(value("a", Some(compacted)).await.unwrap(), "compacted");
    assert_eq!(value("b", Some(compacted)).await.unwrap(), "b19");
    assert_eq!(value("b", Some(last.previous())).await, None);
    assert_eq!(value("b", None).await.unwrap(), "again");
    assert_eq!(value("old", None).await.unwrap(), "never written again");
    let below = RangeRequest::new(KeyRange::all()).at(compacted.previous());
    let below = kv.range(below).await;
    assert!(
        matches!(below, Err(ReadError::Compacted { .. })),
        "{below:?}"
    );
    let again = kv.compact(compacted).await;
    assert!(matches!(again, Err(CompactError::Compacted { .. })));

    let watch = async |from| {
        let request = WatchRangeRequest::new(KeyRange::all())
            .from(from)
            .previous();
        let mut watch = kv.watch(request).await.unwrap();
        watch.next().await.unwrap()
    };
    assert_eq!(
        watch(compacted).await.unwrap(),
        before,
        "previous values too"
    );
    assert_eq!(watch(last).await.unwrap().events.len(), 1);
    let below = watch(compacted.previous()).await;
    assert!(
        matches!(below, Err(WatchError::Compacted { .. })),
        "{below:?}"
    );
}

#[tokio::test]
async fn compaction_takes_rows_and_the_file_gets_smaller() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let kv = open(folder.path(), &clock);
    let value = "x".repeat(10_000);
    for at in 0..300 {
        put(&kv, &format!("k{}", at % 3), &value).await;
    }
    kv.close().await;
    let full = Store::open(folder.path()).unwrap().check().unwrap();
    assert_eq!(
        (full.versions, full.history_events, full.keys),
        (300, 300, 3)
    );
    let kv = open(folder.path(), &clock);
    kv.compact(Revision(301)).await.unwrap();
    kv.close().await;
    let mut store = Store::open_existing(folder.path()).unwrap();
    let rest = store.check().unwrap();
    // The newest version of each key, and the one that the newest event replaced.
    assert_eq!((rest.versions, rest.history_events, rest.keys), (4, 1, 3));
    assert_eq!(
        (rest.revision, rest.compacted),
        (Revision(301), Revision(301))
    );
    let compaction = store.compact().unwrap();
    assert!(compaction.after * 4 < compaction.before, "{compaction:?}");
    assert_eq!(store.check().unwrap(), rest);
    drop(store);
    assert_eq!(
        put(&open(folder.path(), &clock), "a", "1").await,
        Revision(302)
    );
}

#[tokio::test]
async fn smaller_limits_of_history_hold_from_the_next_write_on() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let kv = open(folder.path(), &clock);
    for _ in 0..100 {
        put(&kv, "a", "1").await;
    }
    kv.close().await;
    let config = Config {
        history_events_max: 10,
        ..Config::default()
    };
    let store = Store::open(folder.path()).unwrap();
    let kv = store.into_kv(config, clock).unwrap();
    put(&kv, "a", "1").await;
    assert_eq!(kv.stats().history_events, 10);
    kv.close().await;
    let report = Store::open(folder.path()).unwrap().check().unwrap();
    assert_eq!((report.versions, report.history_events), (11, 10));
}
