//! `Object`: thin read access to metadata, for caches, selectors and queues.
//!
//! Views instead of maps, so that interned, borrowed and encoded forms can implement it, and types
//! of other crates too. It is not access to spec or status, and cannot change anything.

use crate::wire::{ScannedOwners, ScannedPairs};
use crate::{ObjectMeta, ObjectName, OwnerReference, Str};
use std::collections::BTreeMap;

/// Something with the metadata of a Kubernetes object.
pub trait Object: Send + Sync + 'static {
    /// `metadata.name`.
    fn name(&self) -> &str;
    /// `metadata.namespace`; empty for cluster-scoped objects.
    fn namespace(&self) -> &str;
    /// `metadata.uid`.
    fn uid(&self) -> &str;
    /// `metadata.resourceVersion`.
    fn resource_version(&self) -> &str;
    /// `metadata.labels`.
    fn labels(&self) -> KeyValues<'_>;
    /// `metadata.annotations`.
    fn annotations(&self) -> KeyValues<'_>;
    /// `metadata.ownerReferences`.
    fn owners(&self) -> Owners<'_>;
    /// Whether `metadata.deletionTimestamp` is set.
    fn is_terminating(&self) -> bool;

    /// Namespace and name.
    fn object_name(&self) -> ObjectName {
        ObjectName::new(self.namespace(), self.name())
    }
}

/// Labels or annotations, wherever they are held.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum KeyValues<'a> {
    /// None at all.
    Empty,
    /// In a map of ours.
    Map(&'a BTreeMap<Str, Str>),
    /// In a map of other crates' types.
    Strings(&'a BTreeMap<String, String>),
    /// In a slice sorted by key.
    Pairs(&'a [(Str, Str)]),
    /// In the object's bytes.
    Scanned(ScannedPairs<'a>),
    /// Anywhere else.
    Dyn(&'a dyn KeyValueSource),
}

/// Labels or annotations in a form of the implementer's own.
pub trait KeyValueSource: std::fmt::Debug + Send + Sync {
    /// The value of a key.
    fn value(&self, key: &str) -> Option<&str>;
    /// The pair at a position, in any fixed order.
    fn pair(&self, index: usize) -> Option<(&str, &str)>;
}

impl<'a> KeyValues<'a> {
    /// The value of a key.
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

    /// All pairs.
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

    /// Whether there is no pair.
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }
}

/// Owner references, wherever they are held.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Owners<'a> {
    /// In a list of ours.
    List(&'a [OwnerReference]),
    /// In the object's bytes.
    Scanned(ScannedOwners<'a>),
    /// Anywhere else.
    Dyn(&'a dyn OwnerSource),
}

/// One owner, borrowed.
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
    /// Whether it is the controller.
    pub controller: bool,
}

/// Owner references in a form of the implementer's own.
pub trait OwnerSource: std::fmt::Debug + Send + Sync {
    /// The owner at a position.
    fn owner(&self, index: usize) -> Option<Owner<'_>>;
}

impl<'a> Owners<'a> {
    /// The owner at a position.
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

    /// All owners.
    pub fn iter(self) -> impl Iterator<Item = Owner<'a>> {
        (0..).map_while(move |index| self.at(index))
    }

    /// The owner that is the controller.
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
}
