//! `Store`: an offline store, opened exclusively and verified.
//!
//! Everything here does blocking file I/O.

use crate::format::{self, FORMAT, LEASES, META, Row, VERSIONS, meta};
use crate::journal::{Opened, RedbJournal};
use crate::logs::{Logs, LogsError, ROTATE_BYTES};
use crate::store_dir::StoreDir;
use crate::unsynced::Unsynced;
use crate::{Compaction, Report, StoreError};
use kubist_storage::journal::{JournaledKv, Replay, Replayed};
use kubist_storage::memory::Config;
use kubist_storage::{Clock, LeaseId, Revision};
use redb::backends::FileBackend;
use redb::{Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase, ReadableTable};
use redb::{StorageBackend, TableDefinition, TableError, Value};
use std::fmt;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Size of the page cache. Frequent reads are not served from here.
const CACHE_BYTES: usize = 32 << 20;
/// Maximum number of compaction passes while the file still shrinks.
const COMPACTIONS_MAX: usize = 8;

/// Where the logs of a store are.
#[derive(Debug)]
enum LogsOf {
    /// There are none.
    Backend,
    /// They are created with the first write.
    Dir(StoreDir, Syncing),
    Open(Logs),
}

/// Which writes are synced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syncing {
    Each,
    Never,
}

impl Syncing {
    /// A file as a log writes it.
    fn backend(self, file: File) -> Result<Box<dyn StorageBackend>, DatabaseError> {
        Ok(match self {
            Self::Each => Box::new(FileBackend::new(file)?),
            Self::Never => Box::new(Unsynced::new(file)?),
        })
    }
}

/// A store that is open exclusively. Dropping it closes it.
pub struct Store {
    database: Database,
    logs: LogsOf,
    /// The path in errors.
    path: PathBuf,
    /// Whether it is a file in a directory, and not a backend.
    is_file: bool,
    repaired: bool,
    reopen: Reopen,
}

/// Opens the same store again after it was closed. Holds the lock of the directory.
pub(crate) type Reopen = Arc<dyn Fn() -> Result<Store, StoreError> + Send + Sync>;

impl Store {
    /// Opens the store in a directory; creates both if they are missing, for their owner only.
    /// Reads and verifies everything, and repairs the file after a crash.
    ///
    /// # Errors
    /// The store is in use, corrupt, or of another program, or the file system fails.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_with(dir, Syncing::Each)
    }

    /// Same as [`open`](Self::open), but nothing is synced: acknowledged writes survive a crash of
    /// the process, but not one of the machine, which may even leave a store that cannot be opened.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_unsynced(dir: &Path) -> Result<Self, StoreError> {
        Self::open_with(dir, Syncing::Never)
    }

    fn open_with(dir: &Path, syncing: Syncing) -> Result<Self, StoreError> {
        let dir_lock = StoreDir::create(dir)?;
        let file = dir_lock.open()?;
        if file.is_none() {
            let (file, path) = dir_lock.begin()?;
            let database = builder().create_file(file);
            let database = database.map_err(|error| StoreError::opening(&path, error))?;
            initialize(&database).map_err(|error| StoreError::of(&path, error))?;
            drop(database);
            dir_lock.finish()?;
        }
        Self::in_dir(dir_lock, syncing)
    }

    /// Opens an existing store.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), or there is none.
    pub fn open_existing(dir: &Path) -> Result<Self, StoreError> {
        Self::in_dir(StoreDir::existing(dir)?, Syncing::Each)
    }

    /// Opens a store on a redb backend; creates one if it is empty. Clones share the backend. For
    /// tests.
    ///
    /// # Errors
    /// It is corrupt or of another program, or the backend fails.
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
            logs: LogsOf::Backend,
            path,
            is_file: false,
            repaired,
            reopen,
        })
    }

    /// The same with logs, as a store in a directory has them. They take turns when one has so many
    /// bytes.
    ///
    /// # Errors
    /// Those of [`on_backend`](Self::on_backend), or a log is damaged.
    pub fn on_backends<B>(tables: B, logs: [B; 2], rotate_bytes: usize) -> Result<Self, StoreError>
    where
        B: StorageBackend + Clone + Sync,
    {
        let again = (tables.clone(), logs.clone());
        let store = Self::on_backend(tables)?;
        let files = logs.map(|log| Box::new(log) as Box<dyn StorageBackend>);
        let logs = store.recovered(files, Path::new("the log"), rotate_bytes)?;
        Ok(Self {
            logs: LogsOf::Open(logs),
            reopen: Arc::new(move || {
                let (tables, logs) = again.clone();
                Self::on_backends(tables, logs, rotate_bytes)
            }),
            ..store
        })
    }

    fn in_dir(dir_lock: StoreDir, syncing: Syncing) -> Result<Self, StoreError> {
        let path = dir_lock.file();
        let Some(file) = dir_lock.open()? else {
            return Err(StoreError::NotFound { path });
        };
        let (database, repaired) = guarded(&path, || {
            let (builder, repairs) = watched_builder();
            let database = match syncing {
                Syncing::Each => builder.create_file(file)?,
                Syncing::Never => builder.create_with_backend(Unsynced::new(file)?)?,
            };
            verified(database, &repairs)
        })?;
        let has_logs = dir_lock.has_logs();
        let again = dir_lock.clone();
        let store = Self::of_ours(Self {
            database,
            logs: LogsOf::Dir(dir_lock, syncing),
            path,
            is_file: true,
            repaired,
            reopen: Arc::new(move || Self::in_dir(again.clone(), syncing)),
        })?;
        if has_logs {
            store.with_logs()
        } else {
            Ok(store)
        }
    }

    /// Opens the logs, and writes what the tables lack to them.
    fn with_logs(self) -> Result<Self, StoreError> {
        let LogsOf::Dir(dir_lock, syncing) = &self.logs else {
            return Ok(self);
        };
        let path = dir_lock.log_path();
        let [first, second] = dir_lock.logs()?;
        let open = |file| {
            syncing
                .backend(file)
                .map_err(|error| StoreError::opening(&path, error))
        };
        let logs = self.recovered([open(first)?, open(second)?], &path, ROTATE_BYTES)?;
        let logs = match syncing {
            Syncing::Each => logs,
            Syncing::Never => logs.unsynced(),
        };
        Ok(Self {
            logs: LogsOf::Open(logs),
            ..self
        })
    }

    fn recovered(
        &self,
        files: [Box<dyn StorageBackend>; 2],
        path: &Path,
        rotate_bytes: usize,
    ) -> Result<Logs, StoreError> {
        let read = self.read()?;
        let number = |name| Ok::<_, StoreError>(self.meta(&read, name)?.unwrap_or_default());
        let known = (number(meta::CLUSTER_ID)?, number(meta::LOG)?);
        let logs = Logs::recover(files, &self.database, known, rotate_bytes);
        logs.map_err(|error| match error {
            LogsError::Tables(error) => self.error(error),
            LogsError::Log(error) if error.kind() != ErrorKind::InvalidData => {
                StoreError::io(path, error)
            }
            error => StoreError::corrupt(path, error),
        })
    }

    /// Refuses files of other programs and of later versions.
    fn of_ours(store: Self) -> Result<Self, StoreError> {
        match store.meta(&store.read()?, meta::FORMAT)? {
            Some(FORMAT) => Ok(store),
            Some(format::FORMAT_MIN) => {
                let upgraded = upgrade(&store.database);
                upgraded.map_err(|error| StoreError::of(&store.path, error))?;
                Ok(store)
            }
            Some(found) => Err(StoreError::Format {
                path: store.path,
                found,
                known: FORMAT,
            }),
            None => Err(StoreError::Foreign { path: store.path }),
        }
    }

    /// Turns the store into an engine with the limits of `config`. Writes need a tokio runtime, and
    /// [`JournaledKv::run`] in a task.
    ///
    /// # Errors
    /// The stored history is invalid.
    pub fn into_kv(self, config: Config, clock: Arc<dyn Clock>) -> Result<JournaledKv, StoreError> {
        let replayed = self.replay(config.clone())?;
        let path = self.is_file.then(|| self.path.clone());
        let reopen = Arc::clone(&self.reopen);
        let journal = RedbJournal::new(self.into_opened()?, path, reopen, config);
        Ok(JournaledKv::new(replayed, clock, journal))
    }

    /// Turns it into what a journal writes to.
    pub(crate) fn into_opened(self) -> Result<Opened, StoreError> {
        let store = self.with_logs()?;
        Ok(Opened {
            database: Arc::new(store.database),
            logs: match store.logs {
                LogsOf::Open(logs) => Some(logs),
                LogsOf::Backend | LogsOf::Dir(..) => None,
            },
        })
    }

    /// Replays the whole store, as an engine does.
    ///
    /// # Errors
    /// The stored history is invalid.
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

    /// Shrinks the file to its contents. History is kept.
    ///
    /// # Errors
    /// The file system fails; the store is unchanged.
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

    /// Copies the store into another directory, completely or not at all. The copy can be opened
    /// like this store.
    ///
    /// # Errors
    /// There already is a store, or the file system fails.
    pub fn backup(&self, dir: &Path) -> Result<(), StoreError> {
        let dir_lock = StoreDir::create(dir)?;
        if dir_lock.open()?.is_some() {
            return Err(StoreError::Exists {
                path: dir_lock.file(),
            });
        }
        let (file, path) = dir_lock.begin()?;
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
        dir_lock.finish()
    }

    /// Returns the path for errors.
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

/// Verifies the checksums of all pages. True if something was repaired.
fn verified(mut database: Database, repairs: &AtomicBool) -> Result<(Database, bool), redb::Error> {
    let intact = database.check_integrity()?;
    Ok((database, !intact || repairs.load(Ordering::Relaxed)))
}

/// Opens a file with unknown content. redb trusts some of what it reads before verifying it, and
/// may panic; a panic also means that the file is corrupt.
fn guarded<T>(path: &Path, open: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(opened) => opened.map_err(|error| StoreError::of(path, error)),
        Err(_) => Err(StoreError::corrupt(path, "its pages make no sense")),
    }
}

/// Returns a builder, and whether redb had to repair the file.
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

/// Marks a store of the oldest format as one of the newest: its rows are read as they are, and
/// those written from now on need a reader that knows them.
fn upgrade(database: &Database) -> Result<(), redb::Error> {
    let write = database.begin_write()?;
    write.open_table(META)?.insert(meta::FORMAT, FORMAT)?;
    write.commit()?;
    Ok(())
}

/// Writes the contents of an empty store.
pub(crate) fn initialize(database: &Database) -> Result<(), redb::Error> {
    // The standard library's randomness is sufficient: the id must only differ from those of other
    // stores.
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
