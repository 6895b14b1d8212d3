//! Errors: one enum for each family of operations.
//!
//! A comparison that fails is not an error; it is `WriteOutcome::Conflict`. A failure of an
//! engine's disk or network is a `Fault`, the same in every family.

use crate::{LeaseId, Revision};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Why a read failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The history before `compacted` is gone.
    #[error("revision {requested} has been compacted; the oldest readable is {compacted}")]
    Compacted {
        /// The requested revision.
        requested: Revision,
        /// The oldest readable revision; zero if the engine did not report it.
        compacted: Revision,
    },
    /// The engine failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The store has not reached the revision.
    #[error("revision {requested} is ahead of the current revision {current}")]
    FutureRevision {
        /// The requested revision.
        requested: Revision,
        /// The current revision; zero if the engine did not report it.
        current: Revision,
    },
}

/// Why a put or a delete failed. Unless the fault says otherwise, nothing was written.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The key is empty.
    #[error("the key is empty")]
    EmptyKey,
    /// The engine failed. The write may have happened with [`FaultKind::Timeout`], and with a disk
    /// fault, which reopening the store resolves.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The lease never existed, expired, or was revoked.
    #[error("lease {lease} does not exist")]
    LeaseNotFound {
        /// The requested lease.
        lease: LeaseId,
    },
    /// The store is at its size limit, and the write needs more space.
    #[error("the store is full: it holds {bytes} bytes, at most {bytes_max}")]
    Full {
        /// Its current size.
        bytes: usize,
        /// Its limit.
        bytes_max: usize,
    },
    /// A transaction keeps the value or the lease of a key that does not exist.
    #[error("the key does not exist")]
    KeyNotFound,
    /// A transaction deletes too many keys.
    #[error("the transaction deletes {keys} keys, at most {keys_max}")]
    TooManyKeys {
        /// Number of keys that it would delete.
        keys: usize,
        /// The limit.
        keys_max: usize,
    },
    /// Key and value exceed the size limit of a request.
    #[error("the request is too large: {bytes} bytes{}", at_most(*.bytes_max))]
    TooLarge {
        /// Their size.
        bytes: usize,
        /// The limit; zero if the engine did not report it.
        bytes_max: usize,
    },
}

/// Why a watch could not start, or ended. It is the last item of the stream.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Events that the watch has not delivered may be gone: it started too far back, or was read
    /// too slowly.
    #[error("revision {requested} has been compacted; the oldest watchable is {compacted}")]
    Compacted {
        /// The revision at which the watch would have to continue.
        requested: Revision,
        /// The oldest revision at which a watch can start.
        compacted: Revision,
    },
    /// The engine failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Why a lease operation failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The engine failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// There is a lease with the requested id.
    #[error("lease {lease} exists already")]
    Exists {
        /// The lease named in the request.
        lease: LeaseId,
    },
    /// The requested id is negative or too high: it would leave no room for ids that the engine
    /// chooses.
    #[error("the lease id {} is outside the range from 1 to {}", lease.0, id_max.0)]
    IdOutOfRange {
        /// The lease named in the request.
        lease: LeaseId,
        /// The highest one that can be requested.
        id_max: LeaseId,
    },
    /// The lease never was, expired, or was revoked already.
    #[error("lease {lease} does not exist")]
    NotFound {
        /// The lease named in the request.
        lease: LeaseId,
    },
    /// A lease lives for more than no time, and at most as long as the engine allows.
    #[error("the lifetime {ttl:?} is outside the range up to {ttl_max:?}")]
    TtlOutOfRange {
        /// What was asked for.
        ttl: Duration,
        /// The engine's limit.
        ttl_max: Duration,
    },
}

/// Why a compaction was refused.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// History was compacted up to there, or further, before.
    #[error("revision {requested} has been compacted already; the store is at {compacted}")]
    Compacted {
        /// The revision asked for.
        requested: Revision,
        /// The latest compaction; zero if the engine did not report it.
        compacted: Revision,
    },
    /// The engine failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The store has not reached the revision.
    #[error("revision {requested} is ahead of the current revision {current}")]
    FutureRevision {
        /// The requested revision.
        requested: Revision,
        /// The current revision; zero if the engine did not report it.
        current: Revision,
    },
}

/// A failure of the engine itself: its disk, its network or its peer.
#[derive(Clone)]
pub struct Fault {
    kind: FaultKind,
    source: Arc<dyn Error + Send + Sync>,
}

/// The kind of an engine failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Stored data is corrupt.
    Corrupt,
    /// The disk or a quota is full. A write may have happened: etcd performs the one that exceeds
    /// its quota, and reports the error.
    NoSpace,
    /// Access is denied: credentials or file modes.
    PermissionDenied,
    /// No response in time. A write may have happened.
    Timeout,
    /// The engine is unreachable, or has no leader. A write did not happen.
    Unavailable,
    /// Any other failure.
    Unknown,
}

impl Fault {
    /// Creates a failure of `kind`, caused by `source`.
    pub fn new(kind: FaultKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind,
            source: Arc::from(source.into()),
        }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Reports whether the same request may succeed later without intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, FaultKind::Timeout | FaultKind::Unavailable)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("kind", &self.kind)
            .field("source", &self.source)
            .finish()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            FaultKind::Corrupt => "stored data is corrupt",
            FaultKind::NoSpace => "the storage engine is out of space",
            FaultKind::PermissionDenied => "the storage engine denied access",
            FaultKind::Timeout => "the storage engine did not answer in time",
            FaultKind::Unavailable => "the storage engine is not available",
            FaultKind::Unknown => "the storage engine failed",
        })
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

fn at_most(bytes_max: usize) -> String {
    match bytes_max {
        0 => String::new(),
        bytes_max => format!(", at most {bytes_max}"),
    }
}
