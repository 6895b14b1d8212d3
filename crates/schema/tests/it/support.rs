//! What the tests share: schemas and errors as text.

use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::wire::{DecodeContext, Limits, Wire as _};
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_schema::{Schema, Steps};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Decodes a schema of a definition.
pub(crate) fn props(schema: &Value) -> JSONSchemaProps {
    let limits = Limits {
        depth_max: 1_000,
        ..Limits::default()
    };
    let mut cx = DecodeContext::new().with_limits(limits);
    let text = schema.to_string();
    JSONSchemaProps::from_json(text.as_bytes(), &mut cx).expect("it is a schema")
}

/// Converts a schema.
pub(crate) fn schema(schema: &Value) -> Arc<Schema> {
    Schema::convert(&props(schema)).expect("it converts")
}

/// Returns the members of an object.
pub(crate) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().expect("it is an object")
}

/// Returns the texts of errors.
pub(crate) fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Validates an object.
pub(crate) fn validate(value: &Value, of: &Schema) -> Vec<String> {
    let errors = kubist_schema::validate(value, of, &FieldPath::ROOT, &mut Steps::default());
    texts(&errors)
}

/// Validates a changed object.
pub(crate) fn validate_update(new: &Value, old: &Value, of: &Schema) -> Vec<String> {
    let path = &FieldPath::ROOT;
    let errors = kubist_schema::validate_update(new, old, of, path, &mut Steps::default());
    texts(&errors)
}
