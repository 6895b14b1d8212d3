//! Why a store cannot be used, for people: each names the place.

use redb::{CompactionError, DatabaseError, StorageError};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Why a store cannot be opened, checked, compacted or copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// What is stored cannot be read back, or contradicts itself.
    #[error("{} is damaged", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is a store already where a new one is to be.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file was made by something else.
    #[error("{} is not a store of Kubist", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was made by a later version.
    #[error("{} has format {found}; this version knows up to {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: u64,
        /// The newest format known.
        known: u64,
    },
    /// Another process, or another part of this one, has the store open.
    #[error("{} is in use by another process", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The file system refuses.
    #[error("cannot use {}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A backup cannot be restored.
    #[error("cannot restore the backup")]
    Backup {
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is something where a store is to be restored.
    #[error("{} is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// There is no store.
    #[error("there is no store in {}", path.display())]
    NotFound {
        /// The folder.
        path: PathBuf,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        Self::Io { path, source }
    }

    pub(crate) fn corrupt(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Corrupt {
            path: path.to_path_buf(),
            source: source.into(),
        }
    }

    /// What redb says about a file that begins like one of its own.
    pub(crate) fn of(path: &Path, error: impl Into<redb::Error>) -> Self {
        match error.into() {
            redb::Error::DatabaseAlreadyOpen => Self::InUse {
                path: path.to_path_buf(),
            },
            redb::Error::Io(source) if !is_damage(&source) => Self::io(path, source),
            error => Self::corrupt(path, error),
        }
    }

    pub(crate) fn opening(path: &Path, error: DatabaseError) -> Self {
        Self::of(path, error)
    }

    pub(crate) fn compacting(path: &Path, error: CompactionError) -> Self {
        match error {
            CompactionError::Storage(error) => Self::of(path, error),
            error => Self::corrupt(path, StorageError::Corrupted(error.to_string())),
        }
    }
}

/// Whether it is the file's content that is at fault: it ends too early, or makes no sense.
fn is_damage(error: &io::Error) -> bool {
    let kind = error.kind();
    kind == io::ErrorKind::UnexpectedEof || kind == io::ErrorKind::InvalidData
}
