//! `Encode`: encoding of an object as a request body.
//!
//! It is the counterpart of `Ingest`, for clients: the same verbs write typed and
//! [`Unstructured`](crate::Unstructured) objects. It adds no envelope.

use super::json_check::is_json;
use super::json_encode::is_zero;
use super::json_write::try_to_json;
use super::{Encoding, JsonForm, Message, View};
use crate::Object;

/// An object that can be written to a server.
pub trait Encode: Object {
    /// Whether the type has a protobuf form.
    const PROTOBUF: bool;

    /// Encodes the object; protobuf only if [`Self::PROTOBUF`] is true.
    ///
    /// # Errors
    /// The object has no such form: a map with keys that are not strings, raw bytes that are not
    /// JSON.
    fn encode(&self, encoding: Encoding) -> Result<Vec<u8>, EncodeError>;

    /// Encodes as JSON for server-side apply: without empty required fields and without fields that
    /// only the server writes. Types without a schema send what they have, without nulls. The
    /// status is omitted too, unless it is what is applied.
    ///
    /// # Errors
    /// Same as [`Self::encode`].
    fn encode_wanted(&self, with_status: bool) -> Result<Vec<u8>, EncodeError> {
        let mut object: serde_json::Value = serde_json::from_slice(&self.encode(Encoding::Json)?)?;
        drop_nulls(&mut object);
        super::wanted::drop_servers_fields(&mut object, with_status);
        Ok(serde_json::to_vec(&object)?)
    }
}

/// The object cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object cannot be encoded: {reason}")]
#[non_exhaustive]
pub struct EncodeError {
    /// The reason.
    pub reason: String,
}

impl From<serde_json::Error> for EncodeError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            reason: error.to_string(),
        }
    }
}

/// Encodes a message in either encoding.
pub fn encode(message: &dyn Message, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Json => super::to_json(message),
        Encoding::Protobuf => super::to_protobuf(message),
    }
}

/// Same as [`encode`], except that raw bytes that are not JSON are an error in JSON, as in
/// upstream; protobuf carries them unchanged.
///
/// # Errors
/// The message has raw bytes that are not JSON.
pub fn try_encode(message: &dyn Message, encoding: Encoding) -> Result<Vec<u8>, EncodeError> {
    match encoding {
        Encoding::Json => {
            check_raw(message)?;
            try_to_json(message)
        }
        Encoding::Protobuf => Ok(super::to_protobuf(message)),
    }
}

/// Checks that all raw bytes in a message are JSON; plain encoding writes null for others.
pub(super) fn check_raw(message: &dyn Message) -> Result<(), EncodeError> {
    match path_of_bad_raw(message) {
        None => Ok(()),
        Some(path) => Err(EncodeError {
            reason: format!(
                "{} holds bytes that are not JSON",
                path.trim_start_matches('.')
            ),
        }),
    }
}

/// Returns the path of raw bytes that are not JSON, with a `.` before each field.
fn path_of_bad_raw(message: &dyn Message) -> Option<String> {
    let schema = message.schema();
    if schema.form == JsonForm::Raw {
        let is_set = message.view(0).is_some_and(|it| !is_zero(it));
        let is_json = || is_json(&message.raw_json());
        return (is_set && !is_json()).then(String::new);
    }
    let mut fields = schema.fields.iter().enumerate();
    fields.find_map(|(index, field)| {
        let below = match message.view(index)? {
            View::Message(part) | View::OptMessage(Some(part)) => path_of_bad_raw(part),
            View::MessageList(list) => (0..list.len()).find_map(|at| {
                let below = path_of_bad_raw(list.at(at)?)?;
                Some(format!("[{at}]{below}"))
            }),
            View::MessageMap(map) => map.entries().find_map(|(key, part)| {
                let below = path_of_bad_raw(part)?;
                Some(format!("[{key}]{below}"))
            }),
            _ => None,
        }?;
        Some(format!(".{}{below}", field.json))
    })
}

/// An unset option is not encoded.
pub(crate) fn drop_nulls(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FieldsV1, Wire as _, to_wanted};
    use crate::{ManagedFieldsEntry, ObjectMeta};

    #[test]
    fn raw_bytes_that_are_no_json_are_named_and_not_written_as_null() {
        let fields = |raw: &str| ManagedFieldsEntry {
            fields_v1: Some(FieldsV1 { raw: raw.into() }),
            ..ManagedFieldsEntry::default()
        };
        let meta = |raw: &str| ObjectMeta {
            managed_fields: vec![fields("{}"), fields(raw)],
            ..ObjectMeta::default()
        };
        for good in ["", "null", "{\"f:data\":{}}"] {
            let meta = meta(good);
            assert_eq!(try_encode(&meta, Encoding::Json), Ok(meta.to_json()));
        }
        let bad = meta("f:data");
        let error = EncodeError {
            reason: "managedFields[1].fieldsV1 holds bytes that are not JSON".to_owned(),
        };
        assert_eq!(try_encode(&bad, Encoding::Json), Err(error.clone()));
        assert_eq!(to_wanted(&bad, false), Err(error));
        let sent = try_encode(&bad, Encoding::Protobuf);
        assert_eq!(sent, Ok(bad.to_protobuf()), "protobuf has room for any");
    }
}
