//! JSON of values in configurations.

use crate::ByteString;
use crate::wire::{Message, View, view_to_json, wanted_part};
use serde_json::Value;

/// Returns a plain message as JSON: its fields that are set, without empty ones.
pub fn plain(message: &dyn Message) -> Value {
    // Only raw bytes have no JSON, and configurations take those as JSON.
    wanted_part(message).unwrap_or_default()
}

/// Returns bytes as JSON has them.
pub fn bytes(bytes: &ByteString) -> Value {
    view_to_json(View::Bytes(bytes))
}
