//! `StorageError`: storage errors, and their status for each verb.

use crate::storage::upstream_form::lacks_watch_cache_upstream;
use crate::stored::Stored;
use crate::stored::key::InvalidKey;
use kubist_apimachinery::{GroupResource, Status, StatusReason, with_causes};
use kubist_storage::{Fault, FaultKind, LeaseError, ReadError, WatchError, WriteError};

/// An error of a storage operation.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// Nothing is stored under the key.
    #[error(
        "StorageError: key not found, Code: 1, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
    )]
    NotFound {
        /// The full key.
        key: String,
    },
    /// Something is stored under the key already.
    #[error(
        "StorageError: key exists, Code: 2, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
    )]
    Exists {
        /// The full key.
        key: String,
        /// Whether the stored object is being deleted.
        terminating: bool,
    },
    /// A guard of a create has changed; the create must be checked again.
    #[error("a precondition for the creation of {key:?} has changed")]
    GuardChanged {
        /// The full key.
        key: String,
    },
    /// An object to be created already has a resource version.
    #[error("resourceVersion should not be set on objects to be created")]
    VersionOnCreate,
    /// The key does not belong to the resource.
    #[error("{why}: {key:?}")]
    InvalidKey {
        /// The key.
        key: String,
        /// The reason.
        why: &'static str,
    },
    /// The cache is not filled yet.
    #[error("storage is (re)initializing")]
    NotReady {
        /// When to retry, in seconds.
        retry_after: i32,
    },
    /// A precondition does not hold.
    #[error(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
    )]
    InvalidObject {
        /// The full key.
        key: String,
        /// The failed precondition, in upstream's words.
        why: String,
    },
    /// The caller's own code rejected the operation with this status.
    #[error("{0}")]
    Refused(Box<Status>),
    /// The requested version is newer than storage.
    #[error("Too large resource version: {requested}, current: {current}")]
    TooLarge {
        /// The version asked for.
        requested: u64,
        /// The current version of storage.
        current: u64,
    },
    /// The requested version has been compacted.
    #[error("revision {requested} has been compacted")]
    Compacted {
        /// The version asked for.
        requested: u64,
    },
    /// The object exceeds the size limit.
    #[error("the object is too large: {bytes} bytes{}", at_most(*.bytes_max))]
    ObjectTooLarge {
        /// Its size.
        bytes: usize,
        /// The limit; zero if the engine did not report it.
        bytes_max: usize,
    },
    /// The store has reached its size limit.
    #[error("the store is full: it holds {bytes} bytes, at most {bytes_max}; deletions make room")]
    Full {
        /// Its size.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The engine failed.
    #[error("{}", with_causes(.0))]
    Engine(#[source] Fault),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// No lease could be obtained.
    #[error("no lease could be obtained for an object with a lifetime")]
    Lease(#[source] LeaseError),
}

/// The failed operation, for the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has its own statuses")]
pub enum Operation {
    /// A create.
    Create,
    /// A delete.
    Delete,
    /// A read of one object.
    Get,
    /// A list.
    List,
    /// An update.
    Update,
}

impl Operation {
    fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Get => "get",
            Self::List => "list",
            Self::Update => "update",
        }
    }
}

impl StorageError {
    pub(crate) fn exists(key: String, found: &Stored) -> Self {
        let terminating = found
            .object()
            .is_ok_and(|object| object.meta().is_terminating());
        Self::Exists { key, terminating }
    }

    /// Reports whether the failed write may have been carried out nevertheless.
    pub fn may_have_happened(&self) -> bool {
        match self {
            Self::Engine(fault) => {
                matches!(
                    fault.kind(),
                    FaultKind::NoSpace | FaultKind::Timeout | FaultKind::Unknown
                )
            }
            _ => false,
        }
    }

    /// Returns the status of `operation` on the object `name` of `resource`.
    pub fn to_status(&self, operation: Operation, resource: &GroupResource, name: &str) -> Status {
        match self {
            Self::Refused(status) => (**status).clone(),
            Self::NotFound { .. } => Status::not_found(resource, name),
            Self::Exists { terminating, .. } if operation == Operation::Create => {
                let mut status = Status::already_exists(resource, name);
                if *terminating {
                    let message = format!("object is being deleted: {}", status.message);
                    status.message = message.into();
                }
                status
            }
            Self::Exists { .. } | Self::InvalidObject { .. } | Self::GuardChanged { .. } => {
                Status::conflict(resource, name, self)
            }
            Self::TooLarge { requested, current } => {
                // One second, as upstream's cache: the writer may be slightly ahead. Upstream's
                // storage suggests no retry delay.
                let retry_after = i32::from(!lacks_watch_cache_upstream(resource));
                Status::too_large_resource_version(*requested, *current, retry_after)
            }
            Self::Compacted { .. } => {
                Status::expired("The resourceVersion for the provided list is too old.")
            }
            Self::VersionOnCreate => Status::unmapped_error(self.to_string()),
            Self::InvalidKey { .. } => Status::bad_request(self.to_string()),
            Self::NotReady { retry_after } => {
                Status::too_many_requests(self.to_string(), *retry_after)
            }
            Self::ObjectTooLarge { .. } => Status::request_entity_too_large(self),
            Self::Full { .. } => {
                let reason = StatusReason::from("InsufficientStorage");
                Status::failure(507, reason, self.to_string())
            }
            Self::Engine(fault) if fault.is_transient() => {
                Status::server_timeout(resource, operation.word(), 2)
            }
            Self::Engine(_) | Self::Closed | Self::Lease(_) => Status::internal_error(self),
        }
    }
}

impl From<Status> for StorageError {
    fn from(status: Status) -> Self {
        Self::Refused(Box::new(status))
    }
}

impl From<ReadError> for StorageError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Compacted { requested, .. } => Self::Compacted {
                requested: requested.0,
            },
            ReadError::FutureRevision { requested, current } => Self::TooLarge {
                requested: requested.0,
                current: current.0,
            },
            ReadError::Fault(fault) => Self::Engine(fault),
            _ => Self::Closed,
        }
    }
}

impl From<WriteError> for StorageError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::TooLarge { bytes, bytes_max } => Self::ObjectTooLarge { bytes, bytes_max },
            WriteError::Full { bytes, bytes_max } => Self::Full { bytes, bytes_max },
            WriteError::Fault(fault) => Self::Engine(fault),
            WriteError::LeaseNotFound { lease } => Self::Lease(LeaseError::NotFound { lease }),
            _ => Self::Closed,
        }
    }
}

impl From<LeaseError> for StorageError {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Fault(fault) => Self::Engine(fault),
            LeaseError::Closed => Self::Closed,
            error => Self::Lease(error),
        }
    }
}

impl From<WatchError> for StorageError {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::Compacted { requested, .. } => Self::Compacted {
                requested: requested.0,
            },
            WatchError::Fault(fault) => Self::Engine(fault),
            _ => Self::Closed,
        }
    }
}

fn at_most(bytes_max: usize) -> String {
    match bytes_max {
        0 => String::new(),
        bytes_max => format!(", at most {bytes_max}"),
    }
}

impl From<InvalidKey> for StorageError {
    fn from(InvalidKey { key, why }: InvalidKey) -> Self {
        Self::InvalidKey { key, why }
    }
}
