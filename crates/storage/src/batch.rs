//! `Batch`: the changes that a journal makes durable together.

use crate::{Event, LeaseId, Revision};
use std::sync::Arc;
use std::time::Duration;

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
