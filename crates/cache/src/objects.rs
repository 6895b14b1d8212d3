//! `Objects`: the objects of a store, each with a number that it keeps as long as it is stored.
//!
//! A [`HashIndex`] leads from a name to the number; names and pointers are in arrays by number. So
//! a look-up by name touches two cache lines beside the pointer, a look-up by number none, and
//! objects are iterated in the order in which they came. Clones are snapshots: they share what does
//! not change. Indexes are elsewhere.

use crate::hash_index::{EntryPages, HashIndex};
use crate::name_text::{NameHasher, NameText};
use crate::number_set::NumberSet;
use crate::paged::{Paged, Pages};
use kubist_apimachinery::{LabelFilter, Object};
use std::hint::black_box;
use std::sync::Arc;

/// The objects in a page. Copying a page counts a reference to each of them.
const PAGE: usize = 64;
/// How many reference counts are read before any of them is incremented.
const BATCH: usize = 64;

pub(crate) struct Objects<K> {
    hasher: NameHasher,
    index: HashIndex,
    /// The names; those of unused numbers mean nothing.
    texts: Paged<NameText, PAGE>,
    pointers: Paged<Option<Arc<K>>, PAGE>,
    /// The summaries of the labels.
    filters: Paged<LabelFilter, PAGE>,
    len: usize,
}

/// The parts of [`Objects`] that are still to be freed.
pub(crate) struct ObjectPages<K> {
    objects: Pages<Option<Arc<K>>, PAGE>,
    texts: Pages<NameText, PAGE>,
    entries: EntryPages,
}

impl<K> Clone for Objects<K> {
    fn clone(&self) -> Self {
        Self {
            hasher: self.hasher.clone(),
            index: self.index.clone(),
            texts: self.texts.clone(),
            pointers: self.pointers.clone(),
            filters: self.filters.clone(),
            len: self.len,
        }
    }
}

impl<K> Default for Objects<K> {
    fn default() -> Self {
        Self {
            hasher: NameHasher::default(),
            index: HashIndex::default(),
            texts: Paged::default(),
            pointers: Paged::default(),
            filters: Paged::default(),
            len: 0,
        }
    }
}

impl<K> Objects<K> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Iterates over all objects.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<K>> {
        Iter {
            objects: self.pointers.iter().flatten(),
            remaining: self.len,
        }
    }

    /// Returns the object of a number.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Option<&Arc<K>> {
        self.pointers.get(number as usize)?.as_ref()
    }

    /// Returns the objects of some numbers.
    pub(crate) fn all_at(
        &self,
        numbers: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = &Arc<K>> {
        numbers.filter_map(|number| self.at(number))
    }

    /// Clones the references to the objects of some numbers, of which a batch is fetched at a time
    /// (see [`clone_refs`](crate::clone_refs)).
    pub(crate) fn clone_all_at(&self, numbers: &NumberSet) -> Vec<Arc<K>> {
        let mut cloned = Vec::with_capacity(numbers.len());
        for chunk in numbers.chunks() {
            for batch in chunk.chunks(BATCH) {
                for object in self.all_at(batch.iter().copied()) {
                    black_box(Arc::strong_count(object));
                }
                for object in self.all_at(batch.iter().copied()) {
                    cloned.push(Arc::clone(object));
                }
            }
        }
        cloned
    }

    #[inline]
    pub(crate) fn hash_of(&self, namespace: &str, name: &str) -> u32 {
        self.hasher.name(namespace, name)
    }

    pub(crate) fn into_pages(self) -> ObjectPages<K> {
        ObjectPages {
            objects: self.pointers.into_pages(),
            texts: self.texts.into_pages(),
            entries: self.index.into_pages(),
        }
    }
}

impl<K> ObjectPages<K> {
    /// Frees about this many objects, or what belongs to as many; returns true once nothing is
    /// left.
    pub(crate) fn release(&mut self, objects: usize) -> bool {
        // Freeing a page of words costs as much as freeing a few objects.
        let words = objects.saturating_mul(16);
        self.objects.release(objects) && self.texts.release(words) && self.entries.release(words)
    }
}

impl<K: Object> Objects<K> {
    #[inline]
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        let hash = self.hash_of(namespace, name);
        self.at(self.number_of(hash, namespace, name)?)
    }

    /// Returns the number of the object of a name, which has this hash.
    #[inline]
    pub(crate) fn number_of(&self, hash: u32, namespace: &str, name: &str) -> Option<u32> {
        self.index
            .find(hash, |number| self.is_named(number, namespace, name))
    }

    /// Reports whether a number in use is that of a name.
    #[inline]
    pub(crate) fn is_named(&self, number: u32, namespace: &str, name: &str) -> bool {
        let Some(text) = self.texts.get(number as usize) else {
            return false;
        };
        text.is(namespace, name) || (text.is_long() && self.has_name(number, namespace, name))
    }

    #[cold]
    fn has_name(&self, number: u32, namespace: &str, name: &str) -> bool {
        let object = self.at(number);
        object.is_some_and(|it| it.name() == name && it.namespace() == namespace)
    }

    /// Adds an object, of which there is none of the name, under an unused number.
    pub(crate) fn add(&mut self, number: u32, hash: u32, object: &Arc<K>) {
        self.index.insert(hash, number);
        let text = NameText::new(object.namespace(), object.name());
        *self.texts.get_mut(number as usize) = text;
        *self.pointers.get_mut(number as usize) = Some(Arc::clone(object));
        self.set_filter(number, object);
        self.len += 1;
    }

    /// Replaces the object of a number by another state of it.
    pub(crate) fn set(&mut self, number: u32, object: &Arc<K>) -> Option<Arc<K>> {
        self.set_filter(number, object);
        let place = self.pointers.get_mut(number as usize);
        place.replace(Arc::clone(object))
    }

    /// Summaries change seldom, and pages that do not change stay shared.
    fn set_filter(&mut self, number: u32, object: &K) {
        let filter = object.label_filter();
        let held = self.filters.get(number as usize);
        if held.copied().unwrap_or_default() != filter {
            *self.filters.get_mut(number as usize) = filter;
        }
    }

    /// Iterates over the objects whose labels may include the required ones.
    pub(crate) fn passing(&self, required: LabelFilter) -> impl Iterator<Item = &Arc<K>> {
        (0..self.pointers.pages()).flat_map(move |page| {
            let (filters, pointers) = (self.filters.page(page), self.pointers.page(page));
            let all = pointers.into_iter().flatten().enumerate();
            let passing = all
                .filter(move |(at, _)| filters.is_none_or(|filters| filters[*at].passes(required)));
            passing.filter_map(|(_, object)| object.as_ref())
        })
    }

    /// Removes the object of a number, whose name has this hash.
    pub(crate) fn take(&mut self, number: u32, hash: u32) -> Option<Arc<K>> {
        let old = self.pointers.get_mut(number as usize).take()?;
        self.index.remove(hash, number);
        self.len -= 1;
        Some(old)
    }
}

struct Iter<I> {
    objects: I,
    remaining: usize,
}

impl<'a, K: 'a, I: Iterator<Item = &'a Arc<K>>> Iterator for Iter<I> {
    type Item = &'a Arc<K>;

    fn next(&mut self) -> Option<&'a Arc<K>> {
        let next = self.objects.next()?;
        self.remaining -= 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<'a, K: 'a, I: Iterator<Item = &'a Arc<K>>> ExactSizeIterator for Iter<I> {}
