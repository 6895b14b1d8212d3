//! `Encode`: an object as the body of a write.
//!
//! The counterpart of `Ingest`, for clients: typed and
//! [`Unstructured`](crate::Unstructured)
//! ones are written by the same verbs. It makes no envelope.

use super::Encoding;
use crate::{KubeObject, Object};

/// An object that can be written.
pub trait Encode: Object {
    /// Whether it has a protobuf form at all.
    const PROTOBUF: bool;

    /// The bytes; protobuf is asked for only if [`Self::PROTOBUF`] is true.
    fn encode(&self, encoding: Encoding) -> Vec<u8>;
}

impl<K: KubeObject> Encode for K {
    const PROTOBUF: bool = true;

    fn encode(&self, encoding: Encoding) -> Vec<u8> {
        match encoding {
            Encoding::Json => self.to_json(),
            Encoding::Protobuf => self.to_protobuf(),
        }
    }
}
