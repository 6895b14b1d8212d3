//! `NameHash`: the hash of an object's name, computed once for all the mailboxes that it goes to.
//!
//! Promises: equal names have equal hashes, for as long as the process lives and whichever informer
//! asks; which hash a name has cannot be known outside.

use hashbrown::DefaultHashBuilder;
use kubist_apimachinery::Object;
use kubist_cache::{Deleted, ResourceEvent};
use std::hash::BuildHasher;
use std::sync::LazyLock;

/// One for all informers, so that a hash never meets one of another hasher.
static HASHER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameHash(u64);

impl NameHash {
    /// Of the object that the change is about.
    pub(crate) fn of<K: Object>(change: &ResourceEvent<K>) -> Self {
        Self(HASHER.hash_one(match change {
            ResourceEvent::Added { object, .. } | ResourceEvent::Resynced(object) => {
                name_of(&**object)
            }
            ResourceEvent::Updated { new, .. } => name_of(&**new),
            ResourceEvent::Deleted(deleted) => name_of_deleted(deleted),
        }))
    }

    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

/// Namespace and name, without a copy of either.
pub(crate) fn name_of<K: Object>(object: &K) -> (&str, &str) {
    (object.namespace(), object.name())
}

/// As [`name_of`].
pub(crate) fn name_of_deleted<K: Object>(deleted: &Deleted<K>) -> (&str, &str) {
    match deleted {
        Deleted::Known(object) => name_of(&**object),
        Deleted::FinalStateUnknown { name, .. } => (&name.namespace, &name.name),
    }
}
