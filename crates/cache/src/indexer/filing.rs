//! The steps for the objects and for each index when one object is added, changed or removed.

use super::{INDEX_ERRORS_MAX, Indexer};
use crate::Index;
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
        let (namespace, name) = (object.namespace(), object.name());
        let objects = &self.state().objects;
        let hash = objects.hash_of(namespace, name);
        let number = objects.number_of(hash, namespace, name);
        self.put_at(number, hash, &object).1
    }

    /// Adds an object whose name has this hash, or replaces the one of the number. Returns the
    /// number and the previous state.
    pub(super) fn put_at(
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
        self.file(number, Some(&object), None);
        self.left_right.numbering.put_back(number);
        Some(object)
    }

    /// Updates every index for the change of one object.
    pub(super) fn file(&mut self, number: u32, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        for position in 0..self.state().indexes.len() {
            self.file_in(position, number, old, new);
        }
    }

    pub(super) fn file_in(
        &mut self,
        position: usize,
        number: u32,
        old: Option<&Arc<K>>,
        new: Option<&Arc<K>>,
    ) {
        let index = Arc::clone(&self.state().indexes[position].index);
        if index.is_by_name() && old.is_some() && new.is_some() {
            return;
        }
        self.before.clear();
        self.after.clear();
        if let Some(new) = new
            && let Err(error) = index.collect(new, &mut self.after)
        {
            self.errors_total += 1;
            if self.errors.len() == INDEX_ERRORS_MAX {
                self.errors.pop_front();
            }
            self.errors.push_back(error);
        }
        if old.is_some() && new.is_some() && self.is_filed_so(position, number, &index) {
            return;
        }
        if let Some(old) = old {
            // The error was reported when the object was added; it has no values.
            drop(index.collect(old, &mut self.before));
            let gone = self.before.iter().filter(|it| !self.after.contains(it));
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
        for value in self.after.iter().filter(|it| !self.before.contains(it)) {
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
        let mut values = self.after.iter();
        let (true, Some(value), None) = (index.is_single(), values.next(), values.next()) else {
            return false;
        };
        let posting = self.state().indexes[position].postings.get(value);
        posting.is_some_and(|posting| posting.numbers.contains(number))
    }
}
