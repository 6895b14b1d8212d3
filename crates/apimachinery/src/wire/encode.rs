//! `Encode`: an object as the body of a write.
//!
//! The counterpart of `Ingest`, for clients: typed and
//! [`Unstructured`](crate::Unstructured)
//! ones are written by the same verbs. It makes no envelope.

use super::{Encoding, Json, Message};
use crate::Object;

/// An object that can be written.
pub trait Encode: Object {
    /// Whether it has a protobuf form at all.
    const PROTOBUF: bool;

    /// The bytes; protobuf is asked for only if [`Self::PROTOBUF`] is true.
    ///
    /// # Errors
    /// It has no such form: a map with keys that are no text, raw bytes that are no JSON.
    fn encode(&self, encoding: Encoding) -> Result<Vec<u8>, EncodeError>;

    /// As JSON, for a server that is to make it so (server-side apply): what is required and empty
    /// is not wanted, and what only the server writes is left out. For a type that knows its empty
    /// fields; others send what they have, without nulls. The status is the server's too, unless
    /// it is what is applied.
    ///
    /// # Errors
    /// As [`Self::encode`].
    fn encode_wanted(&self, with_status: bool) -> Result<Vec<u8>, EncodeError> {
        let mut object: serde_json::Value = serde_json::from_slice(&self.encode(Encoding::Json)?)?;
        drop_nulls(&mut object);
        super::wanted::drop_servers_fields(&mut object, with_status);
        Ok(serde_json::to_vec(&object)?)
    }
}

/// An object that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object cannot be encoded: {reason}")]
#[non_exhaustive]
pub struct EncodeError {
    /// What is wrong with it.
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

/// As [`encode`], where raw bytes in the message that are no JSON are an error.
///
/// # Errors
/// They are.
pub fn try_encode(message: &dyn Message, encoding: Encoding) -> Result<Vec<u8>, EncodeError> {
    match encoding {
        Encoding::Json => Ok(serde_json::to_vec(&Json::top(message))?),
        Encoding::Protobuf => Ok(super::to_protobuf(message)),
    }
}

/// An unset option says nothing.
fn drop_nulls(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
