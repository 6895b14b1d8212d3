//! Encoding for server-side apply: only the fields that are set.
//!
//! A typed object has every required field, and JSON includes those even if they are empty; an
//! apply would then own them as empty. So zero fields are omitted; an optional field that is set is
//! kept even if it is empty (`emptyDir: {}`, `replicas: 0`). The server owns `status` and most of
//! the metadata of an object that was read from it.

use super::encode::{check_raw, drop_nulls};
use super::json_encode::{self, Json, is_zero};
use super::{EncodeError, FieldFlags, JsonForm, Message, View};
use serde_json::{Map, Value};

/// Returns the JSON tree to apply; with the status, if that is what is applied.
///
/// # Errors
/// Raw bytes in the message are not JSON.
pub fn to_wanted(message: &dyn Message, with_status: bool) -> Result<Value, EncodeError> {
    check_raw(message)?;
    let mut wanted = part(message)?;
    if let (Value::Object(map), Some(kind)) = (&mut wanted, &message.schema().kind) {
        map.insert("kind".to_owned(), kind.kind.into());
        map.insert("apiVersion".to_owned(), kind.api_version.into());
    }
    drop_servers_fields(&mut wanted, with_status);
    Ok(wanted)
}

/// Returns an object as a manifest, for `kubectl apply -f`: without the status and the metadata
/// that servers write. Everything else is there, zero or not.
///
/// ```
/// # use kubist_apimachinery::wire::to_manifest;
/// # fn example(deployment: &dyn kubist_apimachinery::wire::Message) -> String {
/// to_manifest(deployment).to_string()
/// # }
/// ```
pub fn to_manifest(message: &dyn Message) -> Value {
    let mut manifest = json_encode::to_json_value(message);
    drop_servers_fields(&mut manifest, false);
    manifest
}

/// The metadata that servers write. Applying `deletionTimestamp` would be refused, or create an
/// object that is already terminating; `uid` and `resourceVersion` would become preconditions.
const SERVERS_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Removes the fields that the server writes.
pub(crate) fn drop_servers_fields(object: &mut Value, with_status: bool) {
    let Value::Object(map) = object else { return };
    if !with_status {
        map.remove("status");
    }
    if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
        for field in SERVERS_METADATA {
            metadata.remove(field);
        }
    }
}

fn part(message: &dyn Message) -> Result<Value, EncodeError> {
    let schema = message.schema();
    if schema.form != JsonForm::Object {
        return Ok(serde_json::to_value(Json::part(message))?);
    }
    let mut map = Map::new();
    for (index, field) in schema.fields.iter().enumerate() {
        if let Some(view) = message.view(index)
            && !field.flags.has(FieldFlags::PROTOBUF_ONLY)
            && !is_zero(view)
        {
            map.insert(field.json.to_owned(), value(view)?);
        }
    }
    for (name, value) in message.others().into_iter().flatten() {
        map.insert(name.clone(), serde_json::to_value(value)?);
    }
    Ok(Value::Object(map))
}

fn value(view: View<'_>) -> Result<Value, EncodeError> {
    Ok(match view {
        View::Message(message) | View::OptMessage(Some(message)) => part(message)?,
        View::Serde(field) => {
            let mut value = serde_json::from_str(field.to_raw()?.get())?;
            drop_nulls(&mut value);
            value
        }
        View::MessageList(list) => {
            let items = (0..list.len()).filter_map(|index| list.at(index));
            Value::Array(items.map(part).collect::<Result<_, _>>()?)
        }
        View::MessageMap(map) => {
            let entries = map.entries();
            let entries = entries.map(|(key, item)| Ok((key.to_string(), part(item)?)));
            Value::Object(entries.collect::<Result<_, EncodeError>>()?)
        }
        view => serde_json::to_value(json_encode::Value(view))?,
    })
}
