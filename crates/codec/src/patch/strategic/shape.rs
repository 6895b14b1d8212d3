//! `Shape`: the schema information at a position in the tree.

use crate::patch::PatchError;
use kubist_apimachinery::wire::{FieldType, JsonForm, Merge, Schema};

/// The schema information of a JSON value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// An object with the fields of a message.
    Message(&'static Schema),
    /// A map whose values are messages.
    MapOf(&'static Schema),
    /// Any JSON: objects merge, lists are replaced.
    Free,
}

/// A member of an object: its merge strategy, and the shape of it or of its items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) merge: Merge,
    pub(super) shape: Shape,
}

impl Child {
    const FREE: Self = Self {
        merge: Merge::NONE,
        shape: Shape::Free,
    };

    /// The Go type of the items.
    pub(super) fn message(&self) -> &'static str {
        match self.shape {
            Shape::Message(schema) | Shape::MapOf(schema) => schema.name,
            Shape::Free => "map",
        }
    }
}

impl Shape {
    pub(super) fn of(schema: &'static Schema) -> Self {
        match schema.form {
            // Upstream treats raw JSON as a struct without fields.
            JsonForm::Object | JsonForm::Raw => Self::Message(schema),
            _ => Self::Free,
        }
    }

    /// Returns the member `key`.
    pub(super) fn child(self, key: &str) -> Result<Child, PatchError> {
        let schema = match self {
            Self::Message(schema) => schema,
            Self::MapOf(values) => {
                return Ok(Child {
                    merge: Merge::NONE,
                    shape: Self::of(values),
                });
            }
            Self::Free => return Ok(Child::FREE),
        };
        let field = schema.field(key).ok_or_else(|| PatchError::UnknownField {
            message: schema.name,
            field: key.to_owned(),
        })?;
        let shape = match field.ty {
            FieldType::Message(schema) | FieldType::MessageList(schema) => Self::of(schema),
            FieldType::MessageMap(schema) => Self::MapOf(schema),
            _ => Self::Free,
        };
        Ok(Child {
            merge: field.merge,
            shape,
        })
    }
}
