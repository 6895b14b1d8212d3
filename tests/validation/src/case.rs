//! `Case`: an object to create, or to replace another with.

use serde::Serialize;
use serde_json::Value;

/// An object to create, or to replace another with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Case {
    /// The plural of the kind.
    pub resource: String,
    /// The new object.
    pub object: Value,
    /// The stored one, if this is an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// `status`, if only that is updated.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub subresource: &'static str,
    /// The mutations.
    #[serde(skip)]
    pub done: Vec<String>,
}

impl Case {
    /// Returns a string of the new object.
    pub(crate) fn text(&self, pointer: &str) -> &str {
        let value = self.object.pointer(pointer);
        value.and_then(Value::as_str).unwrap_or_default()
    }
}
