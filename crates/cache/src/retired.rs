//! `Retired`: states that readers no longer see, freed some entries at a time.
//!
//! The state before a list may be as large as the store, and freeing it at once would block other
//! tasks. Entries that a reader still holds are freed by that reader.

use crate::objects::ObjectPages;
use crate::postings::PostingPages;
use crate::store::State;
use std::sync::Arc;

pub(crate) struct Retired<K> {
    objects: Vec<ObjectPages<K>>,
    postings: Vec<PostingPages>,
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
    pub(crate) fn add_state(&mut self, state: Arc<State<K>>) {
        let Some(state) = Arc::into_inner(state) else {
            return;
        };
        self.objects.push(state.objects.into_pages());
        let indexes = state.indexes.into_iter();
        self.postings
            .extend(indexes.map(|built| built.postings.into_pages()));
    }

    /// Frees about this many entries; returns true once nothing is left.
    pub(crate) fn release(&mut self, entries: usize) -> bool {
        if let Some(pages) = self.objects.last_mut() {
            if pages.release(entries) {
                self.objects.pop();
            }
        } else if let Some(pages) = self.postings.last_mut()
            && pages.release(entries)
        {
            self.postings.pop();
        }
        self.objects.is_empty() && self.postings.is_empty()
    }
}
