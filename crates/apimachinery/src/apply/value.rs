//! JSON of values in configurations.

use crate::ByteString;
use crate::wire::{Json, Message, View, drop_nulls, view_to_json};
use serde_json::Value;

/// Returns a plain message as JSON, whole: its required fields even if they are empty.
pub fn plain(message: &dyn Message) -> Value {
    // Only raw bytes have no JSON, and configurations take those as JSON.
    let mut value = serde_json::to_value(Json::part(message)).unwrap_or_default();
    drop_nulls(&mut value);
    value
}

/// Returns bytes as JSON has them.
pub fn bytes(bytes: &ByteString) -> Value {
    view_to_json(View::Bytes(bytes))
}
