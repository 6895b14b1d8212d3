//! The directory and its files: refusals and their errors, backups, corruption.

use crate::disk::Disk;
use crate::random::Random;
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::Config;
use kubist_storage::{DeleteRequest, Expected, KeyRange, ManualClock, PutRequest};
use kubist_storage::{KvMaintenance, KvRead, KvWrite};
use kubist_storage::{RangeRequest, RangeResponse, Revision};
use kubist_storage_redb::{Store, StoreError};
use redb::{Database, ReadableDatabase as _, TableDefinition};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const FILE: &str = "kubist.redb";
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("kubist.meta");
const VERSIONS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("kubist.versions");
const LEASES: TableDefinition<'_, i64, u64> = TableDefinition::new("kubist.leases");

fn into_kv(store: Store) -> JournaledKv {
    let clock = Arc::new(ManualClock::default());
    store.into_kv(Config::default(), clock).unwrap()
}

/// Writes data of every kind.
async fn fill(kv: &JournaledKv) {
    for at in 0..60 {
        let request = PutRequest::new(format!("k{}", at % 7), vec![at; 300], Expected::Any);
        kv.put(request).await.unwrap();
    }
    kv.delete(DeleteRequest::new("k3", Expected::Any))
        .await
        .unwrap();
    kv.compact(Revision(30)).await.unwrap();
    let lease = kv.grant(Duration::from_secs(60)).await.unwrap();
    let request = PutRequest::new("leased", "1", Expected::Any).lease(lease);
    kv.put(request).await.unwrap();
    kv.close().await;
}

async fn filled(dir: &Path) {
    fill(&into_kv(Store::open(dir).unwrap())).await;
}

async fn content(kv: &JournaledKv) -> RangeResponse {
    let all = RangeRequest::new(KeyRange::all());
    kv.range(all).await.unwrap()
}

fn error_of(dir: &Path) -> StoreError {
    Store::open(dir).expect_err("it is refused")
}

/// Modifies a store directly with redb.
fn tamper(dir: &Path, change: impl FnOnce(&redb::WriteTransaction)) {
    let database = Database::open(dir.join(FILE)).unwrap();
    let write = database.begin_write().unwrap();
    change(&write);
    write.commit().unwrap();
}

#[tokio::test]
async fn store_that_is_open_is_not_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let kv = into_kv(Store::open(folder.path()).unwrap());
    assert!(matches!(error_of(folder.path()), StoreError::InUse { .. }));
    kv.close().await;
    assert!(Store::open(folder.path()).is_ok(), "closed is closed");
    let kv = into_kv(Store::open(folder.path()).unwrap());
    drop(kv);
    assert!(Store::open(folder.path()).is_ok(), "dropped is closed");
}

#[test]
fn file_of_something_else_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    for content in [&b""[..], b"x", b"not a database, and longer than its magic"] {
        fs::write(&file, content).unwrap();
        let error = error_of(folder.path());
        assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
        let text = format!("{} is not a store of Kubist", file.display());
        assert_eq!(error.to_string(), text);
        assert_eq!(fs::read(&file).unwrap(), content);
    }
}

#[test]
fn database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(folder.path().join(FILE)).unwrap();
    let write = database.begin_write().unwrap();
    let table: TableDefinition<'_, u64, u64> = TableDefinition::new("theirs");
    write.open_table(table).unwrap().insert(1, 1).unwrap();
    write.commit().unwrap();
    drop(database);
    let error = error_of(folder.path());
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    let database = Database::open(folder.path().join(FILE)).unwrap();
    let read = database.begin_read().unwrap();
    let tables = read.list_tables().unwrap();
    assert_eq!(tables.count(), 1);
}

#[tokio::test]
async fn later_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    tamper(folder.path(), |write| {
        let mut meta = write.open_table(META).unwrap();
        meta.insert("format", 3).unwrap();
    });
    let error = error_of(folder.path());
    let (found, known) = match error {
        StoreError::Format { found, known, .. } => (found, known),
        error => panic!("{error:?}"),
    };
    assert_eq!((found, known), (3, 2));
}

#[tokio::test]
async fn store_of_the_first_format_is_read_and_marked_as_one_of_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    tamper(folder.path(), |write| {
        let mut meta = write.open_table(META).unwrap();
        meta.insert("format", 1).unwrap();
    });
    let report = Store::open_existing(folder.path()).unwrap().check();
    let report = report.unwrap();
    assert_eq!((report.format, report.keys), (2, 7));
}

#[tokio::test]
async fn store_that_contradicts_itself_is_refused() {
    type EventKind = fn(&redb::WriteTransaction);
    let changes: [(EventKind, &str); 6] = [
        (
            |write| drop(write.open_table(VERSIONS).unwrap().remove(40).unwrap()),
            "found revision 41 where 40 was expected",
        ),
        (
            |write| drop(write.open_table(VERSIONS).unwrap().remove(63).unwrap()),
            "history ends at revision 62, not at 63",
        ),
        (
            |write| {
                let mut versions = write.open_table(VERSIONS).unwrap();
                versions.insert(40, &b"\x01short"[..]).unwrap();
            },
            "the row of revision 40 is malformed",
        ),
        (
            |write| drop(write.open_table(META).unwrap().remove("revision").unwrap()),
            "the revision is missing",
        ),
        (
            |write| {
                let mut meta = write.open_table(META).unwrap();
                meta.insert("compacted", 31).unwrap();
            },
            "revision 30 contradicts earlier revisions",
        ),
        (
            |write| drop(write.open_table(LEASES).unwrap().insert(9, 1).unwrap()),
            "lease 0000000000000009 is stored but was never granted",
        ),
    ];
    for (change, expected) in changes {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        tamper(folder.path(), change);
        let store = Store::open(folder.path()).unwrap();
        let error = store.check().unwrap_err();
        let StoreError::Corrupt { source, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(source.to_string(), expected);
        let clock = Arc::new(ManualClock::default());
        assert!(store.into_kv(Config::default(), clock).is_err());
    }
}

#[tokio::test]
async fn damaged_file_is_refused_or_unharmed_but_never_served_wrong() {
    let disk = Disk::default();
    fill(&into_kv(Store::on_backend(disk.clone()).unwrap())).await;
    let bytes = disk.seen();
    let kv = into_kv(Store::on_backend(Disk::holding(bytes.clone())).unwrap());
    let (whole, stats) = (content(&kv).await, kv.stats());
    let (mut refused, mut served) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut bytes = bytes.clone();
        if random.below(4) == 0 {
            bytes.truncate(random.index(bytes.len()));
        }
        for _ in 0..random.below(4) {
            if let Some(last) = bytes.len().checked_sub(1) {
                let at = random.index(last + 1);
                bytes[at] ^= 1 << random.below(8);
            }
        }
        let store = Store::on_backend(Disk::holding(bytes));
        let clock = Arc::new(ManualClock::default());
        match store.and_then(|store| store.into_kv(Config::default(), clock)) {
            Err(error) => {
                refused += 1;
                let damage = matches!(error, StoreError::Corrupt { .. });
                assert!(damage, "seed {seed}: {error:?}");
            }
            // A new store begins in an empty file.
            Ok(kv) if kv.stats().revision == Revision(1) => {}
            Ok(kv) => {
                served += 1;
                assert_eq!(content(&kv).await, whole, "seed {seed}");
                assert_eq!(kv.stats(), stats, "seed {seed}");
            }
        }
    }
    assert!(refused > 20 && served > 20, "{refused} {served}");
}

#[tokio::test]
async fn backup_is_a_store_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, copy) = (folder.path().join("data"), folder.path().join("copy"));
    filled(&dir).await;
    let store = Store::open_existing(&dir).unwrap();
    let report = store.check().unwrap();
    assert_eq!(
        (report.format, report.revision.0, report.compacted.0),
        (2, 63, 30)
    );
    assert_eq!((report.keys, report.leases, report.repaired), (7, 1, false));
    store.backup(&copy).unwrap();
    let again = store.backup(&copy).unwrap_err();
    assert!(matches!(again, StoreError::Exists { .. }), "{again:?}");
    let copied = Store::open_existing(&copy).unwrap();
    assert_eq!(copied.check().unwrap(), report);
    let (kv, copied) = (into_kv(store), into_kv(copied));
    assert_eq!(content(&kv).await, content(&copied).await);
    copied
        .put(PutRequest::new("a", "1", Expected::Any))
        .await
        .unwrap();
    assert_eq!(kv.stats().revision, Revision(63));
}

#[test]
fn commands_for_people_make_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("absent");
    let error = Store::open_existing(&dir).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    assert!(!dir.exists());
}

#[test]
fn an_incomplete_store_is_created_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kubist.redb.unfinished"), "half").unwrap();
    let report = Store::open(folder.path()).unwrap().check().unwrap();
    assert_eq!((report.revision, report.keys), (Revision(1), 0));
    let names = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["kubist.lock", FILE]);
}

#[cfg(unix)]
#[test]
fn folder_and_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("data");
    drop(Store::open(&dir).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join(FILE))), (0o700, 0o600));
}

#[test]
fn folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = error_of(&file.join("data"));
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("file/data"));
}
