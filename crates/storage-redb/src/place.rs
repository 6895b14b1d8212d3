//! The folder of a store: its files, and the right to use them.
//!
//! A new store comes into being under another name and is renamed when it is whole, so a crash
//! leaves no half of one. Two processes never look at the files at the same time.

use crate::StoreError;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FILE: &str = "kubist.redb";
const UNFINISHED: &str = "kubist.redb.unfinished";
const LOCK: &str = "kubist.lock";

/// How every redb file begins.
const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";

/// A folder that nobody else uses, as long as this or a clone is there. A clone is the same right.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    dir: PathBuf,
    _lock: Arc<Lock>,
}

/// A locked file. Given up by the operating system whatever happens to us, and said aloud where we
/// end it: a process that is just being made of this one has the file open too, for a moment.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // What cannot be given up now is when the file is closed.
        self.0.unlock().ok();
    }
}

impl Place {
    /// Makes the folder, if it is not there, for its owner only.
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

    /// A folder that has a store.
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

    /// The store's file; `None` if there is no store yet.
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

    /// An empty file for a new store, to be [finished](Self::finish).
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

    /// Whether there is nothing in a folder, or no folder.
    pub(crate) fn is_empty(dir: &Path) -> Result<bool, StoreError> {
        match fs::read_dir(dir) {
            Ok(mut entries) => Ok(entries.next().is_none()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            Err(error) => Err(StoreError::io(dir, error)),
        }
    }

    /// Removes what was [begun](Self::begin) and not finished, and the lock with it: the folder
    /// is as empty as it was.
    pub(crate) fn abandon(self) {
        // Whatever stays is told to whoever tries again.
        for name in [UNFINISHED, LOCK] {
            fs::remove_file(self.dir.join(name)).ok();
        }
        fs::remove_dir(&self.dir).ok();
    }

    /// Gives a new store, which is closed, its name.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        let renamed = fs::rename(self.dir.join(UNFINISHED), self.file());
        renamed
            .and_then(|()| self.sync())
            .map_err(|error| StoreError::io(&self.dir, error))
    }

    /// Makes names in the folder durable.
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

/// Opens a file, for its owner only if it is new.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
