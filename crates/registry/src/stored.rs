//! `Stored`: one version of one object, in every requested form, each computed once.
//!
//! Cheap to clone and shared by all lists and watches that deliver it. It starts from the storage
//! encoding; metadata is scanned, and the object decoded, only when needed.

pub(crate) mod cache;
pub(crate) mod codec;
pub(crate) mod custom_object;
mod custom_text;
mod json;
pub(crate) mod key;
mod metadata;
mod protobuf;
pub(crate) mod scheme;
pub(crate) mod stored_bytes;
pub mod transformer;
pub(crate) mod version;
pub(crate) mod written_json;

use crate::stored::custom_text::CustomText;
use crate::stored::scheme::StoredKind;
use crate::stored::stored_bytes::StoredBytes;
use crate::stored::version::{VersionPlace, first_field};
use bytes::Bytes;
use kubist_api::Kind;
use kubist_apimachinery::wire::scan::{self, Scan};
use kubist_apimachinery::wire::{DecodeContext, Encoding, merge_json, merge_protobuf, to_protobuf};
use kubist_apimachinery::{AnyObject, KeyValues, ResourceVersion, Status, Str};
use kubist_codec::Format;
use kubist_codec::watch_stream::EventKind;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// One version of one object.
#[derive(Clone)]
pub struct Stored(Arc<Inner>);

/// Small, because a large list creates one for each object.
struct Inner {
    kind: StoredKind,
    revision: u64,
    /// The bare protobuf message, without resource version.
    raw: OnceLock<StoredBytes>,
    /// The position of the version in `raw`, if known.
    place: Option<VersionPlace>,
    /// Whether the structure of `raw` is known to be valid.
    sound: AtomicBool,
    /// The number of the last steps of a read that it was checked with, and in the last bit whether
    /// they leave it unchanged.
    complete: AtomicU64,
    /// The derived forms; empty until one is requested.
    forms: OnceLock<Box<Forms>>,
}

#[derive(Default)]
struct Forms {
    /// The stored text of a custom object that is not decoded yet.
    text: Option<CustomText>,
    /// The position of the metadata in `raw`. `None` if only decoding can find it.
    scan: OnceLock<Option<Scan>>,
    object: OnceLock<Result<Arc<dyn AnyObject>, Status>>,
    json: OnceLock<Result<Bytes, Status>>,
    protobuf: OnceLock<Result<Bytes, Status>>,
    /// The object in other versions of the kind, with the conversion that made it; a resource has
    /// few.
    converted: Mutex<Vec<(u64, Stored)>>,
    /// The frames sent to watchers, by event and format.
    frames: Mutex<Vec<(FrameKey, Bytes)>>,
}

/// The assumed size of an object that is not encoded yet: that of a typical Pod.
const GUESSED_BYTES: usize = 4 << 10;

thread_local! {
    /// The scan results of a kind, which are most of the work, are reused by the next scan.
    static SCANNING: RefCell<DecodeContext> = RefCell::new(DecodeContext::new());
}

#[cfg(test)]
thread_local! {
    /// How often this thread has decoded an object.
    pub(crate) static DECODES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The conversion of the scheme, which is always the same. All others have another number.
const BY_SCHEME: u64 = 0;

/// The key of a frame of one version of an object.
type FrameKey = (EventKind, Format);

impl Stored {
    /// Creates a version from storage: `raw` is the bare protobuf message, without resource
    /// version.
    pub fn from_raw(kind: StoredKind, revision: u64, raw: Bytes) -> Self {
        Self::from_bytes(kind, revision, raw.into())
    }

    fn from_bytes(kind: StoredKind, revision: u64, raw: StoredBytes) -> Self {
        Self::new(kind, revision, OnceLock::from(raw), OnceLock::new())
    }

    /// Creates a version from a value examined before: its structure is valid, and `place` is the
    /// position of its version.
    pub(crate) fn known(
        kind: StoredKind,
        revision: u64,
        raw: StoredBytes,
        place: VersionPlace,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            revision,
            raw: OnceLock::from(raw),
            place: Some(place),
            sound: AtomicBool::new(true),
            complete: AtomicU64::new(0),
            forms: OnceLock::new(),
        }))
    }

    /// Creates a version from a decoded object. Its resource version becomes `revision`; 0 clears
    /// it.
    pub fn from_object(kind: StoredKind, revision: u64, mut object: Box<dyn AnyObject>) -> Self {
        object.meta_mut().resource_version = version_text(revision);
        Self::of(kind, revision, Ok(Arc::from(object)))
    }

    /// Creates a version of a custom object from its stored text.
    pub(crate) fn from_text(kind: StoredKind, revision: u64, text: CustomText) -> Self {
        let forms = Forms {
            text: Some(text),
            ..Forms::default()
        };
        let forms = OnceLock::from(Box::new(forms));
        Self::new(kind, revision, OnceLock::new(), forms)
    }

    /// Returns the stored text of a custom object, if that represents it.
    pub(crate) fn text(&self) -> Option<&CustomText> {
        self.0.forms.get()?.text.as_ref()
    }

    /// Creates a version that cannot be decoded.
    pub(crate) fn from_error(kind: StoredKind, revision: u64, status: Status) -> Self {
        Self::of(kind, revision, Err(status))
    }

    fn of(kind: StoredKind, revision: u64, object: Result<Arc<dyn AnyObject>, Status>) -> Self {
        let forms = Forms {
            object: OnceLock::from(object),
            ..Forms::default()
        };
        let forms = OnceLock::from(Box::new(forms));
        Self::new(kind, revision, OnceLock::new(), forms)
    }

    fn new(
        kind: StoredKind,
        revision: u64,
        raw: OnceLock<StoredBytes>,
        forms: OnceLock<Box<Forms>>,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            revision,
            raw,
            place: None,
            sound: AtomicBool::new(false),
            complete: AtomicU64::new(0),
            forms,
        }))
    }

    fn forms(&self) -> &Forms {
        self.0.forms.get_or_init(Box::default)
    }

    /// Returns the object or its decoding error, if already decoded.
    pub(crate) fn decoded(&self) -> Option<&Result<Arc<dyn AnyObject>, Status>> {
        self.0.forms.get()?.object.get()
    }

    /// Returns the same content with another resource version, as for a delete's result.
    pub fn at_revision(&self, revision: u64) -> Self {
        if let Some(raw) = self.0.raw.get() {
            return Self::from_bytes(self.0.kind, revision, raw.clone());
        }
        if let Some(text) = self.text() {
            return Self::from_text(self.0.kind, revision, text.clone());
        }
        match self.object() {
            Ok(object) => Self::from_object(self.0.kind, revision, object.boxed_clone()),
            Err(_) => self.clone(),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> &'static Kind {
        self.0.kind.kind
    }

    /// Returns the object with the fields that its kind adds on read.
    pub(crate) fn completed(self) -> Self {
        match (self.0.kind.scheme.complete)(&self) {
            Some(object) => Self::from_object(self.0.kind, self.0.revision, object),
            None => self,
        }
    }

    /// Returns the resource version as a number; 0 if it has none.
    pub fn revision(&self) -> u64 {
        self.0.revision
    }

    /// Returns the resource version.
    pub fn resource_version(&self) -> ResourceVersion {
        version_text(self.0.revision).into()
    }

    /// Returns the object, with its resource version.
    pub fn object(&self) -> Result<&Arc<dyn AnyObject>, Status> {
        self.forms()
            .object
            .get_or_init(|| self.decode().map(Arc::from))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Returns the decoding error, if already known.
    pub fn failure(&self) -> Option<&Status> {
        self.decoded()?.as_ref().err()
    }

    /// Returns the decoding error. The structure is checked once, without decoding; invalid UTF-8
    /// is found only by decoding.
    pub(crate) fn check(&self, cx: &mut DecodeContext) -> Option<&Status> {
        if self.decoded().is_none()
            && !self.0.sound.load(Ordering::Relaxed)
            && let Some(raw) = self.0.raw.get()
        {
            match scan::scan(raw, Encoding::Protobuf, self.kind().schema(), cx) {
                Ok(_) => self.0.sound.store(true, Ordering::Relaxed),
                Err(error) => {
                    let unreadable = || Err(unreadable(&error));
                    self.forms().object.get_or_init(unreadable);
                }
            }
        }
        self.failure()
    }

    /// Reports whether the stored bytes represent it, as long as it has not been encoded anew.
    pub(crate) fn is_as_stored(&self) -> bool {
        self.0.raw.get().is_some()
    }

    /// Reports whether its structure is known to be valid.
    pub(crate) fn is_sound(&self) -> bool {
        self.0.sound.load(Ordering::Relaxed)
    }

    /// Marks its structure as valid: this process has written it.
    pub(crate) fn sound(self) -> Self {
        self.0.sound.store(true, Ordering::Relaxed);
        self
    }

    /// Returns a copy of the object for changes.
    pub fn to_object(&self) -> Result<Box<dyn AnyObject>, Status> {
        match self.decoded() {
            Some(Ok(object)) => Ok(object.boxed_clone()),
            Some(Err(status)) => Err(status.clone()),
            // A change needs a copy anyway, and decoding creates one.
            None => self.decode(),
        }
    }

    /// Reads the name and the labels, without decoding the object if possible.
    pub fn with_labels<T>(&self, read: impl FnOnce(&str, KeyValues<'_>) -> T) -> Result<T, Status> {
        if self.decoded().is_none()
            && let (Some(raw), Some(Some(scan))) = (self.0.raw.get(), self.scan())
        {
            let spans = &scan.spans;
            return Ok(read(spans.name(raw), spans.labels(raw)));
        }
        let meta = self.object()?.meta();
        Ok(read(&meta.name, KeyValues::Map(&meta.labels)))
    }

    /// Returns its stored size in bytes; an estimate if it is not encoded yet.
    pub fn stored_bytes(&self) -> usize {
        let of_text = || self.text().map_or(GUESSED_BYTES, |it| it.as_bytes().len());
        self.0.raw.get().map_or_else(of_text, |raw| raw.len())
    }

    /// Returns the frame of an event for this version, computed once for all watchers of that
    /// format.
    pub fn frame(
        &self,
        key: (EventKind, Format),
        make: impl FnOnce(&mut Vec<u8>) -> Result<(), Status>,
    ) -> Result<Bytes, Status> {
        let mut frames = self.forms().frames.lock();
        if let Some((_, frame)) = frames.iter().find(|it| it.0 == key) {
            return Ok(frame.clone());
        }
        let mut out = Vec::new();
        make(&mut out)?;
        let frame = Bytes::from(out);
        frames.push((key, frame.clone()));
        Ok(frame)
    }

    /// Returns the object in another version of its kind.
    pub fn in_version(&self, kind: &'static Kind) -> Result<Self, Status> {
        if std::ptr::eq(self.kind(), kind) {
            return Ok(self.clone());
        }
        if let Some(found) = self.converted(BY_SCHEME, kind) {
            return Ok(found);
        }
        let object = self.0.kind.convert(self.to_object()?, kind)?;
        let stored = Self::from_object(self.0.kind.version(kind), self.0.revision, object);
        self.keep_converted(BY_SCHEME, &stored);
        Ok(stored)
    }

    /// Reports whether these steps of a read leave it unchanged; none if that is not known.
    pub(crate) fn is_complete(&self, reading: u64) -> Option<bool> {
        let known = self.0.complete.load(Ordering::Relaxed);
        (known >> 1 == reading).then_some(known & 1 == 1)
    }

    /// Records whether these steps of a read leave it unchanged.
    pub(crate) fn set_complete(&self, reading: u64, is_complete: bool) {
        let known = reading << 1 | u64::from(is_complete);
        self.0.complete.store(known, Ordering::Relaxed);
    }

    /// Returns the object in another version, if this conversion is known.
    pub(crate) fn converted(&self, conversion: u64, kind: &'static Kind) -> Option<Self> {
        let converted = self.0.forms.get()?.converted.lock();
        let mut same = converted.iter().filter(|it| it.0 == conversion);
        let found = same.find(|(_, it)| std::ptr::eq(it.kind(), kind))?;
        Some(found.1.clone())
    }

    /// Keeps the object in another version. Results of other conversions by webhook are dropped:
    /// their definition has changed.
    pub(crate) fn keep_converted(&self, conversion: u64, stored: &Self) {
        let mut converted = self.forms().converted.lock();
        converted.retain(|(by, it)| {
            let is_same_version = std::ptr::eq(it.kind(), stored.kind());
            *by == BY_SCHEME && conversion != BY_SCHEME || *by == conversion && !is_same_version
        });
        converted.push((conversion, stored.clone()));
    }

    /// Returns the bare protobuf message without resource version, as stored.
    pub(crate) fn raw(&self) -> Result<&[u8], Status> {
        if let Some(raw) = self.0.raw.get() {
            return Ok(raw);
        }
        let mut object = self.object()?.boxed_clone();
        object.meta_mut().resource_version = Str::default();
        let encode = || Bytes::from(to_protobuf(&*object)).into();
        Ok(self.0.raw.get_or_init(encode))
    }

    fn scan(&self) -> Option<&Option<Scan>> {
        let raw = self.0.raw.get()?;
        Some(self.forms().scan.get_or_init(|| {
            // The metadata is a message of its own, and the fields after it need no scan.
            let metadata = first_field(raw)?;
            let schema = self.kind().schema();
            let scanned =
                SCANNING.with_borrow_mut(|cx| scan::scan(metadata, Encoding::Protobuf, schema, cx));
            let scan = scanned.ok()?;
            // Irregular metadata was appended in rewritten form; decoding is simpler then.
            scan.tail.is_empty().then_some(scan)
        }))
    }

    fn decode(&self) -> Result<Box<dyn AnyObject>, Status> {
        #[cfg(test)]
        DECODES.set(DECODES.get() + 1);
        let mut object = self.kind().new_object().ok_or_else(|| {
            let kind = self.kind().facts().kind;
            Status::internal_error(format_args!("{kind} has no metadata"))
        })?;
        let cx = &mut DecodeContext::new();
        if let Some(text) = self.text() {
            merge_json(&mut *object, text.as_bytes(), cx).map_err(|error| unreadable(&error))?;
        } else {
            let raw = self.0.raw.get().map(|raw| &raw[..]).unwrap_or_default();
            merge_protobuf(&mut *object, raw, cx).map_err(|error| unreadable(&error))?;
        }
        object.meta_mut().resource_version = version_text(self.0.revision);
        Ok(object)
    }
}

/// Returns the status for a value that cannot be decoded.
pub(crate) fn unreadable(why: &dyn fmt::Display) -> Status {
    Status::internal_error(format_args!("unable to decode the stored object: {why}"))
}

/// Returns a revision as a resource version; empty for 0.
pub(crate) fn version_text(revision: u64) -> Str {
    if revision == 0 {
        return Str::default();
    }
    revision.to_string().into()
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("kind", &self.kind().facts().kind)
            .field("revision", &self.0.revision)
            .finish_non_exhaustive()
    }
}
