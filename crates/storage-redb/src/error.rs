//! `StoreError`: errors for users; each names the path.

use redb::{CompactionError, DatabaseError, StorageError};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Why a store cannot be opened, checked, compacted, copied or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The stored data is corrupt or inconsistent.
    #[error("{} is damaged", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There already is a store at the destination.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file was created by another program.
    #[error("{} is not a store of Kubist", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was created by a later version.
    #[error("{} has format {found}; this version knows up to {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest supported format.
        known: u64,
    },
    /// Another process, or another part of this one, has the store open.
    #[error("{} is in use by another process", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A file system error.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A backup cannot be restored.
    #[error("cannot restore the backup")]
    Backup {
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The destination of a restore is not empty.
    #[error("{} is not empty", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// There is no store.
    #[error("there is no store in {}", path.display())]
    NotFound {
        /// The directory.
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

    /// Converts redb's error for a file with redb's header.
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

/// Reports whether the content of the file is at fault: it is truncated or invalid.
fn is_damage(error: &io::Error) -> bool {
    let kind = error.kind();
    kind == io::ErrorKind::UnexpectedEof || kind == io::ErrorKind::InvalidData
}
