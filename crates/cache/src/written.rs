//! `Written`: what a write returned, and how to tell whether a store shows it.
//!
//! It is plain data and can be kept, compared and sent. It does not wait: that is
//! [`Lister::wait_for`](crate::Lister::wait_for); it does not hold the object: that is
//! [`Overlay`](crate::Overlay).
//!
//! Source of the idea: the consistency store of Kubernetes' own controllers (KEP 5647), which
//! skips and retries instead of waiting, and knows no deletions.

use crate::store::State;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion, Str};
use std::cmp::Ordering;
use std::fmt;

/// One write to one object, as the server answered it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The object.
    pub name: ObjectName,
    /// Its uid; empty if the answer had none, which then means any.
    pub uid: Str,
    /// What was done.
    pub outcome: Outcome,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an object is there or it is not")]
pub enum Outcome {
    /// The object exists in this version.
    Saved {
        /// The version that the server returned.
        version: ResourceVersion,
    },
    /// The object is gone.
    Deleted {
        /// A version at or after which it was deleted, as far as known: a store that has not come
        /// so far may lack the object because it never saw it. Unset if nothing is known.
        after: ResourceVersion,
    },
}

/// Whether a store shows a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth answer")]
pub enum Visibility {
    /// It shows that write, or something later.
    Shown,
    /// It does not yet.
    NotYet,
    /// The versions cannot be compared, and what the store has is not exactly what was written:
    /// it may be older or newer.
    Unknown,
}

impl Written {
    /// An object was created, changed, or marked for deletion; `object` is the server's answer.
    pub fn saved<K: Object>(object: &K) -> Self {
        Self {
            name: object.object_name(),
            uid: object.uid().into(),
            outcome: Outcome::Saved {
                version: object.resource_version().into(),
            },
        }
    }

    /// An object was deleted and is gone: not one that waits for its finalizers, which is
    /// [`saved`](Self::saved). An empty uid means whichever object has the name.
    pub fn deleted(name: ObjectName, uid: impl Into<Str>) -> Self {
        Self {
            name,
            uid: uid.into(),
            outcome: Outcome::Deleted {
                after: ResourceVersion::default(),
            },
        }
    }

    /// An object was deleted and is gone; `object` is how it was last seen, or how the server
    /// returned it.
    pub fn deleted_object<K: Object>(object: &K) -> Self {
        Self::deleted(object.object_name(), object.uid()).after(object.resource_version().into())
    }

    /// For a deletion: the version that the object had, so that a store which has not seen the
    /// object yet is not taken for one that has seen it go.
    #[must_use]
    pub fn after(mut self, version: ResourceVersion) -> Self {
        if let Outcome::Deleted { after } = &mut self.outcome {
            *after = version;
        }
        self
    }

    /// The version that a store has to reach, as far as known.
    pub fn version(&self) -> &ResourceVersion {
        match &self.outcome {
            Outcome::Saved { version } => version,
            Outcome::Deleted { after } => after,
        }
    }

    /// Whether it is a deletion.
    pub fn is_deletion(&self) -> bool {
        matches!(self.outcome, Outcome::Deleted { .. })
    }

    /// Whether there is anything by which it could be recognised.
    pub(crate) fn is_traceable(&self) -> bool {
        self.is_deletion() || !self.version().is_unset()
    }

    pub(crate) fn concerns(&self, uid: &str) -> bool {
        self.uid.is_empty() || self.uid == *uid
    }

    /// What is left to wait for after `later` was recorded too. Answers to writes that ran side by
    /// side may be recorded in any order.
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
                    // What was saved took the place of what was deleted.
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

    /// Whether `state` shows this write or something later.
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
                // Of a name that could not be read it says nothing.
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
                // A store without any list says nothing by not having an object.
                if state.resource_version.is_unset()
                    || held.is_none() && state.is_behind_for(&self.name)
                    || held.is_some_and(|held| self.concerns(held.uid()))
                {
                    return Visibility::NotYet;
                }
                let successor = held.map(|held| ResourceVersion::from(held.resource_version()));
                let is_after = |it: &ResourceVersion| it.compare(after) != Some(Ordering::Less);
                // Where versions cannot be compared, that the uid is gone is all there is to see.
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
