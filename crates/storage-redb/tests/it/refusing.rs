//! A disk that refuses writes for a while: full, or read-only.
//!
//! Cost: a failed write per batch until the store is stalled, then nothing for refused writes, and
//! reopening the store at each attempt, a second to a minute apart.

use crate::disk::Disk;
use crate::write_record::{Step, WriteRecord};
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::Config;
use kubist_storage::{
    Expected, FaultKind, KeyRange, ManualClock, PutRequest, Revision, WatchRangeRequest, WriteError,
};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use kubist_storage_redb::Store;
use std::sync::Arc;
use std::time::Duration;

/// So little history that most writes discard some.
fn config() -> Config {
    Config {
        history_events_max: 30,
        ..Config::default()
    }
}

fn open(disk: &Disk) -> (JournaledKv, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let store = Store::on_backend(disk.clone()).unwrap();
    let kv = store.into_kv(config(), Arc::clone(&clock) as _).unwrap();
    (kv, clock)
}

/// Takes steps until one is refused for lack of space; returns the next step.
async fn write(kv: &JournaledKv, record: &mut WriteRecord, from: u64, steps: u64) -> u64 {
    for number in from..from + steps {
        let step = Step { worker: 0, number };
        record.begins(step);
        match step.take(kv).await {
            Ok(revision) => record.answered(step, revision),
            Err(WriteError::Fault(_)) => return number + 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    from + steps
}

/// Advances time until the store accepts writes again.
async fn recovered(kv: &JournaledKv, clock: &ManualClock) {
    for _ in 0..200 {
        clock.advance(Duration::from_secs(61));
        kv.tick();
        tokio::time::sleep(Duration::from_millis(5)).await;
        if kv.writable().is_ok() {
            return;
        }
    }
    panic!("{:?}", kv.writable());
}

#[tokio::test]
async fn a_full_disk_refuses_writes_serves_reads_and_continues_when_there_is_room() {
    // At any point of a commit.
    for room in 20..60 {
        let disk = Disk::default();
        let mut record = WriteRecord::default();
        let (kv, clock) = open(&disk);
        disk.full_after(room);
        let next = write(&kv, &mut record, 0, 400).await;
        assert_eq!(kv.writable().unwrap_err().kind(), FaultKind::NoSpace);
        assert!(!kv.is_closed() && kv.failure().is_none());

        // Refused at once without disk access; acknowledged data can be read and watched.
        let changes = disk.changes();
        for _ in 0..3 {
            let put = kv.put(PutRequest::new("more", "1", Expected::Any)).await;
            let Err(WriteError::Fault(fault)) = put else {
                panic!("{put:?}");
            };
            assert_eq!(fault.kind(), FaultKind::NoSpace);
            assert_eq!(fault.to_string(), "the storage engine is out of space");
        }
        assert_eq!(disk.changes(), changes);
        // Unacknowledged writes may be found when the disk is reopened.
        record.clone().check(&kv).await;
        let mut watch = kv
            .watch(WatchRangeRequest::new(KeyRange::all()))
            .await
            .unwrap();

        // The retry fails: the disk is still full.
        clock.advance(Duration::from_secs(2));
        kv.tick();
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(kv.writable().unwrap_err().kind(), FaultKind::NoSpace);

        disk.free();
        recovered(&kv, &clock).await;
        record.check(&kv).await;
        let before = kv.stats().revision;
        write(&kv, &mut record, next, 20).await;
        assert!(kv.stats().revision > before, "room {room}");
        record.check(&kv).await;
        let batch = watch.next().await.unwrap().unwrap();
        assert!(batch.revision > Revision::EMPTY_STORE, "it goes on");
        kv.close().await;

        let (kv, _) = open(&disk);
        record.check(&kv).await;
    }
}

#[tokio::test]
async fn a_disk_that_became_read_only_is_said_to_be_and_served() {
    let disk = Disk::default();
    let mut record = WriteRecord::default();
    let (kv, clock) = open(&disk);
    let next = write(&kv, &mut record, 0, 10).await;
    disk.read_only();
    let next = write(&kv, &mut record, next, 10).await;
    let fault = kv.writable().unwrap_err();
    assert_eq!(fault.kind(), FaultKind::PermissionDenied);
    assert_eq!(fault.to_string(), "the storage engine denied access");
    record.clone().check(&kv).await;
    disk.free();
    recovered(&kv, &clock).await;
    record.check(&kv).await;
    write(&kv, &mut record, next, 10).await;
    record.check(&kv).await;
}

#[tokio::test]
async fn a_store_on_a_full_disk_can_be_closed_and_opened() {
    let disk = Disk::default();
    let mut record = WriteRecord::default();
    let (kv, _) = open(&disk);
    disk.full_after(30);
    write(&kv, &mut record, 0, 400).await;
    kv.close().await;
    assert!(kv.is_closed());
    disk.free();
    let (kv, _) = open(&disk);
    record.check(&kv).await;
}

#[tokio::test]
async fn leases_outlive_a_full_disk() {
    let disk = Disk::default();
    let mut record = WriteRecord::default();
    let (kv, clock) = open(&disk);
    let lease = kv.grant(Duration::from_secs(600)).await.unwrap();
    let put = PutRequest::new("leased", "1", Expected::Any).lease(lease);
    kv.put(put).await.unwrap();
    disk.full_after(5);
    write(&kv, &mut record, 0, 400).await;
    disk.free();
    recovered(&kv, &clock).await;
    assert!(kv.get(b"leased", None).await.unwrap().kv.is_some());
    clock.advance(Duration::from_secs(601));
    kv.tick();
    // Requests after the tick are processed after it.
    kv.put(PutRequest::new("next", "1", Expected::Any))
        .await
        .unwrap();
    assert!(kv.get(b"leased", None).await.unwrap().kv.is_none());
}
