//! `Indexing`: an index that is added to a store some objects at a time.

use super::Indexer;
use crate::IndexHandle;
use crate::index::IndexValues;
use crate::postings::Postings;
use crate::store::Built;
use kubist_apimachinery::Object;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// An index under construction (see [`Indexer::begin_index`]).
pub struct Indexing<K> {
    position: usize,
    /// The number of the next object.
    next: u32,
    kind: PhantomData<fn() -> K>,
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
            postings: Postings::default(),
        });
        self.after.push(IndexValues::default());
        Some(Indexing {
            position,
            next: 0,
            kind: PhantomData,
        })
    }

    /// Indexes this many more objects; returns true once all are indexed.
    pub fn index_step(&mut self, indexing: &mut Indexing<K>, objects: usize) -> bool {
        for _ in 0..objects.max(1) {
            let number = indexing.next;
            if number == self.left_right.numbering.end() {
                return true;
            }
            indexing.next += 1;
            if let Some(object) = self.state().objects.at(number).cloned() {
                self.collect_in(indexing.position, &object);
                self.file_in(indexing.position, number, None, true);
            }
        }
        false
    }
}

impl<K> fmt::Debug for Indexing<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexing").finish_non_exhaustive()
    }
}
