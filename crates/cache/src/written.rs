//! `Written`: the record of a write, and whether a store shows it.
//!
//! It is plain data that can be stored, compared and sent.
//! [`Lister::wait_for`](crate::Lister::wait_for) waits for it; [`Overlay`](crate::Overlay) holds
//! the written object.
//!
//! The idea is that of the consistency store in Kubernetes' own controllers (KEP 5647), which skips
//! and retries instead of waiting, and does not cover deletions.

use crate::store::State;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion, Str};
use std::cmp::Ordering;
use std::fmt;

/// One write to one object, as the server answered it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The object name.
    pub name: ObjectName,
    /// The object's uid; empty if the answer had none, which matches any.
    pub uid: Str,
    /// The result of the write.
    pub outcome: Outcome,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an object is there or it is not")]
pub enum Outcome {
    /// The object exists in this version.
    Saved {
        /// The version that the server returned.
        version: ResourceVersion,
    },
    /// The object was deleted.
    Deleted {
        /// A version at or after which it was deleted, as far as known; unset if unknown. A store
        /// that has not reached it may lack the object because it never contained it.
        after: ResourceVersion,
    },
}

/// Whether a store shows a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth answer")]
pub enum Visibility {
    /// It shows the write or a later one.
    Shown,
    /// It does not show the write yet.
    NotYet,
    /// The versions cannot be compared, and the stored object is not exactly the written one: it
    /// may be older or newer.
    Unknown,
}

impl Written {
    /// Records that an object was created, updated, or marked for deletion; `object` is the
    /// server's answer.
    pub fn saved<K: Object>(object: &K) -> Self {
        Self {
            name: object.object_name(),
            uid: object.uid().into(),
            outcome: Outcome::Saved {
                version: object.resource_version().into(),
            },
        }
    }

    /// Records that an object was deleted. An object that waits for its finalizers is
    /// [`saved`](Self::saved) instead. An empty uid matches any object of the name.
    pub fn deleted(name: ObjectName, uid: impl Into<Str>) -> Self {
        Self {
            name,
            uid: uid.into(),
            outcome: Outcome::Deleted {
                after: ResourceVersion::default(),
            },
        }
    }

    /// Records that an object was deleted; `object` is its last known state, or the server's
    /// answer.
    pub fn deleted_object<K: Object>(object: &K) -> Self {
        Self::deleted(object.object_name(), object.uid()).after(object.resource_version().into())
    }

    /// For a deletion: sets the version that the object had, so that a store which has not seen the
    /// object yet does not count as having seen its deletion.
    #[must_use]
    pub fn after(mut self, version: ResourceVersion) -> Self {
        if let Outcome::Deleted { after } = &mut self.outcome {
            *after = version;
        }
        self
    }

    /// Returns the version that a store has to reach, as far as known.
    pub fn version(&self) -> &ResourceVersion {
        match &self.outcome {
            Outcome::Saved { version } => version,
            Outcome::Deleted { after } => after,
        }
    }

    /// Reports whether this is a deletion.
    pub fn is_deletion(&self) -> bool {
        matches!(self.outcome, Outcome::Deleted { .. })
    }

    /// Reports whether the write has a version or uid by which it can be recognised.
    pub(crate) fn is_traceable(&self) -> bool {
        self.is_deletion() || !self.version().is_unset()
    }

    pub(crate) fn concerns(&self, uid: &str) -> bool {
        self.uid.is_empty() || self.uid == *uid
    }

    /// Returns the write to wait for after `later` was recorded too. Answers to concurrent writes
    /// may be recorded in any order.
    pub(crate) fn then(self, mut later: Self) -> Self {
        let is_older =
            |it: &ResourceVersion, than: &ResourceVersion| it.compare(than) == Some(Ordering::Less);
        match (&self.outcome, &mut later.outcome) {
            (Outcome::Saved { version }, Outcome::Deleted { after }) => {
                if self.concerns(&later.uid) || later.uid.is_empty() {
                    if after.compare(version) != Some(Ordering::Greater) {
                        *after = version.clone();
                    }
                    later.uid = if later.uid.is_empty() {
                        self.uid
                    } else {
                        later.uid
                    };
                } else if after.compare(version) != Some(Ordering::Greater) {
                    // The saved object replaced the deleted one.
                    return self;
                }
            }
            (Outcome::Deleted { after }, Outcome::Saved { version }) => {
                let is_same = !self.uid.is_empty() && self.uid == later.uid;
                if is_same || is_older(version, after) {
                    return self;
                }
            }
            (Outcome::Saved { version }, Outcome::Saved { version: new }) => {
                if is_older(new, version) {
                    return self;
                }
            }
            (Outcome::Deleted { after }, Outcome::Deleted { after: new }) => {
                if is_older(new, after) {
                    return self;
                }
                if new.is_unset() {
                    *new = after.clone();
                }
            }
        }
        later
    }

    /// Reports whether `state` includes this write or a later one.
    pub(crate) fn visibility<K: Object>(&self, state: &State<K>) -> Visibility {
        let held = state.find(&self.name.namespace, &self.name.name);
        match &self.outcome {
            Outcome::Saved { version } => {
                if let Some(held) = held
                    && self.concerns(held.uid())
                    && !version.is_unset()
                    && *version == *held.resource_version()
                {
                    return Visibility::Shown;
                }
                let held = held.map(|held| ResourceVersion::from(held.resource_version()));
                let by_object = held.and_then(|held| held.compare(version));
                // The version does not apply to a name whose state could not be decoded.
                let is_behind = state.is_behind_for(&self.name);
                let by_store = state.resource_version.compare(version);
                let by_store = by_store.filter(|_| !is_behind);
                match (by_object, by_store) {
                    (Some(Ordering::Equal | Ordering::Greater), _)
                    | (_, Some(Ordering::Equal | Ordering::Greater)) => Visibility::Shown,
                    (None, None) if state.resource_version.is_unset() || is_behind => {
                        Visibility::NotYet
                    }
                    (None, None) => Visibility::Unknown,
                    _ => Visibility::NotYet,
                }
            }
            Outcome::Deleted { after } => {
                // In a store without a list, a missing object means nothing.
                if state.resource_version.is_unset()
                    || held.is_none() && state.is_behind_for(&self.name)
                    || held.is_some_and(|held| self.concerns(held.uid()))
                {
                    return Visibility::NotYet;
                }
                let successor = held.map(|held| ResourceVersion::from(held.resource_version()));
                let is_after = |it: &ResourceVersion| it.compare(after) != Some(Ordering::Less);
                // If versions cannot be compared, the missing uid is the only evidence.
                if is_after(&state.resource_version) || successor.is_some_and(|it| is_after(&it)) {
                    Visibility::Shown
                } else {
                    Visibility::NotYet
                }
            }
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Saved { version } => write!(f, "{}@{version}", self.name),
            Outcome::Deleted { .. } => write!(f, "deletion of {}", self.name),
        }
    }
}
