//! `Snapshot`: all objects and indexes at one moment.
//!
//! A snapshot never changes and never waits; making one costs a reference count. It is what
//! listers read from, and what several look-ups that must agree are made on. It is not the writing
//! half: that is [`Indexer`](crate::Indexer).

use crate::clone_refs::clone_refs;
use crate::index::{IndexValues, UnknownIndex};
use crate::store::State;
use crate::{IndexError, IndexHandle};
use kubist_apimachinery::{
    Object, ObjectName, ParseObjectNameError, ResourceVersion, Selector, Str,
};
use std::fmt;
use std::sync::Arc;

/// All objects at one moment, with the resource version of that moment. Clones share it.
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

    /// The object of this name.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        self.find(&name.namespace, &name.name)
    }

    /// As [`Self::get`], without making an [`ObjectName`].
    pub fn find(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.state.find(namespace, name).cloned()
    }

    /// The object of this name, without sharing it.
    pub fn peek(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.state.find(namespace, name)
    }

    /// All objects, without copying a list.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<K>> {
        self.state.objects.iter()
    }

    /// All objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        clone_refs(self.iter())
    }

    /// The names of which something that is not after the store's version could not be read, or had
    /// no room: what is held of them, if anything, is older. A name without letters stands for
    /// some object, nobody knows which. Empty as a rule.
    pub fn unreadable(&self) -> impl Iterator<Item = &ObjectName> {
        self.state.unreadable.iter().flat_map(|names| names.iter())
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.state.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object of this key, `namespace/name` or the name alone.
    ///
    /// # Errors
    /// The text is not a key.
    pub fn by_key(&self, key: &str) -> Result<Option<Arc<K>>, ParseObjectNameError> {
        Ok(self.get(&key.parse()?))
    }

    /// The names of all objects, in no particular order.
    pub fn names(&self) -> Vec<ObjectName> {
        self.iter().map(|object| object.object_name()).collect()
    }

    /// The objects filed under a value, without copying a list.
    pub fn iter_index<'a>(
        &'a self,
        handle: &'a IndexHandle<K>,
        value: &'a str,
    ) -> impl Iterator<Item = &'a Arc<K>> {
        self.state.iter_index(&handle.index, value)
    }

    /// The objects filed under a value.
    pub fn by_index(&self, handle: &IndexHandle<K>, value: &str) -> Vec<Arc<K>> {
        self.state.by_index(&handle.index, value)
    }

    /// The objects that are filed under a value in each of several indexes; of all of them if
    /// there is none. The smallest group is looked at, whatever the order.
    pub fn by_indexes(&self, groups: &[(&IndexHandle<K>, &str)]) -> Vec<Arc<K>> {
        self.state.by_indexes(groups)
    }

    /// The objects that share a value of an index with `object`, which need not be in the store.
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

    /// The names of the objects filed under a value, sorted.
    pub fn index_keys(&self, handle: &IndexHandle<K>, value: &str) -> Vec<ObjectName> {
        let objects = self.iter_index(handle, value);
        let mut names: Vec<_> = objects.map(|object| object.object_name()).collect();
        names.sort_unstable();
        names
    }

    /// The values under which anything is filed, sorted.
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

    /// The names of the indexes that are built.
    pub fn index_names(&self) -> Vec<Str> {
        let built = self.state.indexes.iter();
        built.map(|built| built.index.name().clone()).collect()
    }

    /// The handle of an index by its name, for dynamic use.
    ///
    /// # Errors
    /// There is no such index, or it is not built yet.
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

    /// The objects that a label selector matches, in one namespace or in all. Answered from the
    /// indexes that cover a requirement ([`Index::label`](crate::Index::label),
    /// [`Index::namespace`](crate::Index::namespace)): of those the smallest is looked at.
    pub fn select(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Arc<K>> {
        self.state.select(namespace, selector)
    }

    /// Everything that happened up to this version is in the snapshot. Unset before the first
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
