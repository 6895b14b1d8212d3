//! Stores restored from backups: complete, at a revision above all earlier ones, or absent.

use kubist_storage::backup::{Reader, Snapshot, Writer};
use kubist_storage::memory::{Config, MemoryKv};
use kubist_storage::{
    Expected, KeyRange, Kv, LeaseId, ManualClock, PutRequest, Revision, WatchError,
    WatchRangeRequest,
};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use kubist_storage_redb::{REVISIONS_SKIPPED, Store, StoreError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Ten keys: one replaced, one deleted, one with a lease.
async fn origin() -> Arc<MemoryKv> {
    let kv = MemoryKv::new(Config::default(), Arc::new(ManualClock::default()));
    for number in 0..10 {
        let put = PutRequest::new(format!("/registry/{number}"), "first", Expected::Absent);
        kv.put(put).await.unwrap();
    }
    let put = PutRequest::new("/registry/1", "second", Expected::Any);
    kv.put(put).await.unwrap();
    let delete = kubist_storage::DeleteRequest::new("/registry/2", Expected::Any);
    kv.delete(delete).await.unwrap();
    let lease = kv.grant(Duration::from_secs(10)).await.unwrap();
    let put = PutRequest::new("/registry/event", "soon gone", Expected::Absent).lease(lease);
    kv.put(put).await.unwrap();
    Arc::new(kv)
}

async fn backup(kv: Arc<MemoryKv>) -> Vec<u8> {
    let mut snapshot = Snapshot::begin(kv, KeyRange::all()).await.unwrap();
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(snapshot.revision(), &mut bytes);
    loop {
        let page = snapshot.page().await.unwrap();
        if page.is_empty() {
            writer.finish(&mut bytes);
            return bytes;
        }
        for kv in page {
            writer.put(&kv, &mut bytes);
        }
    }
}

fn restore(bytes: &[u8], dir: &Path, skipped: u64) -> Result<u64, StoreError> {
    let mut reader = Reader::open(bytes).unwrap();
    Store::restore(dir, &mut reader, skipped).map(|restored| restored.revision.0)
}

#[tokio::test]
async fn restored_store_has_everything_at_a_higher_revision() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("new");
    let kv = origin().await;
    let bytes = backup(Arc::clone(&kv)).await;
    let original = kv.revision().await.unwrap().0;
    let revision = restore(&bytes, &dir, REVISIONS_SKIPPED).unwrap();
    assert_eq!(revision, original + REVISIONS_SKIPPED);

    let clock = Arc::new(ManualClock::default());
    let store = Store::open_existing(&dir).unwrap();
    let new = store
        .into_kv(Config::default(), Arc::<ManualClock>::clone(&clock))
        .unwrap();
    assert_eq!(new.revision().await.unwrap(), Revision(revision));
    let size = new.size_bytes().await.unwrap();
    let file = std::fs::metadata(dir.join("kubist.redb")).unwrap().len();
    assert_eq!(size, Some(file), "metrics show it");
    let all = |kv: &dyn Kv| kv.head().unwrap().0;
    let prefix = KeyRange::prefix("/registry/");
    let (old, tree) = (all(&*kv), all(&new));
    let before: Vec<_> = old.range(&prefix).collect();
    let after: Vec<_> = tree.range(&prefix).collect();
    assert_eq!(before.len(), 10);
    assert_eq!(before, after, "the same keys, values and revisions");

    let from = WatchRangeRequest::new(prefix.clone()).from(Revision(original));
    let mut watch = new.watch(from).await.unwrap();
    let begun = watch.next().await;
    assert!(
        matches!(begun, Some(Err(WatchError::Compacted { .. }))),
        "{begun:?}"
    );
    let from = WatchRangeRequest::new(prefix).from(Revision(revision).next());
    let mut watch = new.watch(from).await.unwrap();
    let put = PutRequest::new("/registry/1", "third", Expected::Revision(Revision(12)));
    let written = new.put(put).await.unwrap().committed();
    assert_eq!(written, Some(Revision(revision + 1)));
    let batch = watch.next().await.unwrap().unwrap();
    assert_eq!(batch.revision, Revision(revision + 1));

    // Keys with a lease live for an hour, and new leases have other ids.
    let lease = new.grant(Duration::from_secs(60)).await.unwrap();
    assert_eq!(lease, LeaseId(2));
    clock.advance(Duration::from_secs(3_500));
    new.tick();
    let event = b"/registry/event";
    assert!(new.get(event, None).await.unwrap().kv.is_some());
    clock.advance(Duration::from_secs(110));
    while new.get(event, None).await.unwrap().kv.is_some() {
        new.tick();
        tokio::task::yield_now().await;
    }
    new.close().await;
}

#[tokio::test]
async fn backup_of_a_restored_store_is_restored_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let bytes = backup(origin().await).await;
    let revision = restore(&bytes, &first, 100).unwrap();
    let restored = Store::open_existing(&first)
        .unwrap()
        .restore_into(&second, 100);
    let restored = restored.unwrap();
    assert_eq!(restored.backed_up, Revision(revision));
    assert_eq!(
        (restored.revision, restored.keys),
        (Revision(revision + 100), 10)
    );
    let report = Store::open_existing(&second).unwrap().check().unwrap();
    assert_eq!(
        (report.revision, report.leases),
        (Revision(revision + 100), 1)
    );
    // The keys, and the mark where the history begins.
    assert_eq!(
        (report.keys, report.compacted),
        (11, Revision(revision + 100))
    );
}

#[tokio::test]
async fn nothing_is_left_of_a_backup_that_is_not_whole() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("new");
    let bytes = backup(origin().await).await;
    for len in [30, 100, bytes.len() - 33, bytes.len() - 1] {
        let error = restore(&bytes[..len], &dir, 1).unwrap_err();
        assert!(matches!(error, StoreError::Backup { .. }), "{error}");
        assert!(!dir.exists(), "{len}");
    }
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("mine"), "kept").unwrap();
    let error = restore(&bytes, &dir, 1).unwrap_err();
    assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
    assert_eq!(std::fs::read(dir.join("mine")).unwrap(), b"kept");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
    // An empty directory is accepted.
    std::fs::remove_file(dir.join("mine")).unwrap();
    assert!(restore(&bytes, &dir, 1).is_ok());
}
