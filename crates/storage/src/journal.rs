//! `JournaledKv`: the memory engine with a journal that makes its writes durable.
//!
//! A write is acknowledged, readable and watchable once the journal has made it durable, never
//! before. Concurrent writes become durable together (group commit). Journals run on the runtime's
//! blocking threads, so they do not block it. What a [`Replay`] restores is checked to be a valid
//! history. If a journal has no space or no permission to write, reads and watches continue, writes
//! are refused with the reason, and the journal is retried until it works. A journal stores
//! [`Batch`]es; it does not evaluate requests.

mod engine;
mod queue;
mod replay;
mod writer;

pub use self::engine::JournaledKv;
pub use self::replay::{Replay, ReplayError, Replayed};
use crate::{Event, Fault, FaultKind, LeaseId, Revision};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

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

/// Changes that become durable together, to be stored in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a journal that skips a field loses data"
)]
pub struct Batch {
    /// New leases and their lifetimes.
    pub granted: Vec<(LeaseId, Duration)>,
    /// Leases that ended. Keys attached to them may be deleted in a later batch only; if that batch
    /// is lost, the replay deletes them.
    pub ended: Vec<LeaseId>,
    /// Writes in order of revision, without a gap, continuing the previous batch.
    pub written: Vec<Arc<Event>>,
    /// The oldest readable revision from now on; `None` if unchanged.
    pub compacted: Option<Revision>,
    /// The events that leave history with it, oldest first; they may be from this batch. The stored
    /// `previous` versions of these events, and the deletions among them, are no longer needed.
    pub dropped: Vec<Arc<Event>>,
}

impl Batch {
    /// Reports whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.granted.is_empty()
            && self.ended.is_empty()
            && self.written.is_empty()
            && self.compacted.is_none()
    }
}
