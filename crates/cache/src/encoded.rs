//! `Encoded<K>`: an object held as encoded bytes, and decoded only on request.
//!
//! It takes little more memory than the bytes from the server, and gives access to metadata and
//! single fields without decoding the object. Its structure is checked when it is created; errors
//! that only a full decode can find, such as an invalid quantity, are returned by
//! [`Encoded::decode`].

use crate::index::FieldLookup;
use crate::{Index, IndexValues};
use bytes::Bytes;
use kubist_apimachinery::wire::{
    self, DecodeContext, Encoding, Ingest, MetadataSpans, ScalarField, Schema, Wire as _,
    WireError, WireErrorKind,
};
use kubist_apimachinery::{
    KeyValues, KubeObject, LabelFilter, Object, ObjectName, Owners, Resource, Str,
};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An object of kind `K` in the encoding in which it was received.
pub struct Encoded<K> {
    /// The object's bytes followed by the scan's result. They are a copy, so they keep no buffer
    /// alive.
    bytes: Box<[u8]>,
    spans: MetadataSpans,
    encoding: Encoding,
    name: ObjectName,
    /// Read before each event and list is applied, which need not wait for the bytes.
    resource_version: Str,
    labels: LabelFilter,
    decodes: Option<Arc<AtomicU64>>,
    /// Whether these are all bytes that the server sent.
    is_whole: bool,
    kind: PhantomData<fn() -> K>,
}

impl<K: KubeObject> Encoded<K> {
    /// Encodes an object.
    pub fn new(object: &K) -> Result<Self, WireError> {
        let (bytes, encoding) = if <K as Ingest>::PROTOBUF {
            (object.to_protobuf(), Encoding::Protobuf)
        } else {
            (object.to_json(), Encoding::Json)
        };
        Self::ingest(bytes.into(), encoding, &mut DecodeContext::new())
    }

    /// Decodes the whole object. Each call decodes anew, so callers keep the result.
    ///
    /// # Errors
    /// A value does not fit its field, or the [body was dropped](Self::without_body).
    pub fn decode(&self) -> Result<Arc<K>, WireError> {
        self.decode_with(&mut DecodeContext::new())
    }

    /// Does the same as [`Self::decode`], and shares strings with the other objects that `cx`
    /// decodes.
    ///
    /// # Errors
    /// A value does not fit its field, or the body was dropped.
    pub fn decode_with(&self, cx: &mut DecodeContext) -> Result<Arc<K>, WireError> {
        if !self.is_whole {
            return Err(WireErrorKind::BodyDropped.into());
        }
        if let Some(decodes) = &self.decodes {
            decodes.fetch_add(1, Ordering::Relaxed);
        }
        wire::decode(self.bytes(), self.encoding, cx).map(Arc::new)
    }

    /// Returns the object reduced to its metadata, without managed fields; `None` if it has nothing
    /// else. The result cannot be decoded: [`WireErrorKind::BodyDropped`].
    pub fn without_body(&self) -> Option<Self> {
        if !self.is_whole {
            return None;
        }
        let mut cx = DecodeContext::new();
        let mut metadata = wire::scan::metadata(self.bytes(), self.encoding, &mut cx).ok()?;
        metadata.managed_fields.clear();
        // Every kind has its metadata as `metadata` and under the number 1.
        let mut bytes = Vec::new();
        let encoding = if <K as Ingest>::PROTOBUF {
            wire::push_delimited(1, &metadata.to_protobuf(), &mut bytes);
            Encoding::Protobuf
        } else {
            bytes.extend_from_slice(b"{\"metadata\":");
            bytes.extend_from_slice(&metadata.to_json());
            bytes.push(b'}');
            Encoding::Json
        };
        let mut cut = Self::ingest(bytes.into(), encoding, &mut cx).ok()?;
        cut.is_whole = false;
        cut.decodes.clone_from(&self.decodes);
        Some(cut)
    }
}

impl<K> Encoded<K> {
    /// Returns the bytes as received.
    pub fn bytes(&self) -> &[u8] {
        self.spans.body(&self.bytes)
    }

    /// Returns the encoding of the bytes.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Reports whether the body is present.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the object's heap memory in bytes.
    pub fn heap_size(&self) -> usize {
        self.bytes.len() + size_of::<Self>() + self.name.name.len()
    }
}

impl<K: KubeObject> Ingest for Encoded<K> {
    type Kind = K;
    const PROTOBUF: bool = <K as Ingest>::PROTOBUF;

    fn ingest(bytes: Bytes, encoding: Encoding, cx: &mut DecodeContext) -> Result<Self, WireError> {
        let scan = wire::scan::scan(&bytes, encoding, K::SCHEMA, cx)?;
        let spans = scan.spans;
        let own: Box<[u8]> = if scan.tail.is_empty() {
            bytes.as_ref().into()
        } else {
            [bytes.as_ref(), &scan.tail].concat().into()
        };
        // Names are unique and namespaces repeat, so only namespaces are interned.
        let name = ObjectName {
            namespace: cx.str(spans.namespace(&own)),
            name: spans.name(&own).into(),
        };
        let labels = LabelFilter::of(spans.labels(&own));
        let resource_version = spans.resource_version(&own).into();
        Ok(Self {
            bytes: own,
            spans,
            encoding,
            name,
            resource_version,
            labels,
            decodes: None,
            is_whole: true,
            kind: PhantomData,
        })
    }

    fn count_decodes(&mut self, counter: &Arc<AtomicU64>) {
        self.decodes = Some(Arc::clone(counter));
    }

    fn drop_managed_fields(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes).into_vec();
        wire::scan::drop_managed_fields(&mut bytes, &mut self.spans, self.encoding);
        self.bytes = bytes.into_boxed_slice();
    }
}

impl<K: Resource> Object for Encoded<K> {
    fn name(&self) -> &str {
        &self.name.name
    }
    fn namespace(&self) -> &str {
        &self.name.namespace
    }
    fn uid(&self) -> &str {
        self.spans.uid(&self.bytes)
    }
    fn resource_version(&self) -> &str {
        &self.resource_version
    }
    fn labels(&self) -> KeyValues<'_> {
        self.spans.labels(&self.bytes)
    }
    fn annotations(&self) -> KeyValues<'_> {
        self.spans.annotations(&self.bytes)
    }
    fn owners(&self) -> Owners<'_> {
        self.spans.owners(&self.bytes)
    }
    fn is_terminating(&self) -> bool {
        self.spans.is_terminating()
    }
    fn label_filter(&self) -> LabelFilter {
        self.labels
    }
    fn object_name(&self) -> ObjectName {
        self.name.clone()
    }
    fn vacant() -> Option<Self> {
        Some(Self {
            bytes: Box::default(),
            spans: MetadataSpans::default(),
            encoding: Encoding::Json,
            name: ObjectName::default(),
            resource_version: Str::default(),
            labels: LabelFilter::default(),
            decodes: None,
            is_whole: false,
            kind: PhantomData,
        })
    }
}

impl<K: Resource> Resource for Encoded<K> {
    const GROUP: &'static str = K::GROUP;
    const VERSION: &'static str = K::VERSION;
    const KIND: &'static str = K::KIND;
    const LIST_KIND: &'static str = K::LIST_KIND;
    const PLURAL: &'static str = K::PLURAL;
    const SINGULAR: &'static str = K::SINGULAR;
    const API_VERSION: &'static str = K::API_VERSION;
    type Scope = K::Scope;
}

impl<K: KubeObject> FieldLookup for Encoded<K> {
    fn schema() -> &'static Schema {
        K::SCHEMA
    }

    fn field(&self, path: &ScalarField) -> Cow<'_, str> {
        path.find(self.bytes(), self.encoding)
    }

    fn knows(&self, path: &ScalarField) -> bool {
        self.is_whole || path.as_str().starts_with("metadata.")
    }
}

impl<K: KubeObject> Index<Encoded<K>> {
    /// Creates an index with a function over the decoded object. Each state of an object is decoded
    /// when it is stored and again when it is replaced; a field index decodes nothing.
    pub fn decoded(
        name: impl Into<Str>,
        values: impl Fn(&K, &mut IndexValues) + Send + Sync + 'static,
    ) -> Self {
        Self::fallible(name, move |object: &Encoded<K>, into| {
            values(&*object.decode()?, into);
            Ok::<(), WireError>(())
        })
    }
}

impl<K> Clone for Encoded<K> {
    fn clone(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            spans: self.spans,
            encoding: self.encoding,
            name: self.name.clone(),
            resource_version: self.resource_version.clone(),
            labels: self.labels,
            decodes: self.decodes.clone(),
            is_whole: self.is_whole,
            kind: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Encoded<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (encoding, length) = (self.encoding, self.bytes().len());
        write!(f, "Encoded({}, {encoding:?}, {length} bytes)", self.name)
    }
}

impl<K> PartialEq for Encoded<K> {
    fn eq(&self, other: &Self) -> bool {
        (self.encoding, self.is_whole) == (other.encoding, other.is_whole)
            && self.bytes() == other.bytes()
    }
}
