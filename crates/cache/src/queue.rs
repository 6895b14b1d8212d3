//! `Queue`: the queue between a reflector, which adds events, and the processor that consumes them.
//!
//! A queue is a plain data structure with one owner, without locks or waiting. There are three:
//! [`RealFifo`](crate::RealFifo) keeps every event in the order of arrival, and is the default of
//! informers; [`DeltaFifo`](crate::DeltaFifo) groups events by object; [`Fifo`](crate::Fifo) keeps
//! the latest value of each object.
//!
//! The contract is that of client-go's interfaces `ReflectorStore`, `Queue` and `QueueWithBatch`.
//! Differences: the consumer owns the queue, so a pop does not wait and takes no function; a closed
//! queue is a state ([`Queue::is_drained`]), not an error.

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

    /// The object was deleted; this is its last state.
    fn delete(&mut self, object: Arc<K>);

    /// The object of this name was deleted; its last state cannot be decoded.
    fn delete_unread(&mut self, name: ObjectName, resource_version: ResourceVersion);

    /// The object of this name exists, but its current state cannot be decoded. An empty name
    /// stands for an unknown object.
    fn unreadable(&mut self, name: ObjectName, resource_version: ResourceVersion);

    /// A complete list.
    fn replace(&mut self, replacement: Replacement<K>);

    /// Queues a resync of every object.
    fn resync(&mut self);

    /// Everything up to this version was delivered.
    fn bookmark(&mut self, resource_version: ResourceVersion);

    /// Pops the next item: a delta, or all deltas of one object. Returns `None` if the queue is
    /// empty.
    fn pop(&mut self) -> Option<Batch<K>>;

    /// Pops the next batch, at most [`BATCH_MAX`] objects. Returns `None` if the queue is empty.
    fn pop_batch(&mut self) -> Option<Batch<K>>;

    /// Reports whether every object of the first list was popped.
    fn has_synced(&self) -> bool;

    /// Returns the number of deltas.
    fn len(&self) -> usize;

    /// Reports whether the queue is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Marks the queue as closed. Queued items can still be popped, and items can still be added:
    /// the caller stops the producer as well.
    fn close(&mut self);

    /// Reports whether [`close`](Self::close) was called.
    fn is_closed(&self) -> bool;

    /// Reports whether the queue is closed and empty, so that its consumer can stop.
    fn is_drained(&self) -> bool {
        self.is_closed() && self.is_empty()
    }
}

/// The maximum number of objects in one batch.
pub const BATCH_MAX: usize = 1000;

/// Deltas to be applied together. A name occurs in it once, unless the queue groups by name.
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
