//! `RedbJournal`: batches go to the logs, and from there to the tables; without logs to the tables
//! at once, one synced transaction each.

use crate::change::{self, Changes};
use crate::logs::{Logs, LogsError};
use crate::store::Reopen;
use crate::{Store, StoreError};
use kubist_storage::journal::{Batch, Journal, Replayed};
use kubist_storage::memory::Config;
use kubist_storage::{Fault, FaultKind};
use redb::Database;
use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open store.
pub(crate) struct Opened {
    pub(crate) database: Arc<Database>,
    /// `None` for a store on a backend: batches go to its tables at once.
    pub(crate) logs: Option<Logs>,
}

pub(crate) struct RedbJournal {
    /// `None` after it failed and could not be reopened.
    opened: Option<Opened>,
    /// Its file; `None` for a backend.
    path: Option<PathBuf>,
    /// Holds the lock, which is released after the database is closed.
    reopen: Reopen,
    config: Config,
    sized: TablesSize,
}

/// The size of the tables' file, and the round of the logs with which it was found: a look at it
/// costs as much as a small write.
#[derive(Default)]
struct TablesSize {
    round: AtomicU64,
    bytes: AtomicU64,
}

impl Opened {
    fn commit(&mut self, batch: &Batch) -> Result<(), LogsError> {
        let mut bytes = Vec::new();
        change::encode(batch, &mut bytes);
        if let Some(logs) = &mut self.logs {
            return logs.append(bytes, &self.database);
        }
        let mut changes = Changes::default();
        changes.add(&bytes)?;
        Ok(changes.store(&self.database, None)?)
    }
}

/// A store that is closed in order has everything in its tables.
impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(logs) = &mut self.logs {
            // Otherwise everything is in the logs, and the next start reads it there.
            logs.finish(&self.database).ok();
        }
    }
}

impl RedbJournal {
    pub(crate) fn new(
        opened: Opened,
        path: Option<PathBuf>,
        reopen: Reopen,
        config: Config,
    ) -> Self {
        Self {
            opened: Some(opened),
            path,
            reopen,
            config,
            sized: TablesSize::default(),
        }
    }
}

impl Journal for RedbJournal {
    fn commit(&mut self, batch: &Batch) -> Result<(), Fault> {
        let Some(opened) = &mut self.opened else {
            let why = "the file has not been opened again";
            return Err(Fault::new(FaultKind::Unknown, why));
        };
        opened
            .commit(batch)
            .map_err(|error| Fault::new(kind(&error), error))
    }

    fn is_quick(&self) -> bool {
        let logs = self.opened.as_ref().and_then(|it| it.logs.as_ref());
        logs.is_some_and(Logs::is_quick)
    }

    fn reopens(&self) -> bool {
        true
    }

    fn reopen(&mut self) -> Result<Replayed, Fault> {
        // After an error redb refuses everything, and needs exclusive access to its file.
        self.opened = None;
        self.sized = TablesSize::default();
        let fault = |error: StoreError| Fault::new(kind_of_opening(&error), error);
        let store: Store = (self.reopen)().map_err(fault)?;
        let replayed = store.replay(self.config.clone()).map_err(fault)?;
        self.opened = Some(store.into_opened().map_err(fault)?);
        Ok(replayed)
    }

    fn size_bytes(&self) -> Option<u64> {
        let path = self.path.as_ref()?;
        let logs = self.opened.as_ref().and_then(|it| it.logs.as_ref());
        let of_logs = logs.map_or(0, Logs::file_bytes);
        let round = logs.and_then(Logs::settled).filter(|it| *it > 0);
        if round.is_some_and(|it| it == self.sized.round.load(Ordering::Relaxed)) {
            return Some(self.sized.bytes.load(Ordering::Relaxed) + of_logs);
        }
        let tables = std::fs::metadata(path).ok()?.len();
        self.sized.bytes.store(tables, Ordering::Relaxed);
        self.sized
            .round
            .store(round.unwrap_or(0), Ordering::Relaxed);
        Some(tables + of_logs)
    }
}

impl fmt::Debug for RedbJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedbJournal")
    }
}

fn kind(error: &LogsError) -> FaultKind {
    match error {
        LogsError::Tables(redb::Error::Corrupted(_)) => FaultKind::Corrupt,
        LogsError::Tables(redb::Error::Io(error)) | LogsError::Log(error) => {
            kind_of_io(error.kind())
        }
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
