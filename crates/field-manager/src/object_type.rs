//! `ObjectType`: the type of the objects of one version.

use crate::schema::{Schema, TypeRef};
use crate::typed::{Duplicates, TypedErrors, TypedValue};
use serde_json::Value;
use std::sync::Arc;

/// The type of the objects of one version. Clones share the schema.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ObjectType {
    /// The schema.
    pub schema: Arc<Schema>,
    /// The type of an object in it.
    pub root: TypeRef,
}

impl ObjectType {
    /// Checks an object against the type.
    ///
    /// # Errors
    /// The object does not fit the type.
    pub fn typed(&self, object: Value, duplicates: Duplicates) -> Result<TypedValue, TypedErrors> {
        let Self { schema, root } = self;
        TypedValue::new(object, Arc::clone(schema), root.clone(), duplicates)
    }

    /// Returns the type of a value.
    pub(crate) fn of(typed: &TypedValue) -> Self {
        Self {
            schema: Arc::clone(typed.schema()),
            root: typed.type_ref().clone(),
        }
    }
}
