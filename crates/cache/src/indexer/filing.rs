//! The steps for the objects and for each index when one object is added, changed or removed.

use super::{INDEX_ERRORS_MAX, Indexer};
use crate::index::{Index, IndexValues};
use crate::store::Step;
use kubist_apimachinery::Object;
use std::sync::Arc;

impl<K: Object> Indexer<K> {
    pub(super) fn see_version(&mut self, version: &str) {
        if self.ordered && !version.is_empty() && self.state().resource_version != *version {
            self.left_right.set_version(version.into());
        }
    }

    pub(super) fn put(&mut self, object: Arc<K>) -> Option<Arc<K>> {
        // Before the name is hashed, which waits for its bytes: fields and name are read together.
        self.collect(&object);
        let (namespace, name) = (object.namespace(), object.name());
        let objects = &self.state().objects;
        let hash = objects.hash_of(namespace, name);
        let number = objects.number_of(hash, namespace, name);
        self.put_collected(number, hash, &object).1
    }

    /// Adds an object whose name has this hash, or replaces the one of the number. Returns the
    /// number and the previous state.
    pub(super) fn put_at(
        &mut self,
        number: Option<u32>,
        hash: u32,
        object: &Arc<K>,
    ) -> (u32, Option<Arc<K>>) {
        self.collect(object);
        self.put_collected(number, hash, object)
    }

    fn put_collected(
        &mut self,
        number: Option<u32>,
        hash: u32,
        object: &Arc<K>,
    ) -> (u32, Option<Arc<K>>) {
        let new = Arc::clone(object);
        let (number, step) = if let Some(number) = number {
            (
                number,
                Step::Set {
                    number,
                    object: new,
                },
            )
        } else {
            let number = self.left_right.numbering.take();
            (
                number,
                Step::Add {
                    number,
                    hash,
                    object: new,
                },
            )
        };
        let old = self.left_right.apply(step);
        self.file(number, old.as_ref(), Some(object));
        (number, old)
    }

    pub(super) fn take_out(&mut self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let objects = &self.state().objects;
        let hash = objects.hash_of(namespace, name);
        let number = objects.number_of(hash, namespace, name)?;
        let object = self.take_at(number, hash)?;
        if let Some(budget) = &mut self.budget {
            budget.discount(&object);
        }
        Some(object)
    }

    /// Removes the object of a number, whose name has this hash.
    pub(super) fn take_at(&mut self, number: u32, hash: u32) -> Option<Arc<K>> {
        let object = self.left_right.apply(Step::Take { number, hash })?;
        self.after.iter_mut().for_each(IndexValues::clear);
        self.file(number, Some(&object), None);
        self.left_right.numbering.put_back(number);
        Some(object)
    }

    /// Collects the values of an object in every index, except those that depend on its name only:
    /// the name decides first whether they are needed.
    fn collect(&mut self, object: &K) {
        for position in 0..self.state().indexes.len() {
            if !self.state().indexes[position].index.is_by_name() {
                self.collect_in(position, object);
            }
        }
    }

    /// Collects the values of an object in one index.
    pub(super) fn collect_in(&mut self, position: usize, object: &K) {
        let index = &self.left_right.state().indexes[position].index;
        if let Err(error) = index.collect(object, &mut self.after[position]) {
            self.errors_total += 1;
            if self.errors.len() == INDEX_ERRORS_MAX {
                self.errors.pop_front();
            }
            self.errors.push_back(error);
        }
    }

    /// Updates every index for the change of one object.
    fn file(&mut self, number: u32, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        for position in 0..self.state().indexes.len() {
            let by_name = self.state().indexes[position].index.is_by_name();
            match (by_name, old, new) {
                (true, Some(_), Some(_)) => continue,
                (true, None, Some(new)) => self.collect_in(position, new),
                _ => {}
            }
            self.file_in(position, number, old, new.is_some());
        }
    }

    /// Updates an index for the change of one object, which stays or is gone. The values that it
    /// has now were collected.
    pub(super) fn file_in(
        &mut self,
        position: usize,
        number: u32,
        old: Option<&Arc<K>>,
        stays: bool,
    ) {
        let index = &self.left_right.state().indexes[position].index;
        let is_update = old.is_some() && stays;
        if is_update && self.is_filed_so(position, number, index) {
            return;
        }
        self.before.clear();
        let after = &self.after[position];
        if let Some(old) = old {
            // The error was reported when the object was added; it has no values.
            drop(index.collect(old, &mut self.before));
            let gone = self.before.iter().filter(|it| !after.contains(it));
            for value in gone {
                let postings = &self.left_right.state().indexes[position].postings;
                if let Some(place) = postings.place_of(value) {
                    self.left_right.apply(Step::Unfile {
                        position,
                        place,
                        number,
                    });
                }
            }
        }
        for value in after.iter().filter(|it| !self.before.contains(it)) {
            let postings = &self.left_right.state().indexes[position].postings;
            let (place, next) = (postings.place_of(value), postings.next_place());
            if place.is_none() {
                let value = value.into();
                self.left_right.apply(Step::Open { position, value });
            }
            self.left_right.apply(Step::File {
                position,
                place: place.unwrap_or(next),
                number,
            });
        }
    }

    /// Reports whether the object of this number already has the index values of its new state.
    /// This does not read the old state, which is probably not in the processor's cache.
    fn is_filed_so(&self, position: usize, number: u32, index: &Index<K>) -> bool {
        let mut values = self.after[position].iter();
        let (true, Some(value), None) = (index.is_single(), values.next(), values.next()) else {
            return false;
        };
        let posting = self.state().indexes[position].postings.get(value);
        posting.is_some_and(|posting| posting.numbers.contains(number))
    }
}
