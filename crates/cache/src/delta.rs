//! `Delta`: one thing that a reflector puts into a queue; `ResourceEvent`: what it did to the store.

use crate::Deleted;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::fmt;
use std::sync::Arc;

/// News from the server, in the order of their arrival.
#[expect(clippy::exhaustive_enums, reason = "a processor must handle each")]
pub enum Delta<K> {
    /// A watch says that the object is new.
    Added(Arc<K>),
    /// A watch says that the object changed.
    Updated(Arc<K>),
    /// The object is gone.
    Deleted(Deleted<K>),
    /// One object of a new list ([`DeltaFifo`](crate::DeltaFifo) only).
    Replaced(Arc<K>),
    /// One object again, for a resync.
    Sync(Arc<K>),
    /// A new list: what it does not have is gone.
    ReplacedAll(Replacement<K>),
    /// Every object again, for a resync.
    SyncAll,
    /// Nothing else happened up to this version.
    Bookmark(ResourceVersion),
    /// The object of this name is there, in a state that could not be read; what is known of it
    /// is older. A name without letters: some object, nobody knows which.
    Unreadable {
        /// Its name.
        name: ObjectName,
        /// The version of that state; unset if it could not be read either.
        resource_version: ResourceVersion,
    },
}

/// A whole list.
pub struct Replacement<K> {
    /// Its version.
    pub resource_version: ResourceVersion,
    /// The objects, in the server's order.
    pub objects: Vec<Arc<K>>,
    /// Objects that the list had and that could not be read: what is known of them stays. One that
    /// is among the objects too was read before it changed. A name
    /// without letters stands for those of which not even that could be read.
    pub unreadable: Vec<ObjectName>,
}

/// What handlers are told, once the store shows it.
#[expect(clippy::exhaustive_enums, reason = "a handler must handle each")]
pub enum ResourceEvent<K> {
    /// The object was not in the store.
    Added {
        /// The object.
        object: Arc<K>,
        /// Whether it was in the first list.
        initial: bool,
    },
    /// The object was in the store in another version (or, rarely, another object of that name:
    /// compare uids).
    Updated {
        /// Before.
        old: Arc<K>,
        /// Now.
        new: Arc<K>,
    },
    /// The object is no longer in the store.
    Deleted(Deleted<K>),
    /// The object did not change; told to those who asked for resyncs.
    Resynced(Arc<K>),
}

impl<K: Object> Delta<K> {
    /// The object's name; none for what concerns all objects.
    pub fn object_name(&self) -> Option<ObjectName> {
        match self {
            Self::Added(object)
            | Self::Updated(object)
            | Self::Replaced(object)
            | Self::Sync(object) => Some(object.object_name()),
            Self::Deleted(deleted) => Some(deleted.object_name()),
            Self::Unreadable { name, .. } => Some(name.clone()),
            Self::ReplacedAll(_) | Self::SyncAll | Self::Bookmark(_) => None,
        }
    }

    /// The newest state that it tells of one object; none for what concerns all objects, and for
    /// a deletion of which nothing was seen.
    pub fn object(&self) -> Option<&Arc<K>> {
        match self {
            Self::Added(object)
            | Self::Updated(object)
            | Self::Replaced(object)
            | Self::Sync(object) => Some(object),
            Self::Deleted(deleted) => deleted.object(),
            Self::ReplacedAll(_) | Self::SyncAll | Self::Bookmark(_) | Self::Unreadable { .. } => {
                None
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Added(_) => "Added",
            Self::Updated(_) => "Updated",
            Self::Deleted(_) => "Deleted",
            Self::Replaced(_) => "Replaced",
            Self::Sync(_) => "Sync",
            Self::ReplacedAll(_) => "ReplacedAll",
            Self::SyncAll => "SyncAll",
            Self::Bookmark(_) => "Bookmark",
            Self::Unreadable { .. } => "Unreadable",
        }
    }
}

impl<K: Object> ResourceEvent<K> {
    /// The object's name.
    pub fn object_name(&self) -> ObjectName {
        match self {
            Self::Added { object, .. } | Self::Resynced(object) => object.object_name(),
            Self::Updated { new, .. } => new.object_name(),
            Self::Deleted(deleted) => deleted.object_name(),
        }
    }

    /// The newest state that is known; none for a deletion of which nothing was seen.
    pub fn object(&self) -> Option<&Arc<K>> {
        match self {
            Self::Added { object, .. } | Self::Resynced(object) => Some(object),
            Self::Updated { new, .. } => Some(new),
            Self::Deleted(deleted) => deleted.object(),
        }
    }
}

impl<K> Clone for ResourceEvent<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { object, initial } => Self::Added {
                object: Arc::clone(object),
                initial: *initial,
            },
            Self::Updated { old, new } => Self::Updated {
                old: Arc::clone(old),
                new: Arc::clone(new),
            },
            Self::Deleted(deleted) => Self::Deleted(deleted.clone()),
            Self::Resynced(object) => Self::Resynced(Arc::clone(object)),
        }
    }
}

impl<K: Object> fmt::Debug for Delta<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReplacedAll(replacement) => replacement.fmt(f),
            Self::Bookmark(version) => write!(f, "Bookmark({version})"),
            Self::Unreadable {
                name,
                resource_version,
            } => write!(f, "Unreadable({name}@{resource_version})"),
            Self::SyncAll => f.write_str("SyncAll"),
            Self::Deleted(deleted) => deleted.fmt(f),
            Self::Added(object)
            | Self::Updated(object)
            | Self::Replaced(object)
            | Self::Sync(object) => {
                let version = object.resource_version();
                write!(f, "{}({}@{version})", self.kind(), object.object_name())
            }
        }
    }
}

impl<K: Object> fmt::Debug for Replacement<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ReplacedAll({} objects @{}",
            self.objects.len(),
            self.resource_version
        )?;
        if !self.unreadable.is_empty() {
            write!(f, ", {} unreadable", self.unreadable.len())?;
        }
        f.write_str(")")
    }
}

impl<K: Object> fmt::Debug for ResourceEvent<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.object_name();
        match self {
            Self::Added { object, initial } => {
                let initial = if *initial { ", initial" } else { "" };
                write!(f, "Added({name}@{}{initial})", object.resource_version())
            }
            Self::Updated { old, new } => {
                write!(
                    f,
                    "Updated({name}@{}->{})",
                    old.resource_version(),
                    new.resource_version()
                )
            }
            Self::Deleted(deleted) => deleted.fmt(f),
            Self::Resynced(object) => write!(f, "Resynced({name}@{})", object.resource_version()),
        }
    }
}
