//! `ByteBudget`: how much memory the objects of one store may take, and what happens beyond.
//!
//! It counts what objects occupy themselves, not the indexes over them (some tens of bytes an
//! object). It never evicts: what is held stays until it changes or goes. There is room again as
//! objects go, and objects that were cut are whole again when they change, or at the next list.

use crate::{Encoded, Metadata};
use kubist_apimachinery::{KubeObject, Object, ObjectName, wire};
use std::collections::BTreeMap;

/// Memory for the objects of one store, and what happens to those that exceed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct ByteBudget {
    /// What all objects together may occupy, in bytes.
    pub max_bytes: u64,
    /// What happens to an object that does not fit.
    pub over: OverBudget,
}

impl ByteBudget {
    /// About what a decoded object occupies, in bytes: its struct, and what it holds on the heap
    /// ([`heap_size`](wire::heap_size)). Strings that it shares with others count in full; the
    /// store's own book-keeping and unused capacity do not count.
    pub fn decoded_weight<K: wire::Wire>(object: &K) -> u64 {
        (size_of::<K>() + wire::heap_size(object)) as u64
    }

    /// As [`Self::decoded_weight`], of a projection.
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
    /// Only its metadata is held, even if that exceeds the budget too: names, labels and owners
    /// are always complete. Decoding it is an error that says so.
    DegradeToMetadata,
    /// It is not taken. What the store has of it, if anything, stays as it was and is out of
    /// date, as with an object that could not be read; each is [reported](BudgetError).
    Refuse,
}

/// An object that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object} of {bytes} bytes does not fit: {used} of {max_bytes} bytes are used")]
#[non_exhaustive]
pub struct BudgetError {
    /// The object.
    pub object: ObjectName,
    /// What it would occupy.
    pub bytes: u64,
    /// What others occupy.
    pub used: u64,
    /// What all may occupy.
    pub max_bytes: u64,
}

/// How a store keeps within its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetStats {
    /// The limit; 0 if there is none.
    pub max_bytes: u64,
    /// What the objects occupy now; 0 if there is no limit.
    pub used_bytes: u64,
    /// Objects of which only the metadata is held now.
    pub degraded: u64,
    /// How often an object was cut to its metadata.
    pub degraded_total: u64,
    /// How often an object was refused.
    pub refused_total: u64,
}

/// A held form that knows what it occupies, and that may have a smaller one.
pub trait Weigh: Object + Sized {
    /// What it occupies, in bytes. The same at each call.
    fn weight(&self) -> u64;

    /// The same object with its metadata alone, if it has more.
    fn without_body(&self) -> Option<Self>;

    /// Whether nothing of it was dropped.
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

/// Estimated: the text of it, and what maps and lists take around it.
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

/// What a map takes for a pair besides its text.
const PAIR_BYTES: usize = 64;
/// What an owner, a finalizer or a manager takes, about.
const ITEM_BYTES: usize = 160;
