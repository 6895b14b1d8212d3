//! `State`: the contents of a store at one moment, and the steps that change it.
//!
//! Each object has a number (see [`Objects`]), and an index holds numbers only: an object that
//! changes and keeps its index values is written once, however many indexes there are. The
//! [`Indexer`](crate::Indexer) decides which steps make up a change.

use crate::index::{Index, IndexValues};
use crate::objects::Objects;
use crate::order::Order;
use crate::postings::{Posting, Postings};
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
    pub(crate) postings: Postings,
}

/// A single change. Applied to equal states, it has equal results.
pub(crate) enum Step<K> {
    /// Adds an object under an unused number.
    Add {
        number: u32,
        hash: u32,
        object: Arc<K>,
    },
    /// Replaces the object of a number by another state of it.
    Set { number: u32, object: Arc<K> },
    /// Removes the object of a number, whose name has this hash.
    Take { number: u32, hash: u32 },
    /// Adds a value to the index at a position; an object is filed under it next.
    Open { position: usize, value: Str },
    /// Adds an object to a value of the index at a position.
    File {
        position: usize,
        place: u32,
        number: u32,
    },
    /// Removes an object from a value of the index at a position.
    Unfile {
        position: usize,
        place: u32,
        number: u32,
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
        let posting = built.and_then(|built| built.postings.get(value));
        let found = posting.map(|posting| self.group(posting));
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
    pub(crate) fn group<'a>(&'a self, posting: &'a Posting) -> impl Iterator<Item = &'a Arc<K>> {
        self.objects.all_at(posting.numbers.iter())
    }

    pub(crate) fn apply(&mut self, step: &Step<K>) -> Option<Arc<K>> {
        match step {
            Step::Add {
                number,
                hash,
                object,
            } => {
                self.objects.add(*number, *hash, object);
                if let Some(order) = &mut self.order {
                    order.insert(object.object_name());
                }
                None
            }
            Step::Set { number, object } => self.objects.set(*number, object),
            Step::Take { number, hash } => {
                let old = self.objects.take(*number, *hash)?;
                if let Some(order) = &mut self.order {
                    order.remove(&old.object_name());
                }
                Some(old)
            }
            Step::Open { position, value } => {
                self.indexes[*position].postings.open(value.clone());
                None
            }
            Step::File {
                position,
                place,
                number,
            } => {
                self.indexes[*position].postings.file(*place, *number);
                None
            }
            Step::Unfile {
                position,
                place,
                number,
            } => {
                self.indexes[*position].postings.unfile(*place, *number);
                None
            }
        }
    }
}
