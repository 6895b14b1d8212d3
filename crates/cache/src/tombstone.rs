//! `Deleted`: what is known of an object that is gone.

use kubist_apimachinery::{Object, ObjectName};
use std::fmt;
use std::sync::Arc;

/// An object that no longer exists, or is no longer selected.
#[expect(clippy::exhaustive_enums, reason = "a handler must tell the two apart")]
pub enum Deleted<K> {
    /// The watch reported it: this is its last state, with the version of the deletion.
    Known(Arc<K>),
    /// A later list did not have it: when it went, and what it was then, nobody saw.
    FinalStateUnknown {
        /// Its name.
        name: ObjectName,
        /// The last state seen, if any was.
        last_known: Option<Arc<K>>,
    },
}

impl<K: Object> Deleted<K> {
    /// The name.
    pub fn object_name(&self) -> ObjectName {
        match self {
            Self::Known(object) => object.object_name(),
            Self::FinalStateUnknown { name, .. } => name.clone(),
        }
    }

    /// The last state that is known.
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
