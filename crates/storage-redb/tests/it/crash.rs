//! Power failures at any moment: unsynced data may be on the disk in part.

use crate::disk::Disk;
use crate::random::Random;
use crate::write_record::{Step, WriteRecord};
use kubist_storage::KvMaintenance;
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::Config;
use kubist_storage::{FaultKind, ManualClock, Revision, WriteError};
use kubist_storage_redb::Store;
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;

const WORKERS: u64 = 6;
const POWER_LOSSES: u64 = 40;
const IMAGES_EACH: u64 = 5;

/// So little history that most writes discard some.
pub(crate) fn config() -> Config {
    Config {
        history_events_max: 30,
        ..Config::default()
    }
}

fn open(disk: Disk) -> JournaledKv {
    let store = Store::on_backend(disk).unwrap();
    store
        .into_kv(config(), Arc::new(ManualClock::default()))
        .unwrap()
}

/// Lets all workers continue from step `from`, until the store fails or all have done `steps`.
pub(crate) async fn write(
    kv: &JournaledKv,
    record: &Arc<Mutex<WriteRecord>>,
    from: u64,
    steps: u64,
) {
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let (kv, record) = (kv.clone(), Arc::clone(record));
        workers.spawn(async move {
            for number in from..from + steps {
                let step = Step { worker, number };
                record.lock().unwrap().begins(step);
                match step.take(&kv).await {
                    Ok(revision) => record.lock().unwrap().answered(step, revision),
                    Err(error) => {
                        let fault = matches!(error, WriteError::Fault(_) | WriteError::Closed);
                        assert!(fault, "{error:?}");
                        return;
                    }
                }
                if number % 50 == 49 && worker == 0 {
                    let revision = kv.stats().revision;
                    drop(kv.compact(Revision(revision.0 - 5)).await);
                }
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn every_image_that_a_power_loss_leaves_opens_with_all_that_was_answered() {
    let mut answers = 0;
    for seed in 0..POWER_LOSSES {
        let mut random = Random::new(seed);
        let disk = Disk::default();
        let record = Arc::new(Mutex::new(WriteRecord::default()));
        let kv = open(disk.clone());
        write(&kv, &record, 0, 10).await;
        disk.fail_after(random.below(600));
        write(&kv, &record, 10, 400).await;
        assert!(kv.is_closed(), "seed {seed}");
        let failure = kv.failure().unwrap();
        assert_eq!(failure.kind(), FaultKind::Unknown);
        answers += record.lock().unwrap().answers;
        kv.close().await;
        for _ in 0..IMAGES_EACH {
            let image = disk.after_power_loss(&mut random);
            let record = record.lock().unwrap().clone();
            check(record, image, seed).await;
        }
    }
    assert!(answers > 2000, "{answers}");
}

/// Opens an image, verifies it, and continues to write.
async fn check(mut record: WriteRecord, image: Vec<u8>, seed: u64) {
    let disk = Disk::holding(image);
    let kv = open(disk.clone());
    record.check(&kv).await;
    let before = kv.stats().revision;
    let record = Arc::new(Mutex::new(record));
    write(&kv, &record, 1000, 3).await;
    assert!(kv.stats().revision > before, "seed {seed}");
    kv.close().await;
    let kv = open(disk);
    let mut record = record.lock().unwrap().clone();
    record.check(&kv).await;
}

#[tokio::test]
async fn power_loss_while_opening_after_a_power_loss_is_one_more() {
    let mut random = Random::new(99);
    for seed in 0..10 {
        let disk = Disk::default();
        let record = Arc::new(Mutex::new(WriteRecord::default()));
        let kv = open(disk.clone());
        disk.fail_after(100 + random.below(400));
        write(&kv, &record, 0, 400).await;
        kv.close().await;
        let mut image = disk.after_power_loss(&mut random);
        for _ in 0..5 {
            let disk = Disk::holding(image);
            disk.fail_after(random.below(12));
            drop(Store::on_backend(disk.clone()));
            image = disk.after_power_loss(&mut random);
        }
        let record = record.lock().unwrap().clone();
        check(record, image, seed).await;
    }
}

#[tokio::test]
async fn repair_after_a_crash_is_reported() {
    let disk = Disk::default();
    let kv = open(disk.clone());
    let record = Arc::new(Mutex::new(WriteRecord::default()));
    write(&kv, &record, 0, 10).await;
    let crashed = Store::on_backend(Disk::holding(disk.seen())).unwrap();
    assert!(crashed.check().unwrap().repaired);
    kv.close().await;
    let closed = Store::on_backend(Disk::holding(disk.seen())).unwrap();
    assert!(!closed.check().unwrap().repaired);
}

#[tokio::test]
async fn writes_that_come_together_are_synced_together() {
    let disk = Disk::default();
    let kv = open(disk.clone());
    let before = disk.changes();
    let record = Arc::new(Mutex::new(WriteRecord::default()));
    write(&kv, &record, 0, 1).await;
    let alone = {
        let before = disk.changes();
        Step {
            worker: 0,
            number: 1,
        }
        .take(&kv)
        .await
        .unwrap();
        disk.changes() - before
    };
    let together = disk.changes() - before - alone;
    assert!(together < alone * 4, "{together} for six, {alone} for one");
}
