//! Power failures of a store with logs: its three files lose what was not synced, each in its way.

use crate::crash::{config, write};
use crate::disk::Disk;
use crate::random::Random;
use crate::write_record::WriteRecord;
use kubist_storage::ManualClock;
use kubist_storage::journal::JournaledKv;
use kubist_storage_redb::{Store, StoreError};
use std::sync::{Arc, Mutex};

const POWER_LOSSES: u64 = 60;
const IMAGES_EACH: u64 = 4;
/// So few that the logs take turns all the time.
const ROTATE_BYTES: usize = 20_000;

/// The files of a store: its tables and its logs.
#[derive(Clone, Default)]
struct Disks([Disk; 3]);

impl Disks {
    fn store(&self) -> Result<Store, StoreError> {
        let [tables, first, second] = self.0.clone();
        Store::on_backends(tables, [first, second], ROTATE_BYTES)
    }

    fn open(&self) -> JournaledKv {
        let store = self.store().unwrap();
        store
            .into_kv(config(), Arc::new(ManualClock::default()))
            .unwrap()
    }

    fn lose_power(&self) {
        self.0.iter().for_each(|disk| disk.fail_after(0));
    }

    fn after_power_loss(&self, random: &mut Random) -> Self {
        let image = |disk: &Disk| Disk::holding(disk.after_power_loss(random));
        let [tables, first, second] = &self.0;
        let mut image = image;
        Self([image(tables), image(first), image(second)])
    }
}

#[tokio::test]
async fn all_that_was_answered_is_in_the_tables_and_the_logs_after_a_power_loss() {
    let mut answers = 0;
    for seed in 0..POWER_LOSSES {
        let mut random = Random::new(seed);
        let disks = Disks::default();
        let record = Arc::new(Mutex::new(WriteRecord::default()));
        let kv = disks.open();
        write(&kv, &record, 0, 10).await;
        // One of the files fails first; the process notices, and then the power is gone.
        let first = usize::try_from(random.below(3)).unwrap();
        disks.0[first].fail_after(random.below(300));
        write(&kv, &record, 10, 300).await;
        disks.lose_power();
        answers += record.lock().unwrap().answers;
        kv.close().await;
        for _ in 0..IMAGES_EACH {
            let image = disks.after_power_loss(&mut random);
            let record = record.lock().unwrap().clone();
            check(record, &image, seed).await;
        }
    }
    assert!(answers > 5000, "{answers}");
}

/// Opens an image, also a second time without writes, and continues to write.
async fn check(mut record: WriteRecord, disks: &Disks, seed: u64) {
    let kv = disks.open();
    record.check(&kv).await;
    kv.close().await;
    let kv = disks.open();
    record.check(&kv).await;
    let before = kv.stats().revision;
    let record = Arc::new(Mutex::new(record));
    write(&kv, &record, 1000, 3).await;
    assert!(kv.stats().revision > before, "seed {seed}");
    kv.close().await;
    let mut record = record.lock().unwrap().clone();
    record.check(&disks.open()).await;
}

#[tokio::test]
async fn power_loss_while_the_logs_are_read_is_one_more() {
    let mut random = Random::new(7);
    for seed in 0..20 {
        let mut disks = Disks::default();
        let record = Arc::new(Mutex::new(WriteRecord::default()));
        let kv = disks.open();
        disks.0[1].fail_after(50 + random.below(200));
        write(&kv, &record, 0, 200).await;
        disks.lose_power();
        kv.close().await;
        disks = disks.after_power_loss(&mut random);
        for _ in 0..4 {
            let first = usize::try_from(random.below(3)).unwrap();
            disks.0[first].fail_after(random.below(12));
            drop(disks.store());
            disks.lose_power();
            disks = disks.after_power_loss(&mut random);
        }
        let record = record.lock().unwrap().clone();
        check(record, &disks, seed).await;
    }
}

#[tokio::test]
async fn log_that_is_damaged_before_its_end_is_refused() {
    /// More than is written.
    const NEVER_ROTATE: usize = 1 << 30;
    let store = |disks: &Disks| {
        let [tables, first, second] = disks.0.clone();
        Store::on_backends(tables, [first, second], NEVER_ROTATE)
    };
    let disks = Disks::default();
    let record = Arc::new(Mutex::new(WriteRecord::default()));
    let kv = store(&disks).unwrap();
    let kv = kv
        .into_kv(config(), Arc::new(ManualClock::default()))
        .unwrap();
    write(&kv, &record, 0, 3).await;
    let crashed = || Disks(disks.0.clone().map(|disk| Disk::holding(disk.seen())));
    assert!(store(&crashed()).is_ok());
    let mut damaged = crashed();
    let mut log = damaged.0[1].seen();
    log[1024 + 40] ^= 1;
    damaged.0[1] = Disk::holding(log);
    let error = store(&damaged).unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt { .. }), "{error:?}");
    kv.close().await;
}
