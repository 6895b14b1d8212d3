//! `Objects`: the objects of a store by name.
//!
//! A persistent trie whose entries contain their names (see [`NameKey`]), so a look-up does not
//! read the objects that it passes. Indexes are elsewhere.

use crate::name_key::{NameKey, NameText};
use crate::trie::{Ambiguous, Trie, Walk};
use kubist_apimachinery::Object;
use std::sync::Arc;

/// Clones are snapshots: they share all unchanged nodes.
pub(crate) struct Objects<K> {
    trie: Trie<Held<K>>,
}

/// An iteration over the objects that can be interrupted (see [`Walk`]).
pub(crate) struct ObjectsWalk<K>(Walk<Held<K>>);

/// One cache line together with its hash.
struct Held<K> {
    text: NameText,
    /// `None` only while a leaf is rewritten.
    object: Option<Arc<K>>,
}

impl<K> Clone for Objects<K> {
    fn clone(&self) -> Self {
        Self {
            trie: self.trie.clone(),
        }
    }
}

impl<K> Default for Objects<K> {
    fn default() -> Self {
        Self {
            trie: Trie::default(),
        }
    }
}

impl<K> Clone for Held<K> {
    fn clone(&self) -> Self {
        Self {
            text: self.text,
            object: self.object.clone(),
        }
    }
}

impl<K> Default for Held<K> {
    fn default() -> Self {
        Self {
            text: NameText::default(),
            object: None,
        }
    }
}

impl<K> Objects<K> {
    pub(crate) fn len(&self) -> usize {
        self.trie.len()
    }

    /// Iterates over all objects.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<K>> {
        Iter(self.trie.iter())
    }

    /// Starts an interruptible iteration over all objects.
    pub(crate) fn into_walk(self) -> ObjectsWalk<K> {
        ObjectsWalk(self.trie.into_walk())
    }

    /// Returns the object whose name has this hash, if it is the only one.
    pub(crate) fn only(&self, hash: u64) -> Result<Option<&Arc<K>>, Ambiguous> {
        let found = self.trie.only(hash)?;
        Ok(found.and_then(|held| held.object.as_ref()))
    }

    /// Returns the objects whose names have this hash.
    pub(crate) fn with_hash(&self, hash: u64) -> impl Iterator<Item = &Arc<K>> {
        let found = self.trie.with_hash(hash);
        found.filter_map(|held| held.object.as_ref())
    }
}

impl<K: Object> Objects<K> {
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.get(&NameKey::new(namespace, name), namespace, name)
    }

    /// Returns the stored object with the name of `object`.
    pub(crate) fn alike(&self, object: &K) -> Option<&Arc<K>> {
        self.find(object.namespace(), object.name())
    }

    /// Does the same as [`Self::find`], with the key of that name.
    pub(crate) fn get(&self, key: &NameKey, namespace: &str, name: &str) -> Option<&Arc<K>> {
        let found = self.trie.get(key.hash, is_named(key, namespace, name))?;
        found.object.as_ref()
    }

    /// Adds an object or replaces the one of the same name, which is returned.
    pub(crate) fn insert(&mut self, key: &NameKey, object: &Arc<K>) -> Option<Arc<K>> {
        let is_object = is_named(key, object.namespace(), object.name());
        let held = Held {
            text: key.text,
            object: Some(Arc::clone(object)),
        };
        self.trie.insert(key.hash, held, is_object)?.object
    }

    /// Removes the object with the name of `object`.
    pub(crate) fn remove(&mut self, key: &NameKey, object: &K) -> Option<Arc<K>> {
        let is_object = is_named(key, object.namespace(), object.name());
        self.trie.remove(key.hash, is_object)?.object
    }
}

/// Tests whether an entry with the name's hash has this name.
fn is_named<K: Object>(key: &NameKey, namespace: &str, name: &str) -> impl Fn(&Held<K>) -> bool {
    let text = key.text;
    move |held| {
        let is_same = |object: &Arc<K>| object.name() == name && object.namespace() == namespace;
        held.text == text && (!text.is_long() || held.object.as_ref().is_some_and(is_same))
    }
}

impl<K> ObjectsWalk<K> {
    /// Frees some of the remaining entries; returns true once nothing is left.
    pub(crate) fn release(&mut self, objects: usize) -> bool {
        self.0.release(objects)
    }
}

impl<K> Iterator for ObjectsWalk<K> {
    type Item = Arc<K>;

    fn next(&mut self) -> Option<Arc<K>> {
        self.0.find_map(|held| held.object)
    }
}

struct Iter<I>(I);

impl<'a, K: 'a, I: ExactSizeIterator<Item = &'a Held<K>>> Iterator for Iter<I> {
    type Item = &'a Arc<K>;

    fn next(&mut self) -> Option<&'a Arc<K>> {
        self.0.find_map(|held| held.object.as_ref())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a, K: 'a, I: ExactSizeIterator<Item = &'a Held<K>>> ExactSizeIterator for Iter<I> {}
