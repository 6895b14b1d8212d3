//! `Encode`: an object as the body of a write.
//!
//! The counterpart of `Ingest`, for clients: typed and
//! [`Unstructured`](crate::Unstructured)
//! ones are written by the same verbs. It makes no envelope.

use super::{Encoding, Message};
use crate::Object;

/// An object that can be written.
pub trait Encode: Object {
    /// Whether it has a protobuf form at all.
    const PROTOBUF: bool;

    /// The bytes; protobuf is asked for only if [`Self::PROTOBUF`] is true.
    fn encode(&self, encoding: Encoding) -> Vec<u8>;
}

/// Encodes a message in either encoding.
pub fn encode(message: &dyn Message, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Json => super::to_json(message),
        Encoding::Protobuf => super::to_protobuf(message),
    }
}
