//! Round trips of backups; truncated and corrupt ones are refused.

use super::*;
use crate::memory::{Config, MemoryKv};
use crate::{Expected, KeyRange, KeyValue, Kv, ManualClock, Note, PutRequest, Revision};
use crate::{KvMaintenance, KvRead, KvWrite};
use bytes::Bytes;
use std::sync::Arc;

async fn store(keys: u64) -> Arc<MemoryKv> {
    let config = Config {
        history_events_max: 1,
        ..Config::default()
    };
    let kv = MemoryKv::new(config, Arc::new(ManualClock::default()));
    for number in 0..keys {
        let key = format!("/registry/{number:04}");
        let value = vec![b'v'; 5_000];
        let put = PutRequest::new(key, value, Expected::Absent);
        kv.put(put).await.expect("it is open");
    }
    Arc::new(kv)
}

async fn written(mut snapshot: Snapshot) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::begin(snapshot.revision(), &mut out);
    loop {
        let page = snapshot.page().await.expect("it is open");
        if page.is_empty() {
            break;
        }
        for kv in page {
            writer.put(&kv, &mut out);
        }
    }
    writer.finish(&mut out);
    out
}

fn read(bytes: &[u8]) -> Result<(Revision, Vec<KeyValue>), BackupError> {
    let mut reader = Reader::open(bytes)?;
    let mut all = Vec::new();
    while let Some(kv) = reader.next()? {
        all.push(kv);
    }
    Ok((reader.revision(), all))
}

#[tokio::test]
async fn snapshot_is_one_state_whatever_is_written_and_compacted_meanwhile() {
    let kv = store(600).await;
    let as_engine: Arc<dyn Kv> = Arc::<MemoryKv>::clone(&kv);
    let mut snapshot = Snapshot::begin(as_engine, KeyRange::prefix("/registry/"))
        .await
        .expect("it is open");
    let first = snapshot.page().await.expect("it is open");
    assert!(first.len() < 600, "a page is about a mebibyte");
    for number in 0..600 {
        let put = PutRequest::new(format!("/registry/{number:04}"), "new", Expected::Any);
        kv.put(put).await.expect("it is open");
    }
    kv.tick();
    assert!(kv.compacted() > snapshot.revision());
    let mut seen = first;
    loop {
        let page = snapshot.page().await.expect("it is held");
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen.len(), 600);
    assert!(seen.iter().all(|kv| kv.value.len() == 5_000));
    assert!(seen.is_sorted_by(|a, b| a.key < b.key));
}

#[tokio::test]
async fn backup_reads_back_as_it_was_written() {
    let kv = store(3).await;
    let expected: Vec<KeyValue> = {
        let all = crate::RangeRequest::new(KeyRange::all());
        let found = kv.range(all).await.expect("it is open").kvs;
        found.iter().map(|kv| KeyValue::clone(kv)).collect()
    };
    let snapshot = Snapshot::begin(kv, KeyRange::all()).await;
    let bytes = written(snapshot.expect("it is open")).await;
    assert_eq!(read(&bytes).expect("it is whole"), (Revision(4), expected));
}

#[tokio::test]
async fn truncated_and_modified_backups_are_refused() {
    let kv = store(2).await;
    let snapshot = Snapshot::begin(kv, KeyRange::all()).await;
    let bytes = written(snapshot.expect("it is open")).await;
    for len in (0..bytes.len()).filter(|len| *len < 200 || len % 97 == 0) {
        assert!(read(&bytes[..len]).is_err(), "{len}");
    }
    for at in (0..bytes.len()).filter(|at| *at < 200 || at % 97 == 0) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        assert!(read(&damaged).is_err(), "{at}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(read(&longer), Err(BackupError::Damaged { .. })));
    assert!(matches!(read(b"something"), Err(BackupError::Foreign)));
    let cut = read(&bytes[..bytes.len() - 41]);
    assert!(matches!(cut, Err(BackupError::BrokenOff { records: 2 })));
}

#[test]
fn keys_out_of_order_are_refused() {
    let mut out = Vec::new();
    let mut writer = Writer::begin(Revision(9), &mut out);
    for key in ["b", "a"] {
        let kv = KeyValue {
            key: Bytes::from(key),
            value: Bytes::new(),
            create_revision: Revision(2),
            version: 3,
            mod_revision: Revision(3),
            lease: None,
            note: Note::default(),
        };
        writer.put(&kv, &mut out);
    }
    writer.finish(&mut out);
    assert!(matches!(read(&out), Err(BackupError::Damaged { .. })));
}
