//! `Snapshot`: all objects and indexes at one moment.
//!
//! A snapshot never changes and never waits; making one costs a reference count. It is what
//! listers read from, and what several look-ups that must agree are made on. It is not the writing
//! half: that is [`Indexer`](crate::Indexer).

use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use kubist_apimachinery::{Object, ObjectName, Operator, ResourceVersion, Selector, Str};

use crate::index::{Covers, Index, IndexValues};
use crate::trie::Trie;
use crate::{IndexHandle, UnknownIndex};

/// What a store holds; the writer's working copy and each published one are of this type.
pub(crate) struct State<K> {
    pub(crate) objects: Trie<Arc<K>>,
    pub(crate) indexes: Vec<Built<K>>,
    pub(crate) resource_version: ResourceVersion,
}

/// An index with what is filed in it.
pub(crate) struct Built<K> {
    pub(crate) index: Arc<Index<K>>,
    pub(crate) postings: Trie<Posting<K>>,
}

/// The objects under one value.
pub(crate) struct Posting<K> {
    pub(crate) value: Str,
    pub(crate) objects: Trie<Arc<K>>,
}

impl<K> Clone for State<K> {
    fn clone(&self) -> Self {
        Self {
            objects: self.objects.clone(),
            indexes: self.indexes.clone(),
            resource_version: self.resource_version.clone(),
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

impl<K> Clone for Posting<K> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            objects: self.objects.clone(),
        }
    }
}

impl<K> Default for State<K> {
    fn default() -> Self {
        Self {
            objects: Trie::default(),
            indexes: Vec::new(),
            resource_version: ResourceVersion::default(),
        }
    }
}

/// The hash of a name. Its key is fixed, so that iteration order is the same in every run; an
/// attacker who picks names gains nothing, because equal prefixes only make a path longer.
pub(crate) fn hash_name(namespace: &str, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(namespace.as_bytes());
    hasher.write_u8(0xff);
    hasher.write(name.as_bytes());
    hasher.finish()
}

pub(crate) fn hash_value(value: &str) -> u64 {
    hash_name("", value)
}

pub(crate) fn is_named<K: Object>(namespace: &str, name: &str) -> impl Fn(&Arc<K>) -> bool {
    move |object| object.name() == name && object.namespace() == namespace
}

impl<K: Object> State<K> {
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.objects
            .get(hash_name(namespace, name), is_named(namespace, name))
    }

    pub(crate) fn built(&self, index: &Arc<Index<K>>) -> Option<&Built<K>> {
        self.indexes
            .iter()
            .find(|built| Arc::ptr_eq(&built.index, index))
    }

    pub(crate) fn by_index(&self, index: &Arc<Index<K>>, value: &str) -> Vec<Arc<K>> {
        if let Some(built) = self.built(index) {
            return built
                .posting(value)
                .map(|it| it.iter().cloned().collect())
                .unwrap_or_default();
        }
        let mut values = IndexValues::default();
        let mut filed =
            |object: &&Arc<K>| index.collect(object, &mut values).is_ok() && values.contains(value);
        self.objects
            .iter()
            .filter(|object| filed(object))
            .cloned()
            .collect()
    }

    /// The smallest group of an index that holds all that the selector can match; none if no
    /// index covers a requirement.
    fn candidates(
        &self,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Option<Vec<&Trie<Arc<K>>>> {
        let mut best: Option<(usize, Vec<&Trie<Arc<K>>>)> = None;
        for built in &self.indexes {
            let groups: Vec<_> = match built.index.covers() {
                Covers::Nothing => continue,
                Covers::Namespace => match namespace {
                    Some(namespace) => built.posting(namespace).into_iter().collect(),
                    None => continue,
                },
                Covers::Label(key) => {
                    let values = selector.requirements().iter().find(|requirement| {
                        requirement.key() == &**key
                            && matches!(
                                requirement.operator(),
                                Operator::Equals | Operator::DoubleEquals | Operator::In
                            )
                    });
                    let Some(values) = values else { continue };
                    let mut values: Vec<_> = values.values().iter().collect();
                    values.sort_unstable();
                    values.dedup();
                    values
                        .into_iter()
                        .filter_map(|value| built.posting(value))
                        .collect()
                }
            };
            let size = groups.iter().map(|group| group.len()).sum();
            if best.as_ref().is_none_or(|(smallest, _)| size < *smallest) {
                best = Some((size, groups));
            }
        }
        best.map(|(_, groups)| groups)
    }

    pub(crate) fn select(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Arc<K>> {
        if selector.is_nothing() {
            return Vec::new();
        }
        let matches = |object: &&Arc<K>| {
            namespace.is_none_or(|namespace| object.namespace() == namespace)
                && selector.matches_object(&***object)
        };
        match self.candidates(namespace, selector) {
            Some(groups) => groups
                .into_iter()
                .flat_map(Trie::iter)
                .filter(matches)
                .cloned()
                .collect(),
            None => self.objects.iter().filter(matches).cloned().collect(),
        }
    }
}

impl<K> Built<K> {
    pub(crate) fn posting(&self, value: &str) -> Option<&Trie<Arc<K>>> {
        let found = self
            .postings
            .get(hash_value(value), |posting| posting.value == *value);
        found.map(|posting| &posting.objects)
    }
}

/// All objects at one moment, with the resource version of that moment. Clones share it.
///
/// Objects come in no particular order.
pub struct Snapshot<K> {
    state: Arc<State<K>>,
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

    /// All objects, without copying a list.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<K>> {
        self.state.objects.iter()
    }

    /// All objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.iter().cloned().collect()
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.state.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects filed under a value.
    pub fn by_index(&self, handle: &IndexHandle<K>, value: &str) -> Vec<Arc<K>> {
        self.state.by_index(&handle.index, value)
    }

    /// The names of the objects filed under a value, sorted.
    pub fn index_keys(&self, handle: &IndexHandle<K>, value: &str) -> Vec<ObjectName> {
        let objects = self.by_index(handle, value);
        let mut names: Vec<_> = objects.iter().map(|object| object.object_name()).collect();
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

    /// The objects that a label selector matches, in one namespace or in all. Answered from an
    /// index where one covers a requirement ([`Index::label`], [`Index::namespace`]).
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
