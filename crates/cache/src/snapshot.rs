//! `Snapshot`: all objects and indexes at one moment.
//!
//! A snapshot never changes and reading it never waits; creating one costs a reference count.
//! Listers read from snapshots, and several look-ups on one snapshot are consistent. The writing
//! half is [`Indexer`](crate::Indexer).

use crate::clone_refs::clone_refs;
use crate::index::{IndexValues, UnknownIndex};
use crate::store::State;
use crate::{IndexError, IndexHandle};
use kubist_apimachinery::{
    Object, ObjectName, ParseObjectNameError, ResourceVersion, Selector, Str,
};
use std::fmt;
use std::sync::Arc;

/// All objects at one moment, with the resource version of that moment. Clones share them.
///
/// Objects come in no particular order, except from [`Snapshot::range`].
pub struct Snapshot<K> {
    pub(crate) state: Arc<State<K>>,
}

impl<K> Clone for Snapshot<K> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
        }
    }
}

impl<K: Object> Snapshot<K> {
    pub(crate) fn new(state: Arc<State<K>>) -> Self {
        Self { state }
    }

    /// Returns the object of this name.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        self.find(&name.namespace, &name.name)
    }

    /// Does the same as [`Self::get`], without an [`ObjectName`].
    pub fn find(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.state.find(namespace, name).cloned()
    }

    /// Returns a reference to the object of this name.
    pub fn peek(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.state.find(namespace, name)
    }

    /// Iterates over all objects.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<K>> {
        self.state.objects.iter()
    }

    /// Returns all objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        clone_refs(self.iter())
    }

    /// Returns the names for which the store is not up to date with its version, because a newer
    /// state could not be decoded or exceeded the budget. An empty name stands for an unknown
    /// object. Usually there are none.
    pub fn unreadable(&self) -> impl Iterator<Item = &ObjectName> {
        self.state.unreadable.iter().flat_map(|names| names.iter())
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.state.objects.len()
    }

    /// Reports whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the object of this key: `namespace/name`, or the name alone.
    ///
    /// # Errors
    /// The text is not a key.
    pub fn by_key(&self, key: &str) -> Result<Option<Arc<K>>, ParseObjectNameError> {
        Ok(self.get(&key.parse()?))
    }

    /// Returns the names of all objects in no particular order.
    pub fn names(&self) -> Vec<ObjectName> {
        self.iter().map(|object| object.object_name()).collect()
    }

    /// Iterates over the objects that have this index value.
    pub fn iter_index<'a>(
        &'a self,
        handle: &'a IndexHandle<K>,
        value: &'a str,
    ) -> impl Iterator<Item = &'a Arc<K>> {
        self.state.iter_index(&handle.index, value)
    }

    /// Returns the objects that have this index value.
    pub fn by_index(&self, handle: &IndexHandle<K>, value: &str) -> Vec<Arc<K>> {
        self.state.by_index(&handle.index, value)
    }

    /// Returns the objects that have a given value in each of several indexes, or all objects if no
    /// index is given. The smallest group is iterated, whatever the order.
    pub fn by_indexes(&self, groups: &[(&IndexHandle<K>, &str)]) -> Vec<Arc<K>> {
        self.state.by_indexes(groups)
    }

    /// Returns the objects that share an index value with `object`, which need not be in the store.
    ///
    /// # Errors
    /// The index function failed for `object`.
    pub fn index(&self, handle: &IndexHandle<K>, object: &K) -> Result<Vec<Arc<K>>, IndexError> {
        let mut values = IndexValues::default();
        handle.index.collect(object, &mut values)?;
        let groups = values.iter().map(|value| self.by_index(handle, value));
        let mut found: Vec<_> = groups.flatten().collect();
        let key = |object: &Arc<K>| object.object_name();
        found.sort_by_cached_key(key);
        found.dedup_by(|left, right| Arc::ptr_eq(left, right));
        Ok(found)
    }

    /// Returns the sorted names of the objects that have this index value.
    pub fn index_keys(&self, handle: &IndexHandle<K>, value: &str) -> Vec<ObjectName> {
        let objects = self.iter_index(handle, value);
        let mut names: Vec<_> = objects.map(|object| object.object_name()).collect();
        names.sort_unstable();
        names
    }

    /// Returns the sorted values of an index that have objects.
    pub fn index_values(&self, handle: &IndexHandle<K>) -> Vec<Str> {
        let mut found = Vec::new();
        if let Some(built) = self.state.built(&handle.index) {
            found.extend(built.postings.iter().map(|posting| posting.value.clone()));
        } else {
            let mut values = IndexValues::default();
            for object in self.iter() {
                if handle.index.collect(object, &mut values).is_ok() {
                    found.extend(values.iter().map(Str::from));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the names of the built indexes.
    pub fn index_names(&self) -> Vec<Str> {
        let built = self.state.indexes.iter();
        built.map(|built| built.index.name().clone()).collect()
    }

    /// Returns the handle of an index by its name, for dynamic use.
    ///
    /// # Errors
    /// The index does not exist, or is not built yet.
    pub fn index_named(&self, name: &str) -> Result<IndexHandle<K>, UnknownIndex> {
        let found = self
            .state
            .indexes
            .iter()
            .find(|built| built.index.name() == name);
        found
            .map(|built| IndexHandle {
                index: Arc::clone(&built.index),
            })
            .ok_or_else(|| UnknownIndex { name: name.into() })
    }

    /// Returns the objects that match a label selector, in one namespace or in all. It uses the
    /// smallest result of the indexes that cover a requirement
    /// ([`Index::label`](crate::Index::label), [`Index::namespace`](crate::Index::namespace)).
    pub fn select(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Arc<K>> {
        self.state.select(namespace, selector)
    }

    /// Returns the resource version up to which the snapshot is complete; unset before the first
    /// list.
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.state.resource_version
    }
}

impl<K> fmt::Debug for Snapshot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("resource_version", &self.state.resource_version)
            .field("len", &self.state.objects.len())
            .finish_non_exhaustive()
    }
}
