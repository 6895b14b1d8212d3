//! `Batch`: a few events of an informer, shared by the mailboxes of all its handlers.
//!
//! A handler that keeps up takes its events from here: nothing is copied into its mailbox, and
//! nothing merged.

use crate::name_hash::NameHash;
use kubist_apimachinery::Object;
use kubist_cache::ResourceEvent;

pub(crate) struct Batch<K> {
    changes: Vec<ResourceEvent<K>>,
    /// The hashes of their names, in the same order.
    hashes: Vec<NameHash>,
    /// How many are additions of the first list.
    initial: usize,
    /// Whether each is of another object, so that there is nothing to merge.
    distinct: bool,
}

impl<K: Object> Batch<K> {
    pub(crate) fn new(changes: Vec<ResourceEvent<K>>) -> Self {
        let hashes: Vec<_> = changes.iter().map(NameHash::of).collect();
        let is_initial =
            |it: &&ResourceEvent<K>| matches!(it, ResourceEvent::Added { initial: true, .. });
        Self {
            initial: changes.iter().filter(is_initial).count(),
            distinct: are_distinct(&hashes),
            changes,
            hashes,
        }
    }

    pub(crate) fn changes(&self) -> &[ResourceEvent<K>] {
        &self.changes
    }

    pub(crate) fn initial(&self) -> usize {
        self.initial
    }

    pub(crate) fn is_distinct(&self) -> bool {
        self.distinct
    }

    /// Returns the events from this position on, with their hashes.
    pub(crate) fn from(
        &self,
        position: usize,
    ) -> impl Iterator<Item = (NameHash, &ResourceEvent<K>)> {
        let hashes = self.hashes.iter().copied();
        hashes.zip(&self.changes).skip(position)
    }
}

/// Two names with one hash count as one, which costs a merge that finds nothing.
fn are_distinct(hashes: &[NameHash]) -> bool {
    let mut sorted: Vec<u64> = hashes.iter().map(|it| it.get()).collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
