//! [`Kv`]: what the API server needs of a storage engine.
//!
//! It is the part of etcd v3 that Kubernetes uses, split as etcd's own client is: reads, writes and
//! leases, watches, and maintenance. There are no writes of several keys, and no comparisons other
//! than those of modification revisions.

use crate::memory::Tree;
use crate::{
    CompactError, DeleteRequest, Fault, GetResponse, KvFuture, LeaseError, LeaseId, PutRequest,
    RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError, WatchRangeRequest,
    WriteError, WriteOutcome,
};
use std::fmt;
use std::time::Duration;

/// A revisioned key-value store.
///
/// All operations are linearizable: a read that starts after a write was acknowledged sees it.
///
/// Implemented for every type that implements the four traits. Code that needs only one of them
/// takes that one: an `Arc<dyn Kv>` coerces to it.
pub trait Kv: KvRead + KvWrite + KvWatch + KvMaintenance {}

impl<E: KvRead + KvWrite + KvWatch + KvMaintenance + ?Sized> Kv for E {}

/// Consistent reads, at the current revision or at an earlier one.
pub trait KvRead: fmt::Debug + Send + Sync + 'static {
    /// Reads one key, at the current revision or at an earlier one.
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>>;

    /// Reads a range of keys at one revision, in byte order.
    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>>;

    /// Returns the current revision of the store. It is never lower than that of a write that was
    /// acknowledged before the call.
    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>>;

    /// Returns all current keys and the current revision, if the engine holds them in this process.
    /// `None` for remote engines, and for a closed one.
    fn head(&self) -> Option<(Tree, Revision)> {
        None
    }
}

/// Compare-and-set writes, and the leases that end keys.
pub trait KvWrite: fmt::Debug + Send + Sync + 'static {
    /// Writes a key if its current version is the expected one.
    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>>;

    /// Deletes a key if its current version is the expected one. An absent key is always a conflict
    /// without a current version, and leaves the revision of the store as it is.
    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>>;

    /// Grants a lease that expires after `ttl`, or up to two seconds later. Its keys are then
    /// deleted, with ordinary delete events.
    ///
    /// An engine for which leases are expensive may return the same lease to several callers. Such
    /// a lease lives longer than requested by at most a twentieth of its time, and at most a
    /// minute.
    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>>;

    /// Revokes a lease, and deletes all keys that are attached to it.
    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>>;
}

/// Watches of key ranges.
pub trait KvWatch: fmt::Debug + Send + Sync + 'static {
    /// Watches a range of keys. If the start revision is compacted, the first item of the stream
    /// says so; the call itself succeeds.
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>>;

    /// Reports whether watches answer progress requests. It is false for an etcd whose progress
    /// notifications may be ahead of the events; callers that need the latest state then have to
    /// read it. May change while the process runs. Does no I/O.
    fn supports_progress_requests(&self) -> bool {
        true
    }
}

/// Compaction, and the condition of the store.
pub trait KvMaintenance: fmt::Debug + Send + Sync + 'static {
    /// Discards history: reads below `revision`, and watches that start below it, fail afterwards.
    /// Reading at and watching from `revision` itself still works.
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>>;

    /// Returns the latest compaction that this process has seen; zero if none. Does no I/O.
    fn compacted(&self) -> Revision;

    /// Returns how many bytes the store occupies on disk. Default: `None`, for engines that keep
    /// nothing on a disk.
    fn size_bytes(&self) -> KvFuture<'_, Result<Option<u64>, ReadError>> {
        KvFuture::ready(Ok(None))
    }

    /// Reports whether writes are accepted, as far as that is known without a write. Does no I/O.
    ///
    /// # Errors
    /// The reason why every write currently fails while reads may work: the disk is full or
    /// read-only.
    fn writable(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Returns the error of the last write that was refused for lack of space, until there is space
    /// for such a write again. Deletions may be enough to free it. Default: `None`. Does no I/O.
    fn no_space_error(&self) -> Option<WriteError> {
        None
    }
}
