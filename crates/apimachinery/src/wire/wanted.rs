//! An object as what somebody wants: only the fields that say something.
//!
//! A typed object has every field that its kind requires, and JSON writes those even if they are
//! empty. To a server that applies it that would say that they are wanted empty. So fields are left
//! out here that are zero; what is optional and set is kept, though it be empty (`emptyDir: {}`,
//! `replicas: 0`). `status` is the server's, and so is most of the metadata of an object that was
//! read from it.

use super::encode::check_raw;
use super::json_encode::{self, Json, is_zero};
use super::{EncodeError, FieldFlags, JsonForm, Message, View};
use serde_json::{Map, Value};

/// The JSON tree of what is wanted of a message; the status too, if that is what is applied.
///
/// # Errors
/// Raw bytes in it are no JSON.
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

/// What a server writes into metadata. Applied, `deletionTimestamp` would make an object that is
/// terminating from its birth, or be refused; `uid` and `resourceVersion` would make a condition of
/// where the object was read.
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

/// Takes out what the server writes.
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
