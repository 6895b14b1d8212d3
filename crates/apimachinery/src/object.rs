//! `Object`: read access to metadata, for caches, selectors and queues.
//!
//! It returns views instead of maps, so that interned, borrowed, encoded and foreign types can
//! implement it. It gives no access to spec or status, and no write access.

use crate::wire::{ScannedOwners, ScannedPairs};
use crate::{LabelFilter, ObjectMeta, ObjectName, OwnerReference, Str};
use std::collections::BTreeMap;

/// An object with Kubernetes metadata.
pub trait Object: Send + Sync + 'static {
    /// Returns `metadata.name`.
    fn name(&self) -> &str;
    /// Returns `metadata.namespace`; empty for cluster-scoped objects.
    fn namespace(&self) -> &str;
    /// Returns `metadata.uid`.
    fn uid(&self) -> &str;
    /// Returns `metadata.resourceVersion`.
    fn resource_version(&self) -> &str;
    /// Returns `metadata.labels`.
    fn labels(&self) -> KeyValues<'_>;
    /// Returns `metadata.annotations`.
    fn annotations(&self) -> KeyValues<'_>;
    /// Returns `metadata.ownerReferences`.
    fn owners(&self) -> Owners<'_>;
    /// Reports whether `metadata.deletionTimestamp` is set.
    fn is_terminating(&self) -> bool;

    /// Returns a summary of the labels if it is at hand, by which a store finds objects faster. The
    /// default is one of unknown labels.
    fn label_filter(&self) -> LabelFilter {
        LabelFilter::default()
    }

    /// Returns an object without content, if one is made without allocating: caches make some
    /// ahead, side by side in memory. The default is none.
    fn vacant() -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the namespace and name.
    fn object_name(&self) -> ObjectName {
        ObjectName::new(self.namespace(), self.name())
    }
}

/// Labels or annotations, in any representation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum KeyValues<'a> {
    /// No pairs.
    Empty,
    /// A map of this crate's strings.
    Map(&'a BTreeMap<Str, Str>),
    /// A map of standard strings, as in other crates' types.
    Strings(&'a BTreeMap<String, String>),
    /// A slice sorted by key.
    Pairs(&'a [(Str, Str)]),
    /// Encoded, in the object's bytes.
    Scanned(ScannedPairs<'a>),
    /// Another representation.
    Dyn(&'a dyn KeyValueSource),
}

/// A custom representation of labels or annotations.
pub trait KeyValueSource: std::fmt::Debug + Send + Sync {
    /// Returns the value of a key.
    fn value(&self, key: &str) -> Option<&str>;
    /// Returns the pair at an index, in any fixed order.
    fn pair(&self, index: usize) -> Option<(&str, &str)>;
}

impl<'a> KeyValues<'a> {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        match *self {
            Self::Empty => None,
            Self::Map(map) => map.get(key).map(Str::as_str),
            Self::Strings(map) => map.get(key).map(String::as_str),
            Self::Pairs(pairs) => pairs
                .binary_search_by(|(found, _)| (**found).cmp(key))
                .ok()
                .map(|index| pairs[index].1.as_str()),
            Self::Scanned(pairs) => pairs.get(key),
            Self::Dyn(source) => source.value(key),
        }
    }

    /// Iterates over all pairs.
    pub fn iter(self) -> Box<dyn Iterator<Item = (&'a str, &'a str)> + 'a> {
        match self {
            Self::Empty => Box::new(std::iter::empty()),
            Self::Map(map) => Box::new(map.iter().map(|(key, value)| (&**key, &**value))),
            Self::Strings(map) => Box::new(map.iter().map(|(key, value)| (&**key, &**value))),
            Self::Pairs(pairs) => Box::new(pairs.iter().map(|(key, value)| (&**key, &**value))),
            Self::Scanned(pairs) => Box::new(pairs.iter()),
            Self::Dyn(source) => Box::new((0..).map_while(|index| source.pair(index))),
        }
    }

    /// Reports whether there are no pairs.
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }
}

/// Owner references, in any representation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Owners<'a> {
    /// A list of this crate's type.
    List(&'a [OwnerReference]),
    /// Encoded, in the object's bytes.
    Scanned(ScannedOwners<'a>),
    /// Another representation.
    Dyn(&'a dyn OwnerSource),
}

/// A borrowed owner reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "implementers outside build it")]
pub struct Owner<'a> {
    /// `group/version`.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The name.
    pub name: &'a str,
    /// The uid.
    pub uid: &'a str,
    /// Whether it is the managing controller.
    pub controller: bool,
}

/// A custom representation of owner references.
pub trait OwnerSource: std::fmt::Debug + Send + Sync {
    /// Returns the owner at an index.
    fn owner(&self, index: usize) -> Option<Owner<'_>>;
}

impl<'a> Owners<'a> {
    /// Returns the owner at an index.
    pub fn at(self, index: usize) -> Option<Owner<'a>> {
        match self {
            Self::List(list) => list.get(index).map(|owner| Owner {
                api_version: &owner.api_version,
                kind: &owner.kind,
                name: &owner.name,
                uid: &owner.uid,
                controller: owner.controller == Some(true),
            }),
            Self::Scanned(owners) => owners.at(index),
            Self::Dyn(source) => source.owner(index),
        }
    }

    /// Iterates over all owners.
    pub fn iter(self) -> impl Iterator<Item = Owner<'a>> {
        (0..).map_while(move |index| self.at(index))
    }

    /// Returns the owner that is the controller.
    pub fn controller(self) -> Option<Owner<'a>> {
        self.iter().find(|owner| owner.controller)
    }
}

impl Object for ObjectMeta {
    fn name(&self) -> &str {
        &self.name
    }
    fn namespace(&self) -> &str {
        &self.namespace
    }
    fn uid(&self) -> &str {
        &self.uid
    }
    fn resource_version(&self) -> &str {
        &self.resource_version
    }
    fn labels(&self) -> KeyValues<'_> {
        KeyValues::Map(&self.labels)
    }
    fn annotations(&self) -> KeyValues<'_> {
        KeyValues::Map(&self.annotations)
    }
    fn owners(&self) -> Owners<'_> {
        Owners::List(&self.owner_references)
    }
    fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
    fn vacant() -> Option<Self> {
        Some(Self::default())
    }
}
