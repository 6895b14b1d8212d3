//! `State`: the contents of a store at one moment, and the steps that change it.
//!
//! The objects are in one persistent trie, by the hash of their names. An index holds those hashes
//! only: an object that changes and keeps its index values is written once, however many indexes
//! there are. The [`Indexer`](crate::Indexer) decides which steps make up a change.

use crate::index::{Index, IndexValues};
use crate::name_key::{NameKey, hash_value};
use crate::objects::Objects;
use crate::order::Order;
use crate::trie::{Ambiguous, Trie};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion, Str};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The contents of a store; the type of the writer's working copy and of each published state.
pub(crate) struct State<K> {
    pub(crate) objects: Objects<K>,
    pub(crate) indexes: Vec<Built<K>>,
    /// The sorted names, if they are kept.
    pub(crate) order: Option<Order>,
    pub(crate) resource_version: ResourceVersion,
    /// The names for which the store is not up to date with its version; usually none.
    pub(crate) unreadable: Option<Arc<BTreeSet<ObjectName>>>,
}

/// An index with its contents.
pub(crate) struct Built<K> {
    pub(crate) index: Arc<Index<K>>,
    pub(crate) postings: Trie<Posting>,
}

/// The objects with one index value, by the hashes of their names.
#[derive(Clone, Default)]
pub(crate) struct Posting {
    pub(crate) value: Str,
    pub(crate) hashes: Trie<()>,
}

/// A single change. Applied to equal states, it has equal results.
pub(crate) enum Step<K> {
    /// Adds an object or replaces the one of the same name.
    Put { key: NameKey, object: Arc<K> },
    /// Removes the object with the name of this one.
    Take { key: NameKey, object: Arc<K> },
    /// Adds an object to the index at a position.
    File {
        position: usize,
        value: Str,
        hash: u64,
    },
    /// Removes an object from the index at a position.
    Unfile {
        position: usize,
        value: Str,
        hash: u64,
    },
}

impl<K> Clone for State<K> {
    fn clone(&self) -> Self {
        Self {
            objects: self.objects.clone(),
            indexes: self.indexes.clone(),
            order: self.order.clone(),
            resource_version: self.resource_version.clone(),
            unreadable: self.unreadable.clone(),
        }
    }
}

impl<K> Clone for Built<K> {
    fn clone(&self) -> Self {
        Self {
            index: Arc::clone(&self.index),
            postings: self.postings.clone(),
        }
    }
}

impl<K> Default for State<K> {
    fn default() -> Self {
        Self {
            objects: Objects::default(),
            indexes: Vec::new(),
            order: None,
            resource_version: ResourceVersion::default(),
            unreadable: None,
        }
    }
}

impl<K: Object> State<K> {
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.objects.find(namespace, name)
    }

    /// Reports whether the store's version does not apply to this name, because a newer state could
    /// not be decoded.
    pub(crate) fn is_behind_for(&self, name: &ObjectName) -> bool {
        let behind = self.unreadable.as_deref();
        behind.is_some_and(|it| it.contains(name) || it.contains(&ObjectName::default()))
    }

    pub(crate) fn built(&self, index: &Arc<Index<K>>) -> Option<&Built<K>> {
        self.indexes
            .iter()
            .find(|built| Arc::ptr_eq(&built.index, index))
    }

    /// Iterates over the objects that have this index value, whether or not the index is built
    /// here.
    pub(crate) fn iter_index<'a>(
        &'a self,
        index: &'a Arc<Index<K>>,
        value: &'a str,
    ) -> impl Iterator<Item = &'a Arc<K>> {
        let built = self.built(index);
        let posting = built.and_then(|built| built.posting(value));
        let found = posting.map(|posting| self.group(index, posting));
        let mut values = IndexValues::default();
        let scan = built.is_none().then(|| {
            self.objects
                .iter()
                .filter(move |object| index.files(object, value, &mut values))
        });
        found
            .into_iter()
            .flatten()
            .chain(scan.into_iter().flatten())
    }

    /// Returns the objects of a posting.
    pub(crate) fn group<'a>(
        &'a self,
        index: &'a Arc<Index<K>>,
        posting: &'a Posting,
    ) -> impl Iterator<Item = &'a Arc<K>> {
        posting.hashes.hashes().flat_map(move |hash| {
            // Two names have the same hash, so the index function decides which of them has the
            // value.
            let (one, several) = match self.objects.only(hash) {
                Ok(one) => (one, None),
                Err(Ambiguous) => (None, Some(self.objects.with_hash(hash))),
            };
            let is_filed = move |object: &&'a Arc<K>| {
                index.files(object, &posting.value, &mut IndexValues::default())
            };
            let several = several.into_iter().flatten().filter(is_filed);
            one.into_iter().chain(several)
        })
    }

    /// Reports whether another object whose name has the same hash has this index value.
    pub(crate) fn is_shared(&self, hash: u64, object: &K, index: &Index<K>, value: &str) -> bool {
        let is_object =
            |other: &K| other.name() == object.name() && other.namespace() == object.namespace();
        let mut values = IndexValues::default();
        self.objects
            .with_hash(hash)
            .any(|other| !is_object(other) && index.files(other, value, &mut values))
    }

    pub(crate) fn apply(&mut self, step: &Step<K>) -> Option<Arc<K>> {
        match step {
            Step::Put { key, object } => {
                let old = self.objects.insert(key, object);
                if old.is_none()
                    && let Some(order) = &mut self.order
                {
                    order.insert(object.object_name());
                }
                old
            }
            Step::Take { key, object } => {
                let old = self.objects.remove(key, object);
                if let Some(order) = &mut self.order {
                    order.remove(&object.object_name());
                }
                old
            }
            Step::File {
                position,
                value,
                hash,
            } => {
                self.indexes[*position].file(value, *hash);
                None
            }
            Step::Unfile {
                position,
                value,
                hash,
            } => {
                self.indexes[*position].unfile(value, *hash);
                None
            }
        }
    }
}

impl<K> Built<K> {
    pub(crate) fn posting(&self, value: &str) -> Option<&Posting> {
        self.postings
            .get(hash_value(value), |posting| posting.value == *value)
    }

    fn file(&mut self, value: &Str, hash: u64) {
        let same = |posting: &Posting| posting.value == *value;
        if let Some(posting) = self.postings.get_mut(hash_value(value), same) {
            posting.hashes.insert(hash, (), |()| true);
            return;
        }
        let mut hashes = Trie::default();
        hashes.insert(hash, (), |()| true);
        let value = value.clone();
        let posting = Posting { value, hashes };
        self.postings
            .insert(hash_value(&posting.value.clone()), posting, same);
    }

    /// Removes empty groups, so that an index does not keep values that are no longer used.
    fn unfile(&mut self, value: &Str, hash: u64) {
        let same = |posting: &Posting| posting.value == *value;
        let Some(posting) = self.postings.get_mut(hash_value(value), same) else {
            return;
        };
        posting.hashes.remove(hash, |()| true);
        if posting.hashes.len() == 0 {
            self.postings.remove(hash_value(value), same);
        }
    }
}
