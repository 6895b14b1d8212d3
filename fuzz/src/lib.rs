//! What the fuzz targets share: how an input becomes chunks of a body, and what must hold for any
//! object that comes out of one.
//!
//! A target does more than not to crash: it checks that two ways to the same answer agree. It is
//! not a test of what the answer should be.

use bytes::Bytes;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Object;
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, Ingest, Message, decode, to_json, to_protobuf,
};
use kubist_cache::Encoded;

/// A body and how it arrives. The first byte of an input says which encoding it has and how long
/// the chunks are; the rest is the body.
pub struct Body<'a> {
    /// Of the items or frames.
    pub encoding: Encoding,
    bytes: &'a [u8],
    chunk_length: usize,
}

impl<'a> Body<'a> {
    /// None for an empty input.
    pub fn of(input: &'a [u8]) -> Option<Self> {
        let (first, bytes) = input.split_first()?;
        let encoding = if first & 1 == 0 {
            Encoding::Json
        } else {
            Encoding::Protobuf
        };
        let chunk_length = 1 + usize::from(first >> 1);
        Some(Self {
            encoding,
            bytes,
            chunk_length,
        })
    }

    /// The body in one piece.
    pub fn whole(&self) -> Vec<Bytes> {
        vec![Bytes::copy_from_slice(self.bytes)]
    }

    /// The body in parts, as from a network.
    pub fn parts(&self) -> Vec<Bytes> {
        let parts = self.bytes.chunks(self.chunk_length);
        parts.map(Bytes::copy_from_slice).collect()
    }
}

/// What must hold for any bytes that should be one object: what can be decoded can be held
/// encoded, both forms tell the same metadata, and encoding and decoding again changes nothing.
pub fn check_object(bytes: &Bytes, encoding: Encoding) {
    let cx = &mut DecodeContext::new();
    let held = Encoded::<Pod>::ingest(bytes.clone(), encoding, cx);
    let Ok(pod) = decode::<Pod>(bytes, encoding, cx) else {
        return;
    };
    let held = held.expect("what can be decoded can be scanned");
    assert_eq!(facts(&held), facts(&pod));
    check_again(&pod, Encoding::Json, to_json);
    check_again(&pod, Encoding::Protobuf, to_protobuf);
}

fn check_again(pod: &Pod, encoding: Encoding, encode: fn(&dyn Message) -> Vec<u8>) {
    let once = encode(pod);
    let cx = &mut DecodeContext::new();
    let again: Pod = decode(&once, encoding, cx).expect("what was encoded can be decoded");
    let twice = encode(&again);
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    assert_eq!(text(&once), text(&twice), "{encoding:?}");
}

/// The metadata as text.
fn facts(object: &dyn Object) -> String {
    let labels: Vec<_> = object.labels().iter().collect();
    let annotations: Vec<_> = object.annotations().iter().collect();
    let owners: Vec<_> = object.owners().iter().collect();
    let name = (object.namespace(), object.name());
    let version = (object.uid(), object.resource_version());
    format!(
        "{name:?} {version:?} {labels:?} {annotations:?} {owners:?} {}",
        object.is_terminating()
    )
}
