//! The seam of an engine that outlives its process: the memory engine, and a journal below it.
//!
//! Promises: a write is answered, read and watched once its journal has made it durable, never
//! before; writes that come together become durable together (group commit); the runtime is not
//! held up, because journals work on its threads for blocking work; what a [`Replay`] brings back
//! is checked to be a history. Where a journal finds no room, or may not write, reads and watches
//! go on, writes are refused with the reason, and the journal is tried again until it works. A
//! journal knows how to store a [`Batch`] and nothing else. All current values, and history, are in
//! memory as well: a store is as large as memory lets it be.
//!
//! # What it costs beyond the memory engine
//!
//! The state that decides on writes runs ahead of the one that is read. They share keys, values
//! and events; each has its own tree and log: some 20 bytes a key, and 8 an event.

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

/// What makes batches durable.
pub trait Journal: fmt::Debug + Send + 'static {
    /// Makes all of a batch durable, or nothing of it. May block; called by one thread at a time.
    ///
    /// # Errors
    /// It is not known whether the batch is durable; opening the journal again decides. With
    /// [`NoSpace`](crate::FaultKind::NoSpace) and
    /// [`PermissionDenied`](crate::FaultKind::PermissionDenied) the engine refuses writes until
    /// the journal [reopens](Self::reopen); otherwise, or if it never does, it closes itself.
    fn commit(&mut self, batch: &Batch) -> Result<(), Fault>;

    /// How much room it takes, in bytes; `None` if it cannot tell. Default: `None`.
    fn size_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether [`reopen`](Self::reopen) can work. Default: no.
    fn reopens(&self) -> bool {
        false
    }

    /// Opens anew what a failed commit left behind, and reads back what is durable. May block;
    /// costs what opening the store costs. Commits go on from there.
    ///
    /// # Errors
    /// It still cannot be used; it may be tried again.
    fn reopen(&mut self) -> Result<Replayed, Fault> {
        let why = "this journal cannot be opened again";
        Err(Fault::new(FaultKind::Unknown, why))
    }
}

/// What becomes durable together. To be stored in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a journal that skips a field loses data"
)]
pub struct Batch {
    /// New leases, and how long each lives.
    pub granted: Vec<(LeaseId, Duration)>,
    /// Leases that are over. Keys under them may be deleted by a later batch only; if there is
    /// none, the replay sees to it.
    pub ended: Vec<LeaseId>,
    /// Writes in order of revision, without a gap, continuing the batch before.
    pub written: Vec<Arc<Event>>,
    /// The oldest revision that can be read from now on; `None` if that has not changed.
    pub compacted: Option<Revision>,
    /// The events that have left history with it, oldest first; they may have been written by
    /// this very batch. What is stored of their `previous` version is of no use any more, nor is
    /// a deletion itself.
    pub dropped: Vec<Arc<Event>>,
}

impl Batch {
    /// Whether nothing has happened.
    pub fn is_empty(&self) -> bool {
        self.granted.is_empty()
            && self.ended.is_empty()
            && self.written.is_empty()
            && self.compacted.is_none()
    }
}
