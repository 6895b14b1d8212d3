//! `Metadata<K>`: an object of which only the metadata is held.
//!
//! It is created from whole objects, or from the partial objects that a server returns to metadata
//! requests. It has no spec and no status, and cannot be decoded further.

use crate::IngestAny;
use crate::index::FieldLookup;
use bytes::Bytes;
use kubist_apimachinery::wire::{
    self, DecodeContext, Encoding, Ingest, ScalarField, Schema, WireError,
};
use kubist_apimachinery::{
    ApiResource, Generation, HasMetadata, KeyValues, Object, ObjectMeta, Owners, Resource,
};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// The metadata of an object of kind `K`.
pub struct Metadata<K> {
    /// The metadata.
    pub metadata: ObjectMeta,
    kind: PhantomData<fn() -> K>,
}

impl<K> Metadata<K> {
    /// Wraps metadata.
    pub fn new(metadata: ObjectMeta) -> Self {
        Self {
            metadata,
            kind: PhantomData,
        }
    }
}

impl<K> Deref for Metadata<K> {
    type Target = ObjectMeta;
    fn deref(&self) -> &ObjectMeta {
        &self.metadata
    }
}

impl<K: Ingest> Ingest for Metadata<K> {
    type Kind = K::Kind;
    const METADATA_ONLY: bool = true;

    fn ingest(bytes: Bytes, encoding: Encoding, cx: &mut DecodeContext) -> Result<Self, WireError> {
        wire::scan::metadata(&bytes, encoding, cx).map(Self::new)
    }

    fn drop_managed_fields(&mut self) {
        self.metadata.drop_managed_fields();
    }
}

/// Metadata of objects whose kind is known at run time only.
impl IngestAny for Metadata<()> {
    const METADATA_ONLY: bool = true;
    const PROTOBUF: bool = true;

    fn ingest_any(
        bytes: Bytes,
        encoding: Encoding,
        _resource: &ApiResource,
        cx: &mut DecodeContext,
    ) -> Result<Self, WireError> {
        wire::scan::metadata(&bytes, encoding, cx).map(Self::new)
    }

    fn drop_managed_fields(&mut self) {
        self.metadata.drop_managed_fields();
    }
}

impl<K> HasMetadata for Metadata<K> {
    type Metadata = ObjectMeta;

    fn object_metadata(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn object_metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<K: 'static> Generation for Metadata<K> {
    fn generation(&self) -> i64 {
        self.metadata.generation
    }
}

impl<K: 'static> Object for Metadata<K> {
    fn name(&self) -> &str {
        &self.metadata.name
    }
    fn namespace(&self) -> &str {
        &self.metadata.namespace
    }
    fn uid(&self) -> &str {
        &self.metadata.uid
    }
    fn resource_version(&self) -> &str {
        &self.metadata.resource_version
    }
    fn labels(&self) -> KeyValues<'_> {
        self.metadata.labels()
    }
    fn annotations(&self) -> KeyValues<'_> {
        self.metadata.annotations()
    }
    fn owners(&self) -> Owners<'_> {
        self.metadata.owners()
    }
    fn is_terminating(&self) -> bool {
        self.metadata.is_terminating()
    }
    fn vacant() -> Option<Self> {
        Some(Self::new(ObjectMeta::default()))
    }
}

impl<K: Resource> Resource for Metadata<K> {
    const GROUP: &'static str = K::GROUP;
    const VERSION: &'static str = K::VERSION;
    const KIND: &'static str = K::KIND;
    const LIST_KIND: &'static str = K::LIST_KIND;
    const PLURAL: &'static str = K::PLURAL;
    const SINGULAR: &'static str = K::SINGULAR;
    const API_VERSION: &'static str = K::API_VERSION;
    type Scope = K::Scope;
}

/// Paths start below `metadata`: `labels.app`.
impl<K: 'static> FieldLookup for Metadata<K> {
    fn schema() -> &'static Schema {
        &kubist_apimachinery::OBJECT_META
    }

    fn field(&self, path: &ScalarField) -> Cow<'_, str> {
        path.find_in(&self.metadata)
    }
}

impl<K> Clone for Metadata<K> {
    fn clone(&self) -> Self {
        Self::new(self.metadata.clone())
    }
}

impl<K> fmt::Debug for Metadata<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Metadata").field(&self.metadata).finish()
    }
}

impl<K> PartialEq for Metadata<K> {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata
    }
}
