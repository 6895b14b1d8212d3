//! Restores a store from a backup: complete, verified, and at a revision above all that clients may
//! have seen.
//!
//! Writes after the backup are lost, but clients may have seen their revisions. So the restored
//! store is at a much higher revision, as upstream recommends for etcd (`--bump-revision`), and
//! everything before counts as compacted: an earlier watch starts over with a list instead of
//! mistaking other writes for those it has seen.

use crate::format::{self, LEASES, META, VERSIONS, meta};
use crate::store::{builder, initialize};
use crate::store_dir::StoreDir;
use crate::{Restored, Store, StoreError};
use kubist_storage::KvRead;
use kubist_storage::backup::Reader;
use kubist_storage::memory::Config;
use kubist_storage::{Event, EventKind, KeyValue, LeaseId, ManualClock, Note, Revision};
use redb::{Database, WriteTransaction};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Default distance of the restored revision from that of the backup: more revisions than a server
/// writes in weeks, as upstream recommends for etcd.
pub const REVISIONS_SKIPPED: u64 = 1_000_000_000;
/// Lifetime of restored leases. Backups do not have lifetimes; the objects with leases are events,
/// which upstream keeps for an hour.
const LEASE_TTL: Duration = Duration::from_secs(3600);
/// A key that marks the restore. Servers ignore it.
const MARK: &str = "kubist/restored";

impl Store {
    /// Restores a backup into a directory that is empty or missing. The result is complete or
    /// absent, and is verified. Its revision is `skipped` above that of the backup (see
    /// [`REVISIONS_SKIPPED`]); at least one.
    ///
    /// # Errors
    /// The directory is not empty, the backup is corrupt or truncated, or the file system fails.
    pub fn restore<R: Read>(
        dir: &Path,
        backup: &mut Reader<R>,
        skipped: u64,
    ) -> Result<Restored, StoreError> {
        let failed = |error| StoreError::Backup {
            source: Box::new(error),
        };
        restore(dir, backup.revision(), skipped, &mut || {
            backup.next().map_err(failed)
        })
    }

    /// Restores from another store, such as one that [`backup`](Self::backup) created, after
    /// verifying all of it.
    ///
    /// # Errors
    /// Those of [`restore`](Self::restore), or the other store is corrupt.
    pub fn restore_into(self, dir: &Path, skipped: u64) -> Result<Restored, StoreError> {
        let path = self.path().to_path_buf();
        let kv = self.into_kv(Config::default(), Arc::new(ManualClock::default()))?;
        let no_head = || StoreError::corrupt(&path, "it cannot be read");
        let (tree, revision) = kv.head().ok_or_else(no_head)?;
        let all = kubist_storage::KeyRange::all();
        let mut rows = tree.range(&all);
        restore(dir, revision, skipped, &mut || {
            Ok(rows.next().map(|kv| KeyValue::clone(kv)))
        })
    }
}

/// Returns the next key, or none at the end.
type Next<'a> = dyn FnMut() -> Result<Option<KeyValue>, StoreError> + 'a;

fn restore(
    dir: &Path,
    backed_up: Revision,
    skipped: u64,
    next: &mut Next<'_>,
) -> Result<Restored, StoreError> {
    if !StoreDir::is_empty(dir)? {
        let path = dir.to_path_buf();
        return Err(StoreError::NotEmpty { path });
    }
    let revision = Revision(backed_up.0.saturating_add(skipped.max(1)));
    let dir_lock = StoreDir::create(dir)?;
    let keys = match fill(&dir_lock, revision, next) {
        Ok(keys) => keys,
        Err(error) => {
            dir_lock.abandon();
            return Err(error);
        }
    };
    drop(dir_lock);
    // Verifies that the result can be opened.
    let report = Store::open_existing(dir)?.check()?;
    debug_assert_eq!(report.revision, revision);
    Ok(Restored {
        backed_up,
        revision,
        keys,
    })
}

fn fill(dir_lock: &StoreDir, revision: Revision, next: &mut Next<'_>) -> Result<u64, StoreError> {
    let (file, path) = dir_lock.begin()?;
    let database = builder().create_file(file);
    let database = database.map_err(|error| StoreError::opening(&path, error))?;
    let failed = |error: redb::Error| StoreError::of(&path, error);
    initialize(&database).map_err(failed)?;
    let keys = write_all(&database, &path, revision, next)?;
    drop(database);
    dir_lock.finish()?;
    Ok(keys)
}

fn write_all(
    database: &Database,
    path: &Path,
    revision: Revision,
    next: &mut Next<'_>,
) -> Result<u64, StoreError> {
    let failed = |error: redb::Error| StoreError::of(path, error);
    let write = database
        .begin_write()
        .map_err(|error| failed(error.into()))?;
    let mut keys = 0;
    let mut leases = Leases::default();
    {
        let mut versions = write
            .open_table(VERSIONS)
            .map_err(|error| failed(error.into()))?;
        let mut row = Vec::new();
        let mut put = |kv: KeyValue| {
            let at = kv.mod_revision;
            row.clear();
            format::write(&event(kv), &mut row);
            let before = versions.insert(at.0, &row[..]);
            match before.map_err(|error| failed(error.into()))? {
                None => Ok(()),
                Some(_) => Err(StoreError::Backup {
                    source: format!("two objects were written by revision {at}").into(),
                }),
            }
        };
        while let Some(mut kv) = next()? {
            if kv.key == MARK {
                continue;
            }
            kv.lease = kv.lease.map(|lease| leases.renumbered(lease));
            put(kv)?;
            keys += 1;
        }
        put(mark(revision))?;
    }
    leases.store(&write).map_err(failed)?;
    let numbers = [
        (meta::REVISION, revision.0),
        (meta::COMPACTED, revision.0),
        (meta::LEASES_GRANTED, leases.granted()),
    ];
    store_numbers(&write, numbers).map_err(failed)?;
    write.commit().map_err(|error| failed(error.into()))?;
    Ok(keys)
}

fn store_numbers(write: &WriteTransaction, numbers: [(&str, u64); 3]) -> Result<(), redb::Error> {
    let mut table = write.open_table(META)?;
    for (name, value) in numbers {
        table.insert(name, value)?;
    }
    Ok(())
}

fn event(kv: KeyValue) -> Event {
    Event {
        revision: kv.mod_revision,
        key: kv.key.clone(),
        kind: EventKind::Put(Arc::new(kv)),
        previous: None,
    }
}

/// The first write of a restored store.
fn mark(revision: Revision) -> KeyValue {
    KeyValue {
        key: MARK.into(),
        value: "everything before was restored from a backup".into(),
        create_revision: revision,
        mod_revision: revision,
        version: 1,
        lease: None,
        note: Note::default(),
    }
}

/// The leases of a backup, renumbered, because the ids of another engine may be arbitrarily high.
#[derive(Debug, Default)]
struct Leases(BTreeMap<LeaseId, LeaseId>);

impl Leases {
    fn renumbered(&mut self, lease: LeaseId) -> LeaseId {
        let next = i64::try_from(self.0.len() + 1).unwrap_or(i64::MAX);
        *self.0.entry(lease).or_insert(LeaseId(next))
    }

    fn granted(&self) -> u64 {
        self.0.len() as u64
    }

    fn store(&self, write: &WriteTransaction) -> Result<(), redb::Error> {
        let mut table = write.open_table(LEASES)?;
        let ttl = u64::try_from(LEASE_TTL.as_nanos()).unwrap_or(u64::MAX);
        for lease in self.0.values() {
            table.insert(lease.0, ttl)?;
        }
        Ok(())
    }
}
