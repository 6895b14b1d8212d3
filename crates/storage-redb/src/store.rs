//! The store at rest: opened exclusively, verified, and not yet an engine.
//!
//! Everything here reads or writes files and blocks.

use crate::format::{self, FORMAT, LEASES, META, Row, VERSIONS, meta};
use crate::journal::RedbJournal;
use crate::place::Place;
use crate::{Compaction, Report, StoreError};
use kubist_storage::journal::{JournaledKv, Replay, Replayed};
use kubist_storage::memory::Config;
use kubist_storage::{Clock, LeaseId, Revision};
use redb::{Builder, Database, ReadTransaction, ReadableDatabase, ReadableTable, StorageBackend};
use redb::{TableDefinition, TableError, Value};
use std::fmt;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Memory for pages. What is read often is not read from here.
const CACHE_BYTES: usize = 32 << 20;
/// Times that a compaction is repeated while it makes the file smaller.
const COMPACTIONS_MAX: usize = 8;

/// A store that is open and belongs to nobody else. Dropped, it is closed.
pub struct Store {
    database: Database,
    /// What errors name.
    path: PathBuf,
    /// Whether it is a file in a folder, and not a backend.
    is_file: bool,
    repaired: bool,
    reopen: Reopen,
}

/// Opens the same store again, once it is closed. Holds the right to its folder.
pub(crate) type Reopen = Arc<dyn Fn() -> Result<Store, StoreError> + Send + Sync>;

impl Store {
    /// Opens the store in a folder, and makes both if they are not there, for their owner only.
    /// Reads all of it, to verify what is stored. After a crash it repairs what has to be.
    ///
    /// # Errors
    /// Somebody else uses it, it is damaged or something else, or the file system refuses.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let place = Place::create(dir)?;
        let file = place.open()?;
        if file.is_none() {
            let (file, path) = place.begin()?;
            let database = builder().create_file(file);
            let database = database.map_err(|error| StoreError::opening(&path, error))?;
            initialize(&database).map_err(|error| StoreError::of(&path, error))?;
            drop(database);
            place.finish()?;
        }
        Self::in_place(place)
    }

    /// Opens the store in a folder that has one.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if there is none.
    pub fn open_existing(dir: &Path) -> Result<Self, StoreError> {
        Self::in_place(Place::existing(dir)?)
    }

    /// Opens a store on something else than a file, or makes one if it is empty. A clone is the
    /// same backend. For tests.
    ///
    /// # Errors
    /// It is damaged or something else, or the backend refuses.
    pub fn on_backend<B: StorageBackend + Clone + Sync>(backend: B) -> Result<Self, StoreError> {
        let path = PathBuf::from("the backend");
        let again = backend.clone();
        let reopen: Reopen = Arc::new(move || Self::on_backend(again.clone()));
        let (database, repaired) = guarded(&path, || {
            let (builder, repairs) = watched_builder();
            let database = builder.create_with_backend(backend)?;
            if is_empty(&database)? {
                initialize(&database)?;
            }
            verified(database, &repairs)
        })?;
        Self::of_ours(Self {
            database,
            path,
            is_file: false,
            repaired,
            reopen,
        })
    }

    fn in_place(place: Place) -> Result<Self, StoreError> {
        let path = place.file();
        let Some(file) = place.open()? else {
            return Err(StoreError::NotFound { path });
        };
        let (database, repaired) = guarded(&path, || {
            let (builder, repairs) = watched_builder();
            verified(builder.create_file(file)?, &repairs)
        })?;
        Self::of_ours(Self {
            database,
            path,
            is_file: true,
            repaired,
            reopen: Arc::new(move || Self::in_place(place.clone())),
        })
    }

    /// Refuses what another program, or a later version, has made.
    fn of_ours(store: Self) -> Result<Self, StoreError> {
        match store.meta(&store.read()?, meta::FORMAT)? {
            Some(FORMAT) => Ok(store),
            Some(found) => Err(StoreError::Format {
                path: store.path,
                found,
                known: FORMAT,
            }),
            None => Err(StoreError::Foreign { path: store.path }),
        }
    }

    /// The engine that goes on from here, with the limits of `config`. Needs a tokio runtime
    /// when it writes, and [`JournaledKv::run`] beside it.
    ///
    /// # Errors
    /// What is stored is no history.
    pub fn into_kv(self, config: Config, clock: Arc<dyn Clock>) -> Result<JournaledKv, StoreError> {
        let replayed = self.replay(config.clone())?;
        let path = self.is_file.then_some(self.path);
        let journal = RedbJournal::new(self.database, path, self.reopen, config);
        Ok(JournaledKv::new(replayed, clock, journal))
    }

    pub(crate) fn into_database(self) -> Database {
        self.database
    }

    /// Reads all of the store back, as an engine would.
    ///
    /// # Errors
    /// What is stored is no history.
    pub fn check(&self) -> Result<Report, StoreError> {
        let read = self.read()?;
        let (mut versions, mut version_bytes) = (0, 0);
        self.rows(&read, VERSIONS, |_, row| {
            versions += 1;
            version_bytes += row.len() as u64;
            Ok(())
        })?;
        let required = |name| Ok(self.meta(&read, name)?.unwrap_or_default());
        let (format, cluster_id) = (required(meta::FORMAT)?, required(meta::CLUSTER_ID)?);
        let replayed = self.replay(Config::default())?;
        Ok(Report {
            repaired: self.repaired,
            format,
            cluster_id,
            revision: replayed.revision(),
            compacted: replayed.compacted(),
            keys: replayed.keys(),
            history_events: replayed.history_events(),
            leases: replayed.leases(),
            versions,
            version_bytes,
        })
    }

    /// Makes the file as small as what it holds. History stays.
    ///
    /// # Errors
    /// The file system refuses; the store is as it was.
    pub fn compact(&mut self) -> Result<Compaction, StoreError> {
        let before = self.file_bytes()?;
        for _ in 0..COMPACTIONS_MAX {
            let compacted = self.database.compact();
            if !compacted.map_err(|error| StoreError::compacting(&self.path, error))? {
                break;
            }
        }
        let after = self.file_bytes()?;
        Ok(Compaction { before, after })
    }

    /// Copies the store into another folder, where it is whole or not there at all. It can be
    /// opened like this one.
    ///
    /// # Errors
    /// There is a store already, or the file system refuses.
    pub fn backup(&self, dir: &Path) -> Result<(), StoreError> {
        let place = Place::create(dir)?;
        if place.open()?.is_some() {
            return Err(StoreError::Exists { path: place.file() });
        }
        let (file, path) = place.begin()?;
        let copy = builder().create_file(file);
        let copy = copy.map_err(|error| StoreError::opening(&path, error))?;
        let read = self.read()?;
        let into = copy.begin_write();
        let into = into.map_err(|error| StoreError::of(&path, error))?;
        self.copy(&read, &into, META, &path)?;
        self.copy(&read, &into, LEASES, &path)?;
        self.copy(&read, &into, VERSIONS, &path)?;
        into.commit()
            .map_err(|error| StoreError::of(&path, error))?;
        drop(copy);
        place.finish()
    }

    /// What errors name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn copy<K: redb::Key + 'static, V: Value + 'static>(
        &self,
        from: &ReadTransaction,
        into: &redb::WriteTransaction,
        table: TableDefinition<'_, K, V>,
        path: &Path,
    ) -> Result<(), StoreError> {
        let rows = from.open_table(table).map_err(|error| self.error(error))?;
        let copied = into.open_table(table);
        let mut copied = copied.map_err(|error| StoreError::of(path, error))?;
        for row in rows.iter().map_err(|error| self.error(error))? {
            let (key, value) = row.map_err(|error| self.error(error))?;
            copied
                .insert(key.value(), value.value())
                .map_err(|error| StoreError::of(path, error))?;
        }
        Ok(())
    }

    pub(crate) fn replay(&self, config: Config) -> Result<Replayed, StoreError> {
        let read = self.read()?;
        let number = |name| {
            let missing = || StoreError::corrupt(&self.path, format!("the {name} is missing"));
            self.meta(&read, name)?.ok_or_else(missing)
        };
        let granted = i64::try_from(number(meta::LEASES_GRANTED)?);
        let granted = granted.map_err(|error| StoreError::corrupt(&self.path, error))?;
        let mut replay = Replay::new(config, Revision(number(meta::COMPACTED)?), granted);
        self.rows(&read, VERSIONS, |revision, row| {
            match format::read(revision, row)? {
                Row::Put(kv) => replay.put(kv)?,
                Row::Delete { key } => replay.delete(Revision(revision), key)?,
            }
            Ok(())
        })?;
        self.rows(&read, LEASES, |lease, ttl| {
            replay.lease(LeaseId(lease), Duration::from_nanos(ttl))?;
            Ok(())
        })?;
        let replayed = replay.finish(Revision(number(meta::REVISION)?));
        replayed.map_err(|error| StoreError::corrupt(&self.path, error))
    }

    fn rows<K: redb::Key + 'static, V: Value + 'static>(
        &self,
        read: &ReadTransaction,
        table: TableDefinition<'_, K, V>,
        mut each: impl FnMut(
            K::SelfType<'_>,
            V::SelfType<'_>,
        ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<(), StoreError> {
        let rows = read.open_table(table).map_err(|error| self.error(error))?;
        for row in rows.iter().map_err(|error| self.error(error))? {
            let (key, value) = row.map_err(|error| self.error(error))?;
            each(key.value(), value.value())
                .map_err(|error| StoreError::corrupt(&self.path, error))?;
        }
        Ok(())
    }

    fn meta(&self, read: &ReadTransaction, name: &str) -> Result<Option<u64>, StoreError> {
        let table = match read.open_table(META) {
            Ok(table) => table,
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(self.error(error)),
        };
        let row = table.get(name).map_err(|error| self.error(error))?;
        Ok(row.map(|row| row.value()))
    }

    fn read(&self) -> Result<ReadTransaction, StoreError> {
        let read = self.database.begin_read();
        read.map_err(|error| self.error(error))
    }

    fn file_bytes(&self) -> Result<u64, StoreError> {
        if !self.is_file {
            return Ok(0);
        }
        let metadata = fs::metadata(&self.path);
        let metadata = metadata.map_err(|error| StoreError::io(&self.path, error))?;
        Ok(metadata.len())
    }

    fn error(&self, error: impl Into<redb::Error>) -> StoreError {
        StoreError::of(&self.path, error)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

pub(crate) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Reads all pages and compares their checksums. True if something had to be repaired.
fn verified(mut database: Database, repairs: &AtomicBool) -> Result<(Database, bool), redb::Error> {
    let intact = database.check_integrity()?;
    Ok((database, !intact || repairs.load(Ordering::Relaxed)))
}

/// Opens a file whose content is not known yet. redb believes some of what it reads before it
/// has verified it, and then panics: that, too, means that the file is damaged.
fn guarded<T>(path: &Path, open: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(opened) => opened.map_err(|error| StoreError::of(path, error)),
        Err(_) => Err(StoreError::corrupt(path, "its pages make no sense")),
    }
}

/// A builder, and whether it had to repair what it opened.
fn watched_builder() -> (Builder, Arc<AtomicBool>) {
    let (mut builder, repairs) = (builder(), Arc::<AtomicBool>::default());
    let repaired = Arc::clone(&repairs);
    builder.set_repair_callback(move |_| repaired.store(true, Ordering::Relaxed));
    (builder, repairs)
}

fn is_empty(database: &Database) -> Result<bool, redb::Error> {
    let read = database.begin_read()?;
    Ok(read.list_tables()?.next().is_none() && read.list_multimap_tables()?.next().is_none())
}

/// Writes what an empty store holds.
pub(crate) fn initialize(database: &Database) -> Result<(), redb::Error> {
    // The standard library's own randomness; it only has to differ from other stores'.
    let cluster_id = RandomState::new().hash_one(FORMAT);
    let write = database.begin_write()?;
    {
        let mut table = write.open_table(META)?;
        table.insert(meta::FORMAT, FORMAT)?;
        table.insert(meta::CLUSTER_ID, cluster_id)?;
        table.insert(meta::REVISION, Revision::EMPTY_STORE.0)?;
        table.insert(meta::COMPACTED, 0)?;
        table.insert(meta::LEASES_GRANTED, 0)?;
    }
    write.open_table(VERSIONS)?;
    write.open_table(LEASES)?;
    write.commit()?;
    Ok(())
}
