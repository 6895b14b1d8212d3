//! `Ingest`: how the bytes of one object become what a cache holds.
//!
//! A decoded `K`, an `Encoded<K>`, a projection: each says here how it is made. The client cuts a
//! stream into items and calls this; it does not know which form it feeds.

use super::{DecodeContext, Wire, WireError};
use crate::{Object, ResourceFacts};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The encoding of an object's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON text.
    Json,
    /// A bare protobuf message: no envelope, so it does not say its own kind.
    Protobuf,
}

/// A form in which objects of one kind are held.
pub trait Ingest: Object + Sized {
    /// The kind.
    type Kind: ResourceFacts;

    /// Whether the form holds metadata alone, so that a server may be asked for no more.
    const METADATA_ONLY: bool = false;

    /// Whether the form can be made of protobuf, so that a server may be asked for it.
    const PROTOBUF: bool = true;

    /// Makes the held form of one object. `bytes` may share a larger buffer: a form that keeps
    /// bytes copies them, so that one object does not pin its neighbours.
    ///
    /// # Errors
    /// The bytes are not an object of this kind; the caller counts and reports it, and goes on.
    fn ingest(bytes: Bytes, encoding: Encoding, cx: &mut DecodeContext) -> Result<Self, WireError>;

    /// Given by the cache that will hold the object: a form that is decoded later counts its
    /// decodes there.
    fn count_decodes(&mut self, counter: &Arc<AtomicU64>) {
        let _ = counter;
    }

    /// The ready-made transform of informers: gives up `metadata.managedFields` and the
    /// annotation [`LAST_APPLIED`](crate::LAST_APPLIED), which controllers do not read and which
    /// are a quarter of a usual Pod's JSON. What is encoded is not decoded for that.
    ///
    /// Nothing is written back: an update with the object that is left changes neither who owns
    /// which fields (servers keep them where they are not sent), nor, sent as a patch, the
    /// annotation; a replace does remove the annotation.
    fn drop_managed_fields(&mut self) {}
}

/// Decodes bytes of either encoding.
pub fn decode<M: Wire>(
    bytes: &[u8],
    encoding: Encoding,
    cx: &mut DecodeContext,
) -> Result<M, WireError> {
    match encoding {
        Encoding::Json => M::from_json(bytes, cx),
        Encoding::Protobuf => M::from_protobuf(bytes, cx),
    }
}
