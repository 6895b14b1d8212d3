//! `Objects`: the objects of a store by name.
//!
//! A persistent trie whose entries say their names themselves (see [`NameKey`]), so a look-up does
//! not read the objects it passes. It knows nothing of indexes.

use crate::name_key::{NameKey, NameText};
use crate::trie::{Ambiguous, Trie, Walk};
use kubist_apimachinery::Object;
use std::sync::Arc;

/// Clones are snapshots: they share what neither changes.
pub(crate) struct Objects<K> {
    trie: Trie<Held<K>>,
}

/// Through the objects, with rests in between (see [`Walk`]).
pub(crate) struct ObjectsWalk<K>(Walk<Held<K>>);

/// With its hash, one cache line.
struct Held<K> {
    text: NameText,
    /// None only while a leaf is rewritten.
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

    /// All objects.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<K>> {
        Iter(self.trie.iter())
    }

    /// A walk through all objects.
    pub(crate) fn into_walk(self) -> ObjectsWalk<K> {
        ObjectsWalk(self.trie.into_walk())
    }

    /// The one object whose name has this hash, if there is one.
    pub(crate) fn only(&self, hash: u64) -> Result<Option<&Arc<K>>, Ambiguous> {
        let found = self.trie.only(hash)?;
        Ok(found.and_then(|held| held.object.as_ref()))
    }

    /// The objects whose names have this hash.
    pub(crate) fn with_hash(&self, hash: u64) -> impl Iterator<Item = &Arc<K>> {
        let found = self.trie.with_hash(hash);
        found.filter_map(|held| held.object.as_ref())
    }
}

impl<K: Object> Objects<K> {
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.get(&NameKey::new(namespace, name), namespace, name)
    }

    /// The object of the name of this one.
    pub(crate) fn alike(&self, object: &K) -> Option<&Arc<K>> {
        self.find(object.namespace(), object.name())
    }

    /// As [`Self::find`], with the key of that name.
    pub(crate) fn get(&self, key: &NameKey, namespace: &str, name: &str) -> Option<&Arc<K>> {
        let found = self.trie.get(key.hash, is_named(key, namespace, name))?;
        found.object.as_ref()
    }

    /// Puts an object in the place of the one of its name, which it gives back, or adds it.
    pub(crate) fn insert(&mut self, key: &NameKey, object: &Arc<K>) -> Option<Arc<K>> {
        let is_object = is_named(key, object.namespace(), object.name());
        let held = Held {
            text: key.text,
            object: Some(Arc::clone(object)),
        };
        self.trie.insert(key.hash, held, is_object)?.object
    }

    /// Takes out the object of the name of this one.
    pub(crate) fn remove(&mut self, key: &NameKey, object: &K) -> Option<Arc<K>> {
        let is_object = is_named(key, object.namespace(), object.name());
        self.trie.remove(key.hash, is_object)?.object
    }
}

/// Among entries of the name's hash, whether it is the one of this name.
fn is_named<K: Object>(key: &NameKey, namespace: &str, name: &str) -> impl Fn(&Held<K>) -> bool {
    let text = key.text;
    move |held| {
        let is_same = |object: &Arc<K>| object.name() == name && object.namespace() == namespace;
        held.text == text && (!text.is_long() || held.object.as_ref().is_some_and(is_same))
    }
}

impl<K> ObjectsWalk<K> {
    /// Frees some of what is left; true once nothing is.
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
