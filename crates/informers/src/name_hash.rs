//! `NameHash`: the hash of an object name, computed once for all mailboxes.
//!
//! Equal names have equal hashes in every informer of the process. The hasher is random, so that
//! hashes cannot be predicted from outside.

use hashbrown::DefaultHashBuilder;
use kubist_apimachinery::Object;
use kubist_cache::{Deleted, ResourceEvent};
use std::hash::BuildHasher;
use std::sync::LazyLock;

/// Shared by all informers, so that hashes of different hashers are never compared.
static HASHER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameHash(u64);

impl NameHash {
    /// Returns the hash of the object name of an event.
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

/// Returns namespace and name by reference.
pub(crate) fn name_of<K: Object>(object: &K) -> (&str, &str) {
    (object.namespace(), object.name())
}

/// Does the same as [`name_of`].
pub(crate) fn name_of_deleted<K: Object>(deleted: &Deleted<K>) -> (&str, &str) {
    match deleted {
        Deleted::Known(object) => name_of(&**object),
        Deleted::FinalStateUnknown { name, .. } => (&name.namespace, &name.name),
    }
}
