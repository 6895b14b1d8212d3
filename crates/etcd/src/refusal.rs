//! etcd's errors: the codes and texts by which its clients tell them apart.

use kubist_storage::{
    CompactError, Fault, FaultKind, LeaseError, ReadError, WatchError, WriteError,
};
use std::error::Error;
use tonic::{Code, Status};

pub(crate) fn empty_key() -> Status {
    Status::invalid_argument("etcdserver: key is not provided")
}

pub(crate) fn value_provided() -> Status {
    Status::invalid_argument("etcdserver: value is provided")
}

pub(crate) fn lease_provided() -> Status {
    Status::invalid_argument("etcdserver: lease is provided")
}

pub(crate) fn duplicate_key() -> Status {
    Status::invalid_argument("etcdserver: duplicate key given in txn request")
}

pub(crate) fn too_many_operations() -> Status {
    Status::invalid_argument("etcdserver: too many operations in txn request")
}

pub(crate) fn too_large() -> Status {
    Status::invalid_argument("etcdserver: request is too large")
}

/// A response that is too large, in the words of etcd's gRPC.
pub(crate) fn large_response(bytes: usize, bytes_max: usize) -> Status {
    let text = format!("grpc: trying to send message larger than max ({bytes} vs. {bytes_max})");
    Status::resource_exhausted(text)
}

pub(crate) fn invalid_sort() -> Status {
    Status::invalid_argument("etcdserver: invalid sort option")
}

pub(crate) fn stopped() -> Status {
    Status::unavailable("etcdserver: server stopped")
}

/// The text of a watch that starts below the history, or falls behind it.
pub(crate) const COMPACTED: &str = "etcdserver: mvcc: required revision has been compacted";

fn compacted() -> Status {
    Status::out_of_range(COMPACTED)
}

fn future_revision() -> Status {
    Status::out_of_range("etcdserver: mvcc: required revision is a future revision")
}

fn lease_not_found() -> Status {
    Status::not_found("etcdserver: requested lease not found")
}

/// Snapshots in etcd's file format, and what there is instead.
pub(crate) fn no_snapshots() -> Status {
    Status::unimplemented(
        "Maintenance/Snapshot is not supported by this server: stop it, and run `kubist storage \
         backup`",
    )
}

/// What this server does not do.
pub(crate) fn unsupported(what: &str) -> Status {
    Status::unimplemented(format!("{what} is not supported by this server"))
}

pub(crate) fn of_read(error: ReadError) -> Status {
    match error {
        ReadError::Closed => stopped(),
        ReadError::Compacted { .. } => compacted(),
        ReadError::FutureRevision { .. } => future_revision(),
        ReadError::Fault(fault) => of_fault(&fault),
        other => Status::unknown(other.to_string()),
    }
}

pub(crate) fn of_write(error: WriteError) -> Status {
    match error {
        WriteError::Closed => stopped(),
        WriteError::EmptyKey => empty_key(),
        WriteError::KeyNotFound => Status::invalid_argument("etcdserver: key not found"),
        WriteError::LeaseNotFound { .. } => lease_not_found(),
        WriteError::Full { .. } => {
            Status::resource_exhausted("etcdserver: mvcc: database space exceeded")
        }
        WriteError::TooLarge { .. } => too_large(),
        WriteError::TooManyKeys { .. } => too_many_operations(),
        WriteError::Fault(fault) => of_fault(&fault),
        other => Status::unknown(other.to_string()),
    }
}

pub(crate) fn of_compaction(error: CompactError) -> Status {
    match error {
        CompactError::Closed => stopped(),
        CompactError::Compacted { .. } => compacted(),
        CompactError::FutureRevision { .. } => future_revision(),
        CompactError::Fault(fault) => of_fault(&fault),
        other => Status::unknown(other.to_string()),
    }
}

pub(crate) fn of_lease(error: LeaseError) -> Status {
    match error {
        LeaseError::Closed => stopped(),
        LeaseError::NotFound { .. } => lease_not_found(),
        LeaseError::Exists { .. } => {
            Status::failed_precondition("etcdserver: lease already exists")
        }
        LeaseError::TtlOutOfRange { .. } => Status::out_of_range("etcdserver: too large lease TTL"),
        LeaseError::Fault(fault) => of_fault(&fault),
        other => Status::invalid_argument(format!("etcdserver: {other}")),
    }
}

pub(crate) fn of_watch(error: WatchError) -> Status {
    match error {
        WatchError::Closed => stopped(),
        WatchError::Compacted { .. } => compacted(),
        WatchError::Fault(fault) => of_fault(&fault),
        other => Status::unknown(other.to_string()),
    }
}

/// The cause is what an operator needs: the disk's own words.
fn of_fault(fault: &Fault) -> Status {
    let mut text = format!("etcdserver: {fault}");
    if let Some(cause) = fault.source() {
        text = format!("{text}: {cause}");
    }
    match fault.kind() {
        FaultKind::NoSpace => {
            Status::resource_exhausted("etcdserver: mvcc: database space exceeded")
        }
        FaultKind::Corrupt => Status::data_loss(text),
        FaultKind::PermissionDenied => Status::new(Code::Internal, text),
        FaultKind::Timeout | FaultKind::Unavailable => Status::unavailable(text),
        _ => Status::unknown(text),
    }
}
