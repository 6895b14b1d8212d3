//! Why an operation failed: one enum for each family of operations.
//!
//! A compare that does not hold is not an error; it is `WriteOutcome::Conflict`. What an
//! engine's disk or network did is a `Fault`, the same in every family.

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
    /// History before `compacted` is gone.
    #[error("revision {requested} has been compacted; the oldest readable is {compacted}")]
    Compacted {
        /// The revision asked for.
        requested: Revision,
        /// The oldest revision that can be read; zero where the engine did not say.
        compacted: Revision,
    },
    /// The engine failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The store has not reached that revision.
    #[error("revision {requested} lies ahead of the store's {current}")]
    FutureRevision {
        /// The revision asked for.
        requested: Revision,
        /// Where the store stands; zero where the engine did not say.
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
    /// Keys are not empty.
    #[error("the key is empty")]
    EmptyKey,
    /// The engine failed. The write may have happened with [`FaultKind::Timeout`], and with a
    /// fault of its disk, which opening it again decides.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The lease never was, expired, or was revoked.
    #[error("lease {lease} does not exist")]
    LeaseNotFound {
        /// The lease named in the request.
        lease: LeaseId,
    },
    /// The store holds as much as it may, and this would need more room.
    #[error("the store is full: it holds {bytes} bytes, at most {bytes_max}")]
    Full {
        /// What it holds.
        bytes: usize,
        /// The store's limit.
        bytes_max: usize,
    },
    /// Key and value are larger than the store takes.
    #[error("the request is too large: {bytes} bytes{}", at_most(*.bytes_max))]
    TooLarge {
        /// Size of key and value.
        bytes: usize,
        /// The store's limit; zero where the engine did not say.
        bytes_max: usize,
    },
}

/// Why a watch could not start, or ended. Nothing follows it on the stream.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// An event that the watch has not delivered may be gone: it started too far back, or was
    /// read too slowly.
    #[error("revision {requested} has been compacted; the oldest watchable is {compacted}")]
    Compacted {
        /// The revision that the watch would have to go on from.
        requested: Revision,
        /// The oldest revision that a watch can start from.
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
    /// The lease never was, expired, or was revoked already.
    #[error("lease {lease} does not exist")]
    NotFound {
        /// The lease named in the request.
        lease: LeaseId,
    },
    /// A lease lives for more than no time, and at most as long as the engine allows.
    #[error("a time to live of {ttl:?} is outside the range up to {ttl_max:?}")]
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
        /// Where the last compaction stands; zero where the engine did not say.
        compacted: Revision,
    },
    /// The engine failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The store has not reached that revision.
    #[error("revision {requested} lies ahead of the store's {current}")]
    FutureRevision {
        /// The revision asked for.
        requested: Revision,
        /// Where the store stands; zero where the engine did not say.
        current: Revision,
    },
}

/// A failure of the engine itself: its disk, its network, its peer.
#[derive(Clone)]
pub struct Fault {
    kind: FaultKind,
    source: Arc<dyn Error + Send + Sync>,
}

/// What kind of failure an engine had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// What is stored cannot be read back.
    Corrupt,
    /// No room for another write: the disk or a quota is full. A write may have happened: etcd
    /// carries out the one that crosses its quota, and refuses it in its answer.
    NoSpace,
    /// The engine does not let us: credentials, file modes.
    PermissionDenied,
    /// No answer in time. A write may have happened.
    Timeout,
    /// The engine cannot be reached, or has no leader. A write did not happen.
    Unavailable,
    /// Anything else.
    Unknown,
}

impl Fault {
    /// A failure of `kind`, caused by `source`.
    pub fn new(kind: FaultKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind,
            source: Arc::from(source.into()),
        }
    }

    /// What kind of failure it was.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Whether the same request may succeed later without anybody's doing.
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
