//! `Queue`: what stands between a reflector, which puts news in, and the one processor that takes
//! them out.
//!
//! A queue is a plain data structure with one owner: no lock, no waiting. Three kinds of it exist
//! in the field: [`RealFifo`](crate::RealFifo) keeps every event in the order of arrival, and is
//! what informers run on; [`DeltaFifo`](crate::DeltaFifo) gathers events by object;
//! [`Fifo`](crate::Fifo) keeps the latest value of each object.
//!
//! Source of the contract: client-go `tools/cache`, the interfaces `ReflectorStore`, `Queue` and
//! `QueueWithBatch`. Differs from it: whoever pops is the owner, so a pop does not wait and takes
//! no function; "closed" is a state to ask for, [`Queue::is_drained`], not an error.

use crate::{Delta, Replacement};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::fmt;
use std::sync::Arc;

/// A queue of [`Delta`]s.
pub trait Queue<K: Object>: Send + fmt::Debug {
    /// The object is new.
    fn add(&mut self, object: Arc<K>);

    /// The object changed.
    fn update(&mut self, object: Arc<K>);

    /// The object is gone; this is its last state.
    fn delete(&mut self, object: Arc<K>);

    /// The object of this name is gone; its last state could not be read.
    fn delete_unread(&mut self, name: ObjectName, resource_version: ResourceVersion);

    /// The object of this name is there, in a state that could not be read. Without letters: some
    /// object.
    fn unreadable(&mut self, name: ObjectName, resource_version: ResourceVersion);

    /// A whole list.
    fn replace(&mut self, replacement: Replacement<K>);

    /// Every object is to be told again.
    fn resync(&mut self);

    /// Nothing else happened up to this version.
    fn bookmark(&mut self, resource_version: ResourceVersion);

    /// The one item that is to be processed next: a delta, or all that were gathered for one
    /// object; none when the queue is empty.
    fn pop(&mut self) -> Option<Batch<K>>;

    /// What is to be processed next, at most [`BATCH_MAX`] objects; none when the queue is empty.
    fn pop_batch(&mut self) -> Option<Batch<K>>;

    /// Whether everything that the first list had was popped.
    fn has_synced(&self) -> bool;

    /// The number of deltas.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No more is to be expected. What is queued can still be popped, and writing is still
    /// possible: whoever closes a queue stops its writers too.
    fn close(&mut self);

    /// Whether [`close`](Self::close) was called.
    fn is_closed(&self) -> bool;

    /// Whether the queue is closed and everything was popped: its consumer can stop.
    fn is_drained(&self) -> bool {
        self.is_closed() && self.is_empty()
    }
}

/// Objects in one batch, at most.
pub const BATCH_MAX: usize = 1000;

/// Deltas to be applied together. A name occurs in it once, unless the queue gathers by name.
pub struct Batch<K> {
    /// The deltas, in order.
    pub deltas: Vec<Delta<K>>,
    /// Whether they belong to the first list.
    pub initial: bool,
}

impl<K: Object> fmt::Debug for Batch<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let initial = if self.initial { "initial " } else { "" };
        write!(f, "{initial}{:?}", self.deltas)
    }
}
