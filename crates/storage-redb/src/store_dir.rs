//! `StoreDir`: the directory of a store: its files and its lock.
//!
//! A new store is created under a temporary name and renamed when it is complete, so a crash leaves
//! no partial store. Two processes never access the files at the same time.

use crate::StoreError;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FILE: &str = "kubist.redb";
const UNFINISHED: &str = "kubist.redb.unfinished";
const LOGS: [&str; 2] = ["kubist.log.0", "kubist.log.1"];
const LOCK: &str = "kubist.lock";

/// The header of every redb file.
const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";

/// A locked directory, until this and all its clones are dropped.
#[derive(Clone, Debug)]
pub(crate) struct StoreDir {
    dir: PathBuf,
    _lock: Arc<Lock>,
}

/// A locked file. The operating system releases it when the process ends. It is also unlocked
/// explicitly, because a process that is being forked has the file open for a moment as well.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // If unlocking fails, closing the file releases it.
        self.0.unlock().ok();
    }
}

impl StoreDir {
    /// Creates the directory for its owner only, unless it exists.
    pub(crate) fn create(dir: &Path) -> Result<Self, StoreError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(dir)
            .map_err(|error| StoreError::io(dir, error))?;
        Self::lock(dir)
    }

    /// A directory that has a store.
    pub(crate) fn existing(dir: &Path) -> Result<Self, StoreError> {
        let file = dir.join(FILE);
        match fs::metadata(&file) {
            Ok(_) => Self::lock(dir),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::NotFound {
                path: dir.to_path_buf(),
            }),
            Err(error) => Err(StoreError::io(&file, error)),
        }
    }

    fn lock(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(LOCK);
        let lock = open(&path).map_err(|error| StoreError::io(&path, error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                dir: dir.to_path_buf(),
                _lock: Arc::new(Lock(lock)),
            }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
                path: dir.to_path_buf(),
            }),
            Err(TryLockError::Error(error)) => Err(StoreError::io(&path, error)),
        }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// Returns the store's file; `None` if there is no store yet.
    pub(crate) fn open(&self) -> Result<Option<File>, StoreError> {
        let path = self.file();
        let mut file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path, error)),
        };
        let mut magic = [0; MAGIC.len()];
        match file.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => Ok(Some(file)),
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
                Err(StoreError::io(&path, error))
            }
            _ => Err(StoreError::Foreign { path }),
        }
    }

    /// Reports whether there are logs.
    pub(crate) fn has_logs(&self) -> bool {
        LOGS.iter().any(|name| self.dir.join(name).exists())
    }

    /// Opens the logs, and creates those that are missing.
    pub(crate) fn logs(&self) -> Result<[File; 2], StoreError> {
        let log = |name: &str| {
            let path = self.dir.join(name);
            open(&path).map_err(|error| StoreError::io(&path, error))
        };
        let logs = [log(LOGS[0])?, log(LOGS[1])?];
        let synced = self.sync();
        synced.map_err(|error| StoreError::io(&self.dir, error))?;
        Ok(logs)
    }

    /// The path of the logs in errors.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.dir.join(LOGS[0])
    }

    /// Creates an empty file for a new store, to be [finished](Self::finish).
    pub(crate) fn begin(&self) -> Result<(File, PathBuf), StoreError> {
        let path = self.dir.join(UNFINISHED);
        let removed = match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => open(&path),
        };
        match removed {
            Ok(file) => Ok((file, path)),
            Err(error) => Err(StoreError::io(&path, error)),
        }
    }

    /// Reports whether a directory is empty or missing.
    pub(crate) fn is_empty(dir: &Path) -> Result<bool, StoreError> {
        match fs::read_dir(dir) {
            Ok(mut entries) => Ok(entries.next().is_none()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            Err(error) => Err(StoreError::io(dir, error)),
        }
    }

    /// Removes an unfinished store that was [begun](Self::begin), and the lock: the directory is
    /// empty again.
    pub(crate) fn abandon(self) {
        // Leftovers are reported at the next attempt.
        for name in [UNFINISHED, LOCK] {
            fs::remove_file(self.dir.join(name)).ok();
        }
        fs::remove_dir(&self.dir).ok();
    }

    /// Renames a new, closed store to its final name.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        let renamed = fs::rename(self.dir.join(UNFINISHED), self.file());
        renamed
            .and_then(|()| self.sync())
            .map_err(|error| StoreError::io(&self.dir, error))
    }

    /// Makes directory entries durable.
    #[cfg(unix)]
    fn sync(&self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a file; a new one is for its owner only.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
