//! `Ingest`: conversion of an object's bytes into the form that a cache holds.
//!
//! A decoded `K`, an `Encoded<K>` and a projection each implement it. The client splits a stream
//! into items and calls it without knowing the form.

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
    /// A bare protobuf message without an envelope, so it does not name its kind.
    Protobuf,
}

/// A form in which caches hold objects of one kind.
pub trait Ingest: Object + Sized {
    /// The kind.
    type Kind: ResourceFacts;

    /// Whether the form holds only metadata, so that servers can be asked for just that.
    const METADATA_ONLY: bool = false;

    /// Whether the form can be built from protobuf, so that servers can be asked for it.
    const PROTOBUF: bool = true;

    /// Converts one object. `bytes` may be part of a larger buffer: a form that keeps bytes copies
    /// them, so that one object does not keep its neighbours in memory.
    ///
    /// # Errors
    /// The bytes are not an object of this kind; the caller counts and reports the error, and
    /// continues.
    fn ingest(bytes: Bytes, encoding: Encoding, cx: &mut DecodeContext) -> Result<Self, WireError>;

    /// Called by the cache that will hold the object; forms that are decoded later count their
    /// decodes there.
    fn count_decodes(&mut self, counter: &Arc<AtomicU64>) {
        let _ = counter;
    }

    /// Removes `metadata.managedFields` and the annotation [`LAST_APPLIED`](crate::LAST_APPLIED),
    /// which controllers do not read and which make up a quarter of a typical Pod's JSON. Encoded
    /// objects are not decoded for it. client-go's `TransformStripManagedFields` keeps the
    /// annotation.
    ///
    /// A cached object that was transformed in this way must not be sent back whole: a replace
    /// removes the annotation from the stored object, and the next client-side `kubectl apply` then
    /// removes no fields. Managed fields that are not sent are kept by the server. Patches and
    /// updates of an object that was read from the server are safe.
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
