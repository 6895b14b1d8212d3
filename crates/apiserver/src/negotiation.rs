//! Content negotiation: request bodies into objects, and objects into the media type that was
//! negotiated.

pub(crate) mod cbor_body;
pub(crate) mod decode;
pub(crate) mod given_lists;
pub(crate) mod go_decode;
pub(crate) mod response_encoder;
pub(crate) mod table;
