//! `Deleted`: the last known state of a deleted object.

use kubist_apimachinery::{Object, ObjectName};
use std::fmt;
use std::sync::Arc;

/// An object that was deleted, or is no longer selected.
#[expect(clippy::exhaustive_enums, reason = "a handler must tell the two apart")]
pub enum Deleted<K> {
    /// A watch reported the deletion. This is the last state, with the version of the deletion.
    Known(Arc<K>),
    /// The object was missing from a later list; its deletion and its final state were not
    /// observed.
    FinalStateUnknown {
        /// The object name.
        name: ObjectName,
        /// The last known state, if any.
        last_known: Option<Arc<K>>,
    },
}

impl<K: Object> Deleted<K> {
    /// Returns the object name.
    pub fn object_name(&self) -> ObjectName {
        match self {
            Self::Known(object) => object.object_name(),
            Self::FinalStateUnknown { name, .. } => name.clone(),
        }
    }

    /// Returns the last known state.
    pub fn object(&self) -> Option<&Arc<K>> {
        match self {
            Self::Known(object) => Some(object),
            Self::FinalStateUnknown { last_known, .. } => last_known.as_ref(),
        }
    }
}

impl<K> Clone for Deleted<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Known(object) => Self::Known(Arc::clone(object)),
            Self::FinalStateUnknown { name, last_known } => Self::FinalStateUnknown {
                name: name.clone(),
                last_known: last_known.clone(),
            },
        }
    }
}

impl<K: Object> fmt::Debug for Deleted<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Known(_) => "Known",
            Self::FinalStateUnknown { .. } => "FinalStateUnknown",
        };
        write!(f, "{kind}({})", self.object_name())
    }
}
