//! `Queue`: what stands between a reflector, which puts news in, and the one processor that takes
//! them out.
//!
//! A queue is a plain data structure with one owner: no lock, no waiting. Two kinds of it exist in
//! the field: [`RealFifo`](crate::RealFifo) keeps every event in the order of arrival; a
//! `DeltaFifo` gathers events by object.

use std::fmt;
use std::sync::Arc;

use kubist_apimachinery::{Object, ResourceVersion};

use crate::{Delta, Replacement};

/// A queue of [`Delta`]s.
pub trait Queue<K: Object>: Send + fmt::Debug {
    /// The object is new.
    fn add(&mut self, object: Arc<K>);

    /// The object changed.
    fn update(&mut self, object: Arc<K>);

    /// The object is gone; this is its last state.
    fn delete(&mut self, object: Arc<K>);

    /// A whole list.
    fn replace(&mut self, replacement: Replacement<K>);

    /// Every object is to be told again.
    fn resync(&mut self);

    /// Nothing else happened up to this version.
    fn bookmark(&mut self, resource_version: ResourceVersion);

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
