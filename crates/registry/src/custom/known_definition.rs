//! `KnownDefinition`: a stored definition as long as the server follows it.
//!
//! A decoded schema takes fifty times its stored bytes, so schemas are decoded only while they are
//! needed.

use crate::stored::Stored;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::AnyObject;
use std::any::Any;

/// A stored definition.
#[derive(Clone)]
pub(crate) struct KnownDefinition {
    stored: Stored,
    /// The definition without its schemas, with the status that the server has set last.
    pub(crate) outline: CustomResourceDefinition,
}

impl KnownDefinition {
    /// Returns the definition in a stored value; `None` if it cannot be decoded.
    pub(crate) fn of(stored: &Stored) -> Option<Self> {
        // Others may keep the decoded forms of their handle.
        let stored = stored.at_revision(stored.revision());
        let mut outline = decode(&stored)?;
        for version in &mut outline.spec.versions {
            version.schema = None;
        }
        outline.metadata.managed_fields = Vec::new();
        Some(Self { stored, outline })
    }

    /// Returns the whole definition, with the status of the outline.
    pub(crate) fn decode(&self) -> Option<CustomResourceDefinition> {
        let mut whole = decode(&self.stored)?;
        whole.status.clone_from(&self.outline.status);
        Some(whole)
    }
}

fn decode(stored: &Stored) -> Option<CustomResourceDefinition> {
    let object: Box<dyn AnyObject> = stored.to_object().ok()?;
    let object: &dyn Any = &*object;
    object.downcast_ref().cloned()
}
