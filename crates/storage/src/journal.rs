//! `JournaledKv`: the memory engine with a journal that makes its writes durable.
//!
//! A write is acknowledged, readable and watchable once the journal has made it durable, never
//! before. Concurrent writes become durable together (group commit). A journal that may wait runs
//! on a thread that may block. What a [`Replay`] restores is checked to be a valid history. If a
//! journal has no space or no permission to write, reads and watches continue, writes are refused
//! with the reason, and the journal is retried until it works. A journal stores [`Batch`]es; it
//! does not evaluate requests.

mod engine;
mod leases;
mod queue;
mod replay;
mod worker;
mod writer;

pub use self::engine::JournaledKv;
pub use self::replay::{Replay, ReplayError, Replayed};
pub use crate::batch::Batch;
use crate::{Fault, FaultKind};
use std::fmt;

/// Makes batches durable.
pub trait Journal: fmt::Debug + Send + 'static {
    /// Makes all of a batch durable, or none of it. May block; called by one thread at a time.
    ///
    /// # Errors
    /// Whether the batch is durable is unknown until the journal is reopened. After
    /// [`NoSpace`](crate::FaultKind::NoSpace) and
    /// [`PermissionDenied`](crate::FaultKind::PermissionDenied) the engine refuses writes until the
    /// journal [reopens](Self::reopen); after other failures, or if it cannot reopen, the engine
    /// closes.
    fn commit(&mut self, batch: &Batch) -> Result<(), Fault>;

    /// Returns its size in bytes; `None` if unknown. Default: `None`.
    fn size_bytes(&self) -> Option<u64> {
        None
    }

    /// Reports whether it stores the next batch of a few kilobytes in microseconds, waiting for
    /// neither a disk nor another thread. Its caller may then be a task. Default: no.
    fn is_quick(&self) -> bool {
        false
    }

    /// Reports whether [`reopen`](Self::reopen) is supported. Default: no.
    fn reopens(&self) -> bool {
        false
    }

    /// Reopens the journal after a failed commit, and reads back what is durable. May block, as
    /// long as opening the store does. Commits continue from there.
    ///
    /// # Errors
    /// It still cannot be used; the call may be repeated.
    fn reopen(&mut self) -> Result<Replayed, Fault> {
        let why = "this journal cannot be opened again";
        Err(Fault::new(FaultKind::Unknown, why))
    }
}
