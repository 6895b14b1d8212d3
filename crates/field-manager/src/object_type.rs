//! `ObjectType`: the type of the objects of one version.

use crate::field_set::FieldSet;
use crate::fields_v1::FieldsV1Error;
use crate::schema::{DEDUCED, Schema, TypeRef};
use crate::typed::{Duplicates, TypedErrors, TypedValue};
use kubist_apimachinery::ManagedFieldsEntry;
use serde_json::{Map, Value};
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

/// What a manager has applied cannot be extracted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The object does not fit the type.
    #[error("error converting obj to typed: {0}")]
    Object(#[from] TypedErrors),
    /// The field set cannot be read.
    #[error("error marshalling FieldsV1 to JSON: {0}")]
    Fields(#[from] FieldsV1Error),
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

    /// Returns what a manager has applied of an object, through the object itself or one of its
    /// subresources; none if it owns nothing. The counterpart of client-go's `ExtractInto`.
    ///
    /// The result is a configuration that can be changed and applied again.
    ///
    /// ```
    /// use kubist_apimachinery::wire::FieldsV1;
    /// use kubist_apimachinery::ManagedFieldsEntry;
    /// use kubist_field_manager::ObjectType;
    /// use serde_json::json;
    ///
    /// let spec = json!({"open": true, "width": 2});
    /// let object = json!({"kind": "Gate", "apiVersion": "v1", "spec": spec});
    /// let entry = ManagedFieldsEntry {
    ///     manager: "warden".into(),
    ///     operation: "Apply".into(),
    ///     fields_v1: Some(FieldsV1 { raw: r#"{"f:spec":{"f:open":{}}}"#.into() }),
    ///     ..ManagedFieldsEntry::default()
    /// };
    /// let config = ObjectType::deduced().extract(object, &[entry], "warden", "")?;
    /// let expected = json!({"kind": "Gate", "apiVersion": "v1", "spec": {"open": true}});
    /// assert_eq!(config, Some(expected));
    /// # Ok::<(), kubist_field_manager::ExtractError>(())
    /// ```
    ///
    /// # Errors
    /// The object does not fit the type, or the field set cannot be read.
    pub fn extract(
        &self,
        object: Value,
        entries: &[ManagedFieldsEntry],
        manager: &str,
        subresource: &str,
    ) -> Result<Option<Value>, ExtractError> {
        let fields = Self::applied_fields(entries, manager, subresource)?;
        let config = fields.map(|it| self.select(object, &it)).transpose()?;
        Ok(config.map(Value::Object))
    }

    /// Returns these fields of an object, and its type.
    pub(crate) fn select(
        &self,
        object: Value,
        fields: &FieldSet,
    ) -> Result<Map<String, Value>, ExtractError> {
        let type_meta = ["kind", "apiVersion"].map(|name| (name, object[name].clone()));
        let typed = self.typed(object, Duplicates::Refused)?;
        let Value::Object(mut config) = typed.extract(fields).into_value() else {
            return Err(TypedErrors::not_a_map().into());
        };
        if !config.contains_key("kind") {
            let type_meta = type_meta.into_iter().filter(|it| !it.1.is_null());
            config.extend(type_meta.map(|(name, value)| (name.to_owned(), value)));
        }
        Ok(config)
    }

    /// Returns the leaves of what a manager has applied; none if it owns nothing.
    pub(crate) fn applied_fields(
        entries: &[ManagedFieldsEntry],
        manager: &str,
        subresource: &str,
    ) -> Result<Option<FieldSet>, FieldsV1Error> {
        let entry = entries.iter().find(|it| {
            it.manager == *manager && it.operation == *"Apply" && it.subresource == *subresource
        });
        let fields = entry.and_then(|it| it.fields_v1.as_ref());
        let fields = fields.map(|it| FieldSet::from_json(&it.raw)).transpose()?;
        Ok(fields.map(|it| it.leaves()))
    }

    /// Returns the type of objects without a schema.
    pub fn deduced() -> Self {
        Self {
            schema: Arc::new(Schema::deduced()),
            root: TypeRef::named(DEDUCED),
        }
    }

    /// Returns the type of a value.
    pub(crate) fn of(typed: &TypedValue) -> Self {
        Self {
            schema: Arc::clone(typed.schema()),
            root: typed.type_ref().clone(),
        }
    }
}
