//! CBOR (RFC 8949) as Kubernetes has it since KEP-4222, to and from JSON.
//!
//! Objects are JSON here; CBOR is another spelling of the same values at the edge of a server. What
//! has no JSON form is refused: numbers beyond 64 bits, infinities, `undefined`, keys that are no
//! strings, keys that repeat. Strings may be text or bytes. Both directions follow upstream's
//! options (`k8s.io/apimachinery/pkg/runtime/serializer/cbor`), and errors say what its decoder
//! says, but for one thing: containers are written with an indefinite length, so that a list is
//! encoded while it is sent. Values are at most as deep as in other bodies.

mod decoder;
mod encoder;
mod error;
mod times;

pub use decoder::{to_json, to_json_within, type_name};
pub use encoder::CborEncoder;
pub use error::CborError;

/// The media type of one value.
pub const MEDIA_TYPE: &str = "application/cbor";
/// The media type of a sequence of values (RFC 8742): a watch.
pub const SEQUENCE_MEDIA_TYPE: &str = "application/cbor-seq";
/// The media type of a configuration to apply.
pub const APPLY_MEDIA_TYPE: &str = "application/apply-patch+cbor";

/// The tag that says "this is CBOR"; all that a Kubernetes server writes begins with it.
pub const MAGIC: [u8; 3] = [0xd9, 0xd9, 0xf7];

/// Simple values.
const FALSE: u8 = 20;
const TRUE: u8 = 21;
const NULL: u8 = 22;

/// Reports whether bytes begin with CBOR's tag.
pub fn is_cbor(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

#[cfg(test)]
mod tests;
