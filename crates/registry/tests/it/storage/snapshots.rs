//! Snapshots of an engine outside of this process: read page by page at one revision, and aborted
//! when the engine compacts that revision.

use super::gate::Gate;
use kubist_storage::backup::Snapshot;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{Expected, KeyRange, Kv, PutRequest, ReadError};
use kubist_storage::{KvMaintenance, KvRead, KvWrite};
use std::sync::Arc;

const KEYS: usize = 1_200;

async fn write(kv: &MemoryKv, value: &'static str) {
    for number in 0..KEYS {
        let put = PutRequest::new(format!("/registry/{number:05}"), value, Expected::Any);
        kv.put(put).await.expect("it is open");
    }
}

#[tokio::test]
async fn a_snapshot_of_a_remote_engine_is_one_state_or_fails() {
    let kv = MemoryKv::default();
    write(&kv, "old").await;
    let gate: Arc<dyn Kv> = Arc::new(Gate::new(Arc::new(kv.clone())));
    assert!(gate.head().is_none(), "it holds nothing here");
    let range = KeyRange::prefix("/registry/");
    let begin = || Snapshot::begin(Arc::clone(&gate), range.clone());
    let mut whole = begin().await.expect("it is open");
    let mut broken = begin().await.expect("it is open");
    let first = broken.page().await.expect("it is open");
    assert!(first.len() < KEYS, "{} keys at once", first.len());
    write(&kv, "new").await;
    let mut keys = Vec::new();
    loop {
        let page = whole.page().await.expect("its revision is there");
        if page.is_empty() {
            break;
        }
        assert!(page.iter().all(|kv| kv.value == "old"));
        keys.extend(page.iter().map(|kv| kv.key.clone()));
    }
    assert_eq!(keys.len(), KEYS);
    assert!(keys.is_sorted());

    let now = kv.revision().await.expect("it is open");
    kv.compact(now).await.expect("it is there");
    let page = broken.page().await;
    assert!(matches!(page, Err(ReadError::Compacted { .. })), "{page:?}");
}
