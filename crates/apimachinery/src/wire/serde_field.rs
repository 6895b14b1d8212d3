//! `SerdeField`: a field that serde encodes and decodes instead of the engine.
//!
//! Kinds of other crates have such fields: the spec and the status of a custom resource are plain
//! serde types. Their JSON is opaque to the engine, so that paths below them are not checked
//! against a schema, and server-side apply leaves out their nulls but no other empty values. In
//! protobuf, which servers do not use for such kinds, the JSON text is the one field of a message.

use crate::schema;
use crate::wire::{Field, FieldFlags, FieldType, JsonForm, Schema};
use serde_json::value::RawValue;
use std::fmt;

schema!(pub SERDE_FIELD = "object", "kubist.SerdeField",
    JsonForm::Raw, None, [Field::new("raw", 1, FieldType::Bytes, FieldFlags::NONE)]);

/// A value in JSON that serde encodes and decodes. With the feature `serde-field`, every serde type
/// implements it.
pub trait SerdeField: fmt::Debug + Send + Sync {
    /// Returns the JSON text.
    ///
    /// # Errors
    /// It has no JSON form: a map with keys that are not strings.
    fn to_raw(&self) -> Result<Box<RawValue>, serde_json::Error>;

    /// Replaces the value by the one in JSON text.
    ///
    /// # Errors
    /// The text does not fit the type.
    fn set_raw(&mut self, text: &str) -> Result<(), SerdeFieldError>;
}

/// JSON text does not fit the Rust type of a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
#[non_exhaustive]
pub struct SerdeFieldError {
    /// The path within the field, as in `sources[0].path`; empty at the field itself.
    pub path: String,
    /// The reason, in serde's words.
    pub reason: String,
}

#[cfg(feature = "serde-field")]
impl<T> SerdeField for T
where
    T: serde::Serialize + serde::de::DeserializeOwned + fmt::Debug + Send + Sync,
{
    fn to_raw(&self) -> Result<Box<RawValue>, serde_json::Error> {
        serde_json::value::to_raw_value(self)
    }

    fn set_raw(&mut self, text: &str) -> Result<(), SerdeFieldError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        *self = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let path = error.path().to_string();
            let mut reason = error.into_inner().to_string();
            if let Some(end) = reason.rfind(" at line ") {
                reason.truncate(end);
            }
            SerdeFieldError {
                path: if path == "." { String::new() } else { path },
                reason,
            }
        })?;
        Ok(())
    }
}

/// Reports whether a schema is that of a [`SerdeField`].
pub(super) const fn is_serde_field(schema: &Schema) -> bool {
    // Names are compared because constant evaluation cannot compare addresses.
    let (name, wanted) = (
        schema.full_name.as_bytes(),
        SERDE_FIELD.full_name.as_bytes(),
    );
    if name.len() != wanted.len() {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if name[at] != wanted[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns the text of the scalar at a path of names; empty if there is none.
pub(super) fn scalar_at<'p>(
    field: &dyn SerdeField,
    path: impl IntoIterator<Item = &'p str>,
) -> Option<String> {
    let mut value: serde_json::Value = serde_json::from_str(field.to_raw().ok()?.get()).ok()?;
    for name in path {
        value = value.get_mut(name)?.take();
    }
    match value {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Bool(value) => Some(value.to_string()),
        serde_json::Value::Number(value) => Some(value.to_string()),
        _ => None,
    }
}
