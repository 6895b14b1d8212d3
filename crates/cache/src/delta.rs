//! `Delta`: an entry that a reflector puts into a queue. `ResourceEvent`: the change that a delta
//! made in the store.

use crate::Deleted;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::fmt;
use std::sync::Arc;

/// An event from the server. A queue keeps them in the order of their arrival.
#[expect(clippy::exhaustive_enums, reason = "a processor must handle each")]
pub enum Delta<K> {
    /// A watch reported a new object.
    Added(Arc<K>),
    /// A watch reported a changed object.
    Updated(Arc<K>),
    /// The object was deleted.
    Deleted(Deleted<K>),
    /// An object of a new list (only from a [`DeltaFifo`](crate::DeltaFifo)).
    Replaced(Arc<K>),
    /// An object that a resync repeats.
    Sync(Arc<K>),
    /// A new list. Objects that are not in it were deleted.
    ReplacedAll(Replacement<K>),
    /// A resync of every object.
    SyncAll,
    /// Everything up to this version was delivered.
    Bookmark(ResourceVersion),
    /// The object of this name exists, but its current state cannot be decoded; the stored state is
    /// out of date. An empty name stands for an object whose name cannot be decoded either.
    Unreadable {
        /// The object name.
        name: ObjectName,
        /// The version of that state; unset if it cannot be decoded either.
        resource_version: ResourceVersion,
    },
}

/// A complete list.
pub struct Replacement<K> {
    /// The list's resource version.
    pub resource_version: ResourceVersion,
    /// The objects, in the server's order.
    pub objects: Vec<Arc<K>>,
    /// Listed objects that cannot be decoded. Their stored state is kept. If such an object is in
    /// `objects` too, that state is older. An empty name stands for objects whose names cannot be
    /// decoded.
    pub unreadable: Vec<ObjectName>,
}

/// A change in the store, as handlers receive it after readers can see it. client-go has a method
/// of `ResourceEventHandler` for each.
#[expect(clippy::exhaustive_enums, reason = "a handler must handle each")]
pub enum ResourceEvent<K> {
    /// The object was not in the store.
    Added {
        /// The object.
        object: Arc<K>,
        /// Whether the object was in the first list.
        initial: bool,
    },
    /// The object was in the store in another version, or, rarely, as another object with the same
    /// name: compare the uids.
    Updated {
        /// The previous state.
        old: Arc<K>,
        /// The new state.
        new: Arc<K>,
    },
    /// The object is no longer in the store.
    Deleted(Deleted<K>),
    /// The object did not change; sent to handlers with a resync period.
    Resynced(Arc<K>),
}

impl<K: Object> Delta<K> {
    /// Returns the object's name, or `None` for a delta that concerns all objects.
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

    /// Returns the newest known state of the object; `None` for a delta that concerns all objects,
    /// and for a deletion without a last known state.
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
    /// Returns the object's name.
    pub fn object_name(&self) -> ObjectName {
        match self {
            Self::Added { object, .. } | Self::Resynced(object) => object.object_name(),
            Self::Updated { new, .. } => new.object_name(),
            Self::Deleted(deleted) => deleted.object_name(),
        }
    }

    /// Returns the newest known state; `None` for a deletion without a last known state.
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
