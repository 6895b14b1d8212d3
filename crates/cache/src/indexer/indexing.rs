//! `Indexing`: an index that is added to a store some objects at a time.

use super::Indexer;
use crate::IndexHandle;
use crate::name_key::NameKey;
use crate::objects::ObjectsWalk;
use crate::store::Built;
use crate::trie::Trie;
use kubist_apimachinery::Object;
use std::fmt;
use std::sync::Arc;

/// An index under construction (see [`Indexer::begin_index`]).
pub struct Indexing<K> {
    position: usize,
    rest: ObjectsWalk<K>,
}

impl<K: Object> Indexer<K> {
    /// Adds an index that already has a handle. Adding it again has no effect.
    pub fn build_index(&mut self, handle: &IndexHandle<K>) {
        if let Some(mut indexing) = self.begin_index(handle) {
            while !self.index_step(&mut indexing, usize::MAX) {}
        }
    }

    /// Does the same as [`Self::build_index`] in steps of [`Self::index_step`]; returns `None` if
    /// the index exists. Nothing else may be written or published until it is complete.
    pub fn begin_index(&mut self, handle: &IndexHandle<K>) -> Option<Indexing<K>> {
        let index = &handle.index;
        if self.state().built(index).is_some() {
            return None;
        }
        let state = self.left_right.edit();
        let position = state.indexes.len();
        state.indexes.push(Built {
            index: Arc::clone(index),
            postings: Trie::default(),
        });
        let rest = state.objects.clone().into_walk();
        Some(Indexing { position, rest })
    }

    /// Indexes this many more objects; returns true once all are indexed.
    pub fn index_step(&mut self, indexing: &mut Indexing<K>, objects: usize) -> bool {
        for _ in 0..objects.max(1) {
            let Some(object) = indexing.rest.next() else {
                return true;
            };
            let hash = NameKey::of(&*object).hash;
            self.file_in(indexing.position, hash, None, Some(&object));
        }
        false
    }
}

impl<K> fmt::Debug for Indexing<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexing").finish_non_exhaustive()
    }
}
