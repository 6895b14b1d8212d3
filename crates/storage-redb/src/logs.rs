//! `Logs`: two logs in front of the tables, which take turns.
//!
//! A batch is durable once it is in the active log. When that is long enough, its batches are
//! merged and written to the tables by a thread, in one transaction, while the other log is active.
//! So a write costs an append and a sync, and the tables' cost is that of their pages for thousands
//! of writes. A store that was not closed in order is read from the tables and the logs together.

use crate::change::{Changes, Malformed};
use crate::log::{Log, Records};
use redb::{Database, StorageBackend};
use std::io;
use std::mem;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// A log of this size is written to the tables.
pub(crate) const ROTATE_BYTES: usize = 4 << 20;
/// The size up to which a log grows while the other one is still being written to the tables; then
/// writes wait.
const FULL_BYTES: usize = 32 << 20;

/// Why a log failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogsError {
    #[error(transparent)]
    Log(#[from] io::Error),
    #[error(transparent)]
    Tables(#[from] redb::Error),
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("the log of round {missing} is missing")]
    Missing { missing: u64 },
}

/// Room for a batch that is not synced, below which the logs soon take turns.
const QUICK_ROOM_BYTES: usize = 256 << 10;

/// The two logs of a store.
#[derive(Debug)]
pub(crate) struct Logs {
    /// The store's id.
    store: u64,
    rotate_bytes: usize,
    /// Whether the system keeps what is appended, and writes it when it likes.
    unsynced: bool,
    both: [Log; 2],
    active: usize,
    /// Whether the active log has a round of its own. Until then all that is in the logs is in the
    /// tables as well.
    begun: bool,
    /// The last round.
    round: u64,
    /// The batches of the active log.
    pending: Vec<Vec<u8>>,
    /// Writes those of the other log to the tables.
    folding: Option<JoinHandle<Result<(), LogsError>>>,
}

impl Logs {
    /// Opens the logs of a store, and writes what the tables lack to them. `folded` is the last
    /// round in the tables.
    pub(crate) fn recover(
        files: [Box<dyn StorageBackend>; 2],
        database: &Database,
        (store, folded): (u64, u64),
        rotate_bytes: usize,
    ) -> Result<Self, LogsError> {
        let [first, second] = files.map(|file| Log::open(file, store));
        let (first, second) = (first?, second?);
        let mut found: Vec<(u64, Records)> = Vec::new();
        let mut logs = Vec::new();
        for (log, records) in [first, second] {
            if log.round() > folded {
                found.push((log.round(), records));
            }
            logs.push(log);
        }
        found.sort_by_key(|it| it.0);
        let mut round = folded;
        for (number, _) in &found {
            round += 1;
            if *number != round {
                return Err(LogsError::Missing { missing: round });
            }
        }
        let batches = found.iter().flat_map(|(_, records)| &records.0);
        fold(batches, database, round, folded)?;
        let both: [Log; 2] = logs.try_into().map_err(|_| io::Error::other("two logs"))?;
        Ok(Self {
            store,
            rotate_bytes,
            unsynced: false,
            both,
            active: 0,
            begun: false,
            round,
            pending: Vec::new(),
            folding: None,
        })
    }

    /// The same logs, whose files are not synced.
    pub(crate) fn unsynced(self) -> Self {
        Self {
            unsynced: true,
            ..self
        }
    }

    /// Reports whether the next small batch is an append and no more.
    pub(crate) fn is_quick(&self) -> bool {
        let used = self.both[self.active].used();
        self.unsynced && self.begun && used + QUICK_ROOM_BYTES <= self.rotate_bytes
    }

    /// Appends a batch. It is durable when this returns.
    ///
    /// # Errors
    /// Whether it is durable is unknown; the logs must be opened again.
    pub(crate) fn append(
        &mut self,
        batch: Vec<u8>,
        database: &Arc<Database>,
    ) -> Result<(), LogsError> {
        if !self.begun || self.both[self.active].used() + batch.len() > self.rotate_bytes {
            self.rotate(database)?;
        }
        self.both[self.active].append(&batch)?;
        self.pending.push(batch);
        Ok(())
    }

    /// The last round, if no earlier one is being written to the tables: as long as it is the same,
    /// the tables do not change.
    pub(crate) fn settled(&self) -> Option<u64> {
        let folds = self.folding.as_ref().is_some_and(|it| !it.is_finished());
        (!folds).then_some(self.round)
    }

    /// Bytes of both files.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.both.iter().map(Log::file_bytes).sum()
    }

    /// Writes everything to the tables.
    pub(crate) fn finish(&mut self, database: &Database) -> Result<(), LogsError> {
        self.join()?;
        let batches = mem::take(&mut self.pending);
        if batches.is_empty() {
            return Ok(());
        }
        self.begun = false;
        fold(&batches, database, self.round, 0)
    }

    /// Makes the other log the active one, unless it is still needed and this one may grow.
    fn rotate(&mut self, database: &Arc<Database>) -> Result<(), LogsError> {
        if self.begun {
            let is_busy = self.folding.as_ref().is_some_and(|it| !it.is_finished());
            if is_busy && self.both[self.active].used() < FULL_BYTES {
                return Ok(());
            }
            self.join()?;
            let (batches, round) = (mem::take(&mut self.pending), self.round);
            let database = Arc::clone(database);
            let folding = thread::Builder::new().name("kubist-journal".to_owned());
            let folding = folding.spawn(move || fold(&batches, &database, round, 0));
            self.folding = Some(folding?);
            self.active = 1 - self.active;
        }
        self.round += 1;
        self.both[self.active].begin(self.store, self.round)?;
        self.begun = true;
        Ok(())
    }

    /// Waits until the other log is in the tables.
    fn join(&mut self) -> Result<(), LogsError> {
        match self.folding.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(folded)) => folded,
            Some(Err(_)) => Err(io::Error::other("the journal's thread panicked").into()),
        }
    }
}

/// Writes batches to the tables, as all up to a round; nothing if that is there already.
fn fold<'a>(
    batches: impl IntoIterator<Item = &'a Vec<u8>>,
    database: &Database,
    round: u64,
    folded: u64,
) -> Result<(), LogsError> {
    if round == folded {
        return Ok(());
    }
    let mut changes = Changes::default();
    for batch in batches {
        changes.add(batch)?;
    }
    changes.store(database, Some(round))?;
    Ok(())
}
