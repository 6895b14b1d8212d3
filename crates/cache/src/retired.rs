//! `Retired`: states that readers no longer see, freed some entries at a time.
//!
//! The state before a list may be as large as the store, and freeing it at once would block other
//! tasks. Entries that a reader still holds are freed by that reader.

use crate::objects::{Objects, ObjectsWalk};
use crate::store::{Posting, State};
use crate::trie::Walk;
use std::sync::Arc;

pub(crate) struct Retired<K> {
    objects: Vec<ObjectsWalk<K>>,
    postings: Vec<Walk<Posting>>,
}

impl<K> Default for Retired<K> {
    fn default() -> Self {
        Self {
            objects: Vec::new(),
            postings: Vec::new(),
        }
    }
}

impl<K> Retired<K> {
    pub(crate) fn add_objects(&mut self, objects: Objects<K>) {
        self.objects.push(objects.into_walk());
    }

    pub(crate) fn add_state(&mut self, state: Arc<State<K>>) {
        let Some(state) = Arc::into_inner(state) else {
            return;
        };
        self.objects.push(state.objects.into_walk());
        let indexes = state.indexes.into_iter();
        self.postings
            .extend(indexes.map(|built| built.postings.into_walk()));
    }

    /// Frees about this many entries; returns true once nothing is left.
    pub(crate) fn release(&mut self, entries: usize) -> bool {
        if let Some(walk) = self.objects.last_mut() {
            if walk.release(entries) {
                self.objects.pop();
            }
        } else if let Some(walk) = self.postings.last_mut()
            && walk.release(entries)
        {
            self.postings.pop();
        }
        self.objects.is_empty() && self.postings.is_empty()
    }
}
