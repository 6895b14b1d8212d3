//! The steps for the objects and for each index when one object is added, changed or removed.

use super::{INDEX_ERRORS_MAX, Indexer};
use crate::Index;
use crate::name_key::NameKey;
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
        let key = NameKey::of(&*object);
        let old = self.left_right.apply(Step::Put {
            key,
            object: Arc::clone(&object),
        });
        self.file(key.hash, old.as_ref(), Some(&object));
        old
    }

    pub(super) fn take_out(&mut self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let key = NameKey::new(namespace, name);
        let object = Arc::clone(self.state().objects.get(&key, namespace, name)?);
        self.file(key.hash, Some(&object), None);
        if let Some(budget) = &mut self.budget {
            budget.discount(&object);
        }
        self.left_right.apply(Step::Take { key, object })
    }

    /// Updates every index for the change of one object.
    pub(super) fn file(&mut self, hash: u64, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        for position in 0..self.state().indexes.len() {
            self.file_in(position, hash, old, new);
        }
    }

    pub(super) fn file_in(
        &mut self,
        position: usize,
        hash: u64,
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
        if old.is_some() && new.is_some() && self.is_filed_so(position, hash, &index) {
            return;
        }
        if let Some(old) = old {
            // The error was reported when the object was added; it has no values.
            drop(index.collect(old, &mut self.before));
            let gone = self.before.iter().filter(|it| !self.after.contains(it));
            for value in gone {
                if self.left_right.state().is_shared(hash, old, &index, value) {
                    continue;
                }
                let value = value.into();
                self.left_right.apply(Step::Unfile {
                    position,
                    value,
                    hash,
                });
            }
        }
        for value in self.after.iter().filter(|it| !self.before.contains(it)) {
            let value = value.into();
            self.left_right.apply(Step::File {
                position,
                value,
                hash,
            });
        }
    }

    /// Reports whether the only object of this hash already has the index values of its new state.
    /// This does not read the old state, which is probably not in the processor's cache.
    fn is_filed_so(&self, position: usize, hash: u64, index: &Index<K>) -> bool {
        let state = self.state();
        let mut values = self.after.iter();
        let (true, Some(value), None) = (index.is_single(), values.next(), values.next()) else {
            return false;
        };
        let posting = state.indexes[position].posting(value);
        posting.is_some_and(|posting| posting.hashes.only(hash).is_ok_and(|it| it.is_some()))
            && state.objects.only(hash).is_ok()
    }
}
