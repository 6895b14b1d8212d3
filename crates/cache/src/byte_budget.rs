//! `ByteBudget`: a limit on the memory that the objects of one store use.
//!
//! The budget counts the objects themselves, not the indexes over them, which take some tens of
//! bytes per object. Objects are never evicted to make room: a stored object stays until it changes
//! or is deleted. Space is freed as objects are deleted. An object that was reduced to its metadata
//! is complete again when it next changes and fits, or at the next list.

use crate::{Encoded, Metadata};
use kubist_apimachinery::{KubeObject, Object, ObjectName, wire};
use std::collections::BTreeMap;

/// Limits the memory of one store's objects, and says what happens to objects that exceed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct ByteBudget {
    /// The limit for all objects together, in bytes.
    pub max_bytes: u64,
    /// What happens to an object that does not fit.
    pub over: OverBudget,
}

impl ByteBudget {
    /// Estimates the memory of a decoded object in bytes: its struct plus its heap allocations
    /// ([`heap_size`](wire::heap_size)). Strings that are shared with other objects count in full.
    /// The store's own overhead and unused capacity do not count.
    pub fn decoded_weight<K: wire::Wire>(object: &K) -> u64 {
        (size_of::<K>() + wire::heap_size(object)) as u64
    }

    /// Does the same as [`Self::decoded_weight`] for a projection.
    pub fn projected_weight<P: wire::ProjectionFields>(projection: &P) -> u64 {
        (size_of::<P>() + wire::projected_heap_size(projection)) as u64
    }
}

/// What happens to an object that does not fit into a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an object is held in part or not at all"
)]
pub enum OverBudget {
    /// Only the metadata is stored, even if that exceeds the budget too: names, labels and owners
    /// are always complete. Decoding such an object is an error that names the reason.
    DegradeToMetadata,
    /// The object is not stored. The version of it that the store already has, if any, stays and is
    /// out of date, as for an object that cannot be decoded. Each refusal is
    /// [reported](BudgetError).
    Refuse,
}

/// An object that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object} of {bytes} bytes does not fit: {used} of {max_bytes} bytes are used")]
#[non_exhaustive]
pub struct BudgetError {
    /// The object.
    pub object: ObjectName,
    /// The size of the object.
    pub bytes: u64,
    /// The size of all other objects.
    pub used: u64,
    /// The limit.
    pub max_bytes: u64,
}

/// The usage of a store's budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetStats {
    /// The limit; 0 if there is none.
    pub max_bytes: u64,
    /// The current size of all objects; 0 if there is no limit.
    pub used_bytes: u64,
    /// The number of objects of which only the metadata is stored.
    pub degraded: u64,
    /// How many times an object was reduced to its metadata.
    pub degraded_total: u64,
    /// How many times an object was refused.
    pub refused_total: u64,
}

/// A stored form whose size is known, and which may have a smaller form.
pub trait Weigh: Object + Sized {
    /// Returns the size in bytes, which is the same at each call.
    fn weight(&self) -> u64;

    /// Returns the same object with its metadata alone, if it has more than that.
    fn without_body(&self) -> Option<Self>;

    /// Reports whether the object is complete.
    fn is_whole(&self) -> bool;
}

impl<K: KubeObject> Weigh for Encoded<K> {
    fn weight(&self) -> u64 {
        self.heap_size() as u64
    }

    fn without_body(&self) -> Option<Self> {
        Self::without_body(self)
    }

    fn is_whole(&self) -> bool {
        Self::is_whole(self)
    }
}

/// An estimate: the length of the text, and the overhead of maps and lists.
impl<K: 'static> Weigh for Metadata<K> {
    fn weight(&self) -> u64 {
        let meta = &self.metadata;
        let pairs = |pairs: &BTreeMap<kubist_apimachinery::Str, kubist_apimachinery::Str>| {
            let lengths = pairs.iter().map(|(key, value)| key.len() + value.len());
            lengths.sum::<usize>() + pairs.len() * PAIR_BYTES
        };
        let text = [&meta.name, &meta.generate_name, &meta.namespace, &meta.uid];
        let text: usize = text.iter().map(|it| it.len()).sum();
        let lists = meta.owner_references.len() + meta.finalizers.len() + meta.managed_fields.len();
        let all = text + pairs(&meta.labels) + pairs(&meta.annotations) + lists * ITEM_BYTES;
        (all + size_of::<Self>()) as u64
    }

    fn without_body(&self) -> Option<Self> {
        None
    }

    fn is_whole(&self) -> bool {
        true
    }
}

/// The size of a map entry without its text.
const PAIR_BYTES: usize = 64;
/// The approximate size of an owner reference, a finalizer or a managed-fields entry.
const ITEM_BYTES: usize = 160;
