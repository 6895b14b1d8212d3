//! `StoredCodec`: encodes the objects of a resource to stored values, and decodes them.
//!
//! Each object has one stored encoding, in the storage version and without resource version; the
//! transformer runs after it. On reads, each version of an object is examined once while in use.

use crate::metrics::ResourceMetrics;
use crate::stored::cache::StoredCache;
use crate::stored::custom_text::CustomText;
use crate::stored::key::KeyLayout;
use crate::stored::scheme::StoredKind;
use crate::stored::stored_bytes::StoredBytes;
use crate::stored::transformer::{Identity, Transformer};
use crate::stored::version::VersionPlace;
use crate::stored::{Stored, unreadable, written_json};
use bytes::Bytes;
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::wire::{DecodeContext, merge_json, merge_protobuf};
use kubist_apimachinery::{AnyObject, Status, Str};
use kubist_codec::cbor;
use kubist_codec::envelope::{self, Envelope};
use kubist_storage::KeyValue;
use serde::Deserialize;
use std::sync::Arc;

/// The stored form of a resource.
#[derive(Clone, Debug)]
pub struct StoredCodec {
    kind: StoredKind,
    /// The version in which objects are written, if it differs.
    written_as: Option<&'static Kind>,
    keys: KeyLayout,
    cache: Arc<StoredCache>,
    transformer: Arc<dyn Transformer>,
    encoding: StorageEncoding,
    metrics: Arc<ResourceMetrics>,
    /// The versions in which objects of a custom resource may be stored. Each is decoded in the
    /// version that it states. If empty, every object is treated as one of `kind`.
    versions: Arc<[&'static Kind]>,
}

/// The encoding of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageEncoding {
    /// The protobuf envelope, as upstream for built-in kinds.
    #[default]
    Protobuf,
    /// JSON, as upstream for custom resources, their definitions and APIServices.
    Json,
}

/// The layout of a note about a value, from its highest bit: whether it is set, the number of bytes
/// before the message, and the position of the version in the message.
const START_SHIFT: u32 = 48;
const KNOWN: u64 = 1 << 15;
const START_MAX: u64 = KNOWN - 1;

/// The cache size of a codec with its own cache, in bytes.
const CACHE_BYTES_MAX: usize = 64 << 20;

impl StoredCodec {
    /// Creates a codec for protobuf without encryption, with its own cache of 64 MiB.
    pub fn new(kind: StoredKind, keys: KeyLayout) -> Self {
        let facts = kind.kind.facts();
        Self {
            kind,
            written_as: None,
            keys,
            cache: Arc::new(StoredCache::new(CACHE_BYTES_MAX)),
            transformer: Arc::new(Identity),
            encoding: StorageEncoding::default(),
            metrics: Arc::new(ResourceMetrics::new(facts.group, facts.kind)),
            versions: Arc::default(),
        }
    }

    /// Sets the transformer.
    #[must_use]
    pub fn with_transformer(mut self, transformer: Arc<dyn Transformer>) -> Self {
        self.transformer = transformer;
        self
    }

    /// Sets the version to write, if it differs from the storage version.
    #[must_use]
    pub fn written_as(mut self, kind: &'static Kind) -> Self {
        self.written_as = Some(kind);
        self
    }

    /// Sets the encoding.
    #[must_use]
    pub fn with_encoding(mut self, encoding: StorageEncoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Sets the metrics.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Arc<ResourceMetrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Sets a shared cache.
    #[must_use]
    pub(crate) fn with_cache(mut self, cache: Arc<StoredCache>) -> Self {
        self.cache = cache;
        self
    }

    pub(crate) fn kind(&self) -> StoredKind {
        self.kind
    }

    pub(crate) fn keys(&self) -> &KeyLayout {
        &self.keys
    }

    /// Reports whether values are stored unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        self.transformer.is_identity()
    }

    /// Returns the metrics of the resource.
    pub(crate) fn metrics(&self) -> &Arc<ResourceMetrics> {
        &self.metrics
    }

    /// Returns the stored encoding of an object, before the transformer.
    pub(crate) fn encode(&self, mut object: Box<dyn AnyObject>) -> Result<Bytes, Status> {
        let meta = object.meta_mut();
        meta.resource_version = Str::default();
        meta.self_link = Str::default();
        if let Some(kind) = self.written_as {
            object = self.kind.convert(object, kind)?;
        }
        let json = match self.encoding {
            StorageEncoding::Protobuf => return Ok(envelope::encode(&*object).into()),
            StorageEncoding::Json if self.kind.kind.is_custom() => written_json::custom(&*object),
            StorageEncoding::Json => written_json::typed(&*object),
        };
        json.map_err(Status::internal_error)
    }

    /// Returns the value to store.
    pub(crate) fn seal(&self, key: &Bytes, value: &Bytes) -> Result<Bytes, Status> {
        let sealed = self.transformer.seal(value.clone(), key);
        sealed.map_err(Status::internal_error)
    }

    /// Reports whether the stored value has these bytes, in the current form of writes.
    pub(crate) fn is_stored_as(&self, kv: &KeyValue, value: &Bytes) -> bool {
        let read = self.transformer.open(&kv.value, &kv.key);
        read.is_ok_and(|it| !it.stale && it.value == *value)
    }

    /// Returns the object in a stored value.
    pub(crate) fn stored(&self, kv: &KeyValue) -> Stored {
        self.at(kv, kv.mod_revision.0)
    }

    /// Returns the weight of a value in the object cache: trees and schemas, which are stored as
    /// JSON, take about twice as much as others of the same length.
    fn weight(&self, value: &Bytes) -> usize {
        match self.encoding {
            StorageEncoding::Json => value.len() * 2,
            StorageEncoding::Protobuf => value.len(),
        }
    }

    /// Reports whether the cache can hold the objects in these values when they are read in order.
    pub(crate) fn remembers(&self, kvs: &[Arc<KeyValue>]) -> bool {
        let bytes = kvs.iter().map(|kv| self.weight(&kv.value)).sum();
        self.cache.has_room(kvs.len(), bytes)
    }

    /// Returns the object in a stored value without caching it, for a single use. Findings about
    /// the value are noted at the value.
    pub(crate) fn stored_uncached(&self, kv: &Arc<KeyValue>) -> Stored {
        let revision = kv.mod_revision.0;
        match Self::noted(kv) {
            Some((raw, place)) => Stored::known(self.kind, revision, raw, place),
            None => self.open(kv, revision),
        }
    }

    /// Notes at a value that it can be decoded, and the positions in it.
    pub(crate) fn note(&self, kv: &KeyValue) {
        if self.transformer.is_identity()
            && let Ok(envelope) = Envelope::open(&kv.value)
            && names(self.kind.kind, &envelope)
            && let Some(place) = VersionPlace::of(envelope.raw)
            && let Some(place) = place.to_word()
            && let Some(end) = envelope.end_in(&kv.value)
            && end + envelope::END_BYTES == kv.value.len()
            && let Ok(start) = u64::try_from(end - envelope.raw.len())
            && start <= START_MAX
        {
            kv.note.write((start | KNOWN) << START_SHIFT | place);
        }
    }

    /// Returns the message in a value that was [noted](Self::note).
    fn noted(kv: &Arc<KeyValue>) -> Option<(StoredBytes, VersionPlace)> {
        let note = kv.note.read();
        if note >> START_SHIFT & KNOWN == 0 {
            return None;
        }
        let start = u32::try_from(note >> START_SHIFT & START_MAX).ok()?;
        let end = u32::try_from(kv.value.len().checked_sub(envelope::END_BYTES)?).ok()?;
        let kv = Arc::clone(kv);
        Some((
            StoredBytes::Within { kv, start, end },
            VersionPlace::from_word(note),
        ))
    }

    /// Returns the content that a delete at `revision` removed.
    pub(crate) fn removed(&self, kv: &KeyValue, revision: u64) -> Stored {
        self.at(kv, revision)
    }

    fn at(&self, kv: &KeyValue, revision: u64) -> Stored {
        let weight = self.weight(&kv.value);
        let found = self
            .cache
            .get(&kv.key, revision, weight, || self.open(kv, revision));
        if self.is_current(&found) {
            return found;
        }
        // The versions of the custom resource have changed since this was cached.
        self.open(kv, revision)
    }

    /// Returns the object that was just written, from its encoding.
    pub(crate) fn written(&self, key: &Bytes, revision: u64, value: &Bytes) -> Stored {
        self.cache.get(key, revision, self.weight(value), || {
            self.decode(revision, value).sound()
        })
    }

    /// Returns the content before an update, with the revision of that update, for watchers that no
    /// longer see the object. Not cached: the new content has its entry.
    pub(crate) fn replaced(&self, kv: &KeyValue, revision: u64) -> Stored {
        self.open(kv, revision)
    }

    fn open(&self, kv: &KeyValue, revision: u64) -> Stored {
        let stored = self.read(kv, revision);
        if stored.failure().is_some() {
            self.metrics.decode_errors.add(1);
        }
        stored
    }

    /// Returns an object's decoding error; an unexamined object is examined now.
    pub(crate) fn failure<'a>(
        &self,
        stored: &'a Stored,
        cx: &mut DecodeContext,
    ) -> Option<&'a Status> {
        let counted = stored.failure().is_some();
        let failure = stored.check(cx)?;
        self.metrics.decode_errors.add(usize::from(!counted));
        Some(failure)
    }

    fn read(&self, kv: &KeyValue, revision: u64) -> Stored {
        match self.transformer.open(&kv.value, &kv.key) {
            Ok(read) => self.decode(revision, &read.value),
            Err(error) => {
                let key = String::from_utf8_lossy(&kv.key);
                let why = format_args!("unable to transform key {key:?}: {error}");
                Stored::from_error(self.kind, revision, Status::internal_error(why))
            }
        }
    }
}

impl StoredCodec {
    /// Sets the versions in which objects of a custom resource may be stored.
    pub(crate) fn with_versions(mut self, versions: Arc<[&'static Kind]>) -> Self {
        self.versions = versions;
        self
    }

    /// Reports whether a cached object would be decoded in the same version now.
    fn is_current(&self, stored: &Stored) -> bool {
        if self.versions.is_empty() {
            return std::ptr::eq(stored.kind(), self.kind.kind);
        }
        let mut versions = self.versions.iter();
        stored.failure().is_none() && versions.any(|it| std::ptr::eq(*it, stored.kind()))
    }

    /// Returns the object in a value. A decoding error is found on first access.
    fn decode(&self, revision: u64, value: &Bytes) -> Stored {
        let kind = self.kind;
        if self.versions.is_empty() {
            return decode(kind, revision, value);
        }
        // A kube-apiserver whose gate is on stores custom objects so.
        if cbor::is_cbor(value) {
            return match cbor::to_json(value) {
                Ok(json) => self.decode(revision, &json.into()),
                Err(error) => Stored::from_error(kind, revision, unreadable(&error)),
            };
        }
        if let Some((text, version)) = CustomText::of(value)
            && let Ok(found) = self.version_named(&version)
        {
            return Stored::from_text(kind.version(found), revision, text);
        }
        let decoded = self.version_in(value).and_then(|found| {
            let mut object = empty(found)?;
            let cx = &mut DecodeContext::new();
            merge_json(&mut *object, value, cx).map_err(|error| unreadable(&error))?;
            Ok(Stored::from_object(kind.version(found), revision, object))
        });
        decoded.unwrap_or_else(|status| Stored::from_error(kind, revision, status))
    }

    /// Returns the version that a custom object states.
    fn version_in(&self, value: &Bytes) -> Result<&'static Kind, Status> {
        let named: TypeMeta = serde_json::from_slice(value).map_err(|error| unreadable(&error))?;
        self.version_named(&named.api_version)
    }

    fn version_named(&self, found: &str) -> Result<&'static Kind, Status> {
        let mut versions = self.versions.iter();
        let known = versions.find(|it| it.facts().api_version == found);
        known.copied().ok_or_else(|| {
            let why = format!("request to convert CR from an invalid group/version: {found}");
            Status::unmapped_error(why)
        })
    }
}

/// Reports whether an object is encoded as `value`, as far as that is known without decoding.
pub(crate) fn is_encoded_as(stored: &Stored, value: &Bytes) -> bool {
    match Envelope::open(value) {
        Ok(envelope) => stored.raw().is_ok_and(|raw| raw == envelope.raw),
        Err(_) => true,
    }
}

/// Returns the object in a value, as `kind`. A decoding error is found on first access.
fn decode(kind: StoredKind, revision: u64, value: &Bytes) -> Stored {
    if let Ok(envelope) = Envelope::open(value)
        && names(kind.kind, &envelope)
    {
        let stored = Stored::from_raw(kind, revision, value.slice_ref(envelope.raw));
        return stored.completed();
    }
    match decode_other(kind, value) {
        Ok(object) => Stored::from_object(kind, revision, object),
        Err(status) => Stored::from_error(kind, revision, status),
    }
}

fn names(kind: &Kind, envelope: &Envelope<'_>) -> bool {
    let facts = kind.facts();
    facts.kind == envelope.kind && facts.api_version == envelope.api_version
}

/// Decodes a value in another version of the kind, or in JSON.
fn decode_other(kind: StoredKind, value: &Bytes) -> Result<Box<dyn AnyObject>, Status> {
    let cx = &mut DecodeContext::new();
    if value.starts_with(b"{") {
        let found = kind_in(kind.kind, value)?;
        let mut object = empty(found)?;
        merge_json(&mut *object, value, cx).map_err(|error| unreadable(&error))?;
        return kind.scheme.convert(object, found, kind.kind);
    }
    let envelope = Envelope::open(value).map_err(|error| unreadable(&error))?;
    let found = kind_of(envelope.api_version, envelope.kind)?;
    let mut object = empty(found)?;
    merge_protobuf(&mut *object, envelope.raw, cx).map_err(|error| unreadable(&error))?;
    kind.scheme.convert(object, found, kind.kind)
}

/// Returns the kind stated in a JSON object; the version of a custom resource is only a name.
fn kind_in(kind: &'static Kind, value: &Bytes) -> Result<&'static Kind, Status> {
    if kind.is_custom() {
        return Ok(kind);
    }
    let named: TypeMeta = serde_json::from_slice(value).map_err(|error| unreadable(&error))?;
    kind_of(&named.api_version, &named.kind)
}

fn kind_of(api_version: &str, kind: &str) -> Result<&'static Kind, Status> {
    find_kind_by_api_version(api_version, kind)
        .ok_or_else(|| unreadable(&format_args!("unknown kind {api_version} {kind}")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeMeta {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
}

fn empty(kind: &'static Kind) -> Result<Box<dyn AnyObject>, Status> {
    kind.new_object()
        .ok_or_else(|| unreadable(&format_args!("{} has no metadata", kind.facts().kind)))
}
