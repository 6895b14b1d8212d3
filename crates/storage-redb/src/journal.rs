//! `RedbJournal`: writes batches to the file, one synced transaction each.

use crate::format::{self, LEASES, META, VERSIONS, meta};
use crate::store::Reopen;
use crate::{Store, StoreError};
use kubist_storage::journal::{Batch, Journal, Replayed};
use kubist_storage::memory::Config;
use kubist_storage::{Event, EventKind, Fault, FaultKind, LeaseId};
use redb::ReadableTable as _;
use redb::{Database, StorageError, Table, WriteTransaction};
use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct RedbJournal {
    /// `None` after it failed and could not be reopened.
    database: Option<Database>,
    /// Its file; `None` for a backend.
    path: Option<PathBuf>,
    /// Holds the lock, which is released after the database is closed.
    reopen: Reopen,
    config: Config,
}

impl RedbJournal {
    pub(crate) fn new(
        database: Database,
        path: Option<PathBuf>,
        reopen: Reopen,
        config: Config,
    ) -> Self {
        Self {
            database: Some(database),
            path,
            reopen,
            config,
        }
    }

    fn store(database: &Database, batch: &Batch) -> Result<(), redb::Error> {
        // Durable when `commit` returns, which is redb's default.
        let transaction = database.begin_write()?;
        store_leases(&transaction, batch)?;
        let mut versions = transaction.open_table(VERSIONS)?;
        insert(&mut versions, &batch.written)?;
        remove(&mut versions, &batch.dropped)?;
        drop(versions);
        store_meta(&transaction, batch)?;
        transaction.commit()?;
        Ok(())
    }
}

impl Journal for RedbJournal {
    fn commit(&mut self, batch: &Batch) -> Result<(), Fault> {
        let Some(database) = &self.database else {
            let why = "the file has not been opened again";
            return Err(Fault::new(FaultKind::Unknown, why));
        };
        Self::store(database, batch).map_err(|error| Fault::new(kind(&error), error))
    }

    fn reopens(&self) -> bool {
        true
    }

    fn reopen(&mut self) -> Result<Replayed, Fault> {
        // After an error redb refuses everything, and needs exclusive access to its file.
        self.database = None;
        let fault = |error: StoreError| Fault::new(kind_of_opening(&error), error);
        let store: Store = (self.reopen)().map_err(fault)?;
        let replayed = store.replay(self.config.clone()).map_err(fault)?;
        self.database = Some(store.into_database());
        Ok(replayed)
    }

    fn size_bytes(&self) -> Option<u64> {
        let metadata = std::fs::metadata(self.path.as_ref()?).ok()?;
        Some(metadata.len())
    }
}

impl fmt::Debug for RedbJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedbJournal")
    }
}

fn store_leases(transaction: &WriteTransaction, batch: &Batch) -> Result<(), redb::Error> {
    if batch.granted.is_empty() && batch.ended.is_empty() {
        return Ok(());
    }
    let mut leases = transaction.open_table(LEASES)?;
    for (lease, ttl) in &batch.granted {
        leases.insert(lease.0, nanoseconds(*ttl))?;
    }
    for LeaseId(lease) in &batch.ended {
        leases.remove(lease)?;
    }
    Ok(())
}

fn insert(
    versions: &mut Table<'_, u64, &[u8]>,
    written: &[Arc<Event>],
) -> Result<(), StorageError> {
    let mut row = Vec::new();
    for event in written {
        row.clear();
        format::write(event, &mut row);
        versions.insert(event.revision.0, &row[..])?;
    }
    Ok(())
}

/// Discarding history also deletes the versions that are no longer readable.
fn remove(
    versions: &mut Table<'_, u64, &[u8]>,
    dropped: &[Arc<Event>],
) -> Result<(), StorageError> {
    for event in dropped {
        if let Some(previous) = &event.previous {
            versions.remove(previous.mod_revision.0)?;
        }
        if event.kind == EventKind::Delete {
            versions.remove(event.revision.0)?;
        }
    }
    Ok(())
}

fn store_meta(transaction: &WriteTransaction, batch: &Batch) -> Result<(), redb::Error> {
    let rows = [
        (
            meta::REVISION,
            batch.written.last().map(|event| event.revision.0),
        ),
        (meta::COMPACTED, batch.compacted.map(|revision| revision.0)),
    ];
    let mut table = transaction.open_table(META)?;
    // A client may choose a lower id than those granted before.
    let granted = batch
        .granted
        .iter()
        .map(|(lease, _)| lease.0.unsigned_abs());
    if let Some(granted) = granted.max() {
        let before = table.get(meta::LEASES_GRANTED)?.map_or(0, |it| it.value());
        table.insert(meta::LEASES_GRANTED, granted.max(before))?;
    }
    for (name, value) in rows {
        if let Some(value) = value {
            table.insert(name, value)?;
        }
    }
    Ok(())
}

/// Lifetimes beyond five centuries are truncated.
fn nanoseconds(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_nanos()).unwrap_or(u64::MAX)
}

fn kind(error: &redb::Error) -> FaultKind {
    match error {
        redb::Error::Corrupted(_) => FaultKind::Corrupt,
        redb::Error::Io(error) => kind_of_io(error.kind()),
        _ => FaultKind::Unknown,
    }
}

fn kind_of_opening(error: &StoreError) -> FaultKind {
    match error {
        StoreError::Corrupt { .. } => FaultKind::Corrupt,
        StoreError::Io { source, .. } => kind_of_io(source.kind()),
        _ => FaultKind::Unknown,
    }
}

fn kind_of_io(kind: ErrorKind) -> FaultKind {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            FaultKind::NoSpace
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FaultKind::PermissionDenied,
        _ => FaultKind::Unknown,
    }
}
