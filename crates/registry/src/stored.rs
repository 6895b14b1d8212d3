//! `Stored`: one version of one object, in every form that somebody asked for, each made once.
//!
//! Cheap to clone and shared by all lists and watches that deliver it. The storage encoding is
//! where it begins; metadata is scanned, and the object decoded, only when needed.

pub(crate) mod cache;
pub(crate) mod codec;
pub(crate) mod custom_object;
mod json;
pub(crate) mod key;
mod metadata;
pub(crate) mod scheme;
pub(crate) mod stored_bytes;
pub mod transformer;
pub(crate) mod version;
pub(crate) mod written_json;

use crate::stored::scheme::StoredKind;
use crate::stored::stored_bytes::StoredBytes;
use crate::stored::version::{VersionPlace, first_field};
use bytes::Bytes;
use kubist_api::Kind;
use kubist_apimachinery::wire::scan::{self, Scan};
use kubist_apimachinery::wire::{DecodeContext, Encoding, merge_protobuf, to_protobuf};
use kubist_apimachinery::{AnyObject, KeyValues, ResourceVersion, Status, Str};
use kubist_codec::Format;
use kubist_codec::watch_stream::EventKind;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// One version of one object.
#[derive(Clone)]
pub struct Stored(Arc<Inner>);

/// Small, because a large list makes one for each object.
struct Inner {
    kind: StoredKind,
    revision: u64,
    /// The bare protobuf message, without resource version.
    raw: OnceLock<StoredBytes>,
    /// Where the version goes in `raw`, if that is known already.
    place: Option<VersionPlace>,
    /// Whether the structure of `raw` is known to be whole.
    sound: AtomicBool,
    /// Everything that was made of it; nothing until somebody asks.
    forms: OnceLock<Box<Forms>>,
}

#[derive(Default)]
struct Forms {
    /// Where the metadata is in `raw`. None if it cannot be told without decoding.
    scan: OnceLock<Option<Scan>>,
    object: OnceLock<Result<Arc<dyn AnyObject>, Status>>,
    json: OnceLock<Result<Bytes, Status>>,
    protobuf: OnceLock<Result<Bytes, Status>>,
    /// The same in other versions of the kind; a resource has few.
    converted: Mutex<Vec<Stored>>,
    /// As it is sent to watchers, by event and format: not more than there are of these.
    frames: Mutex<Vec<(FrameKey, Bytes)>>,
}

/// What an object that was not encoded yet is taken to need: a usual Pod.
const GUESSED_BYTES: usize = 4 << 10;

thread_local! {
    /// What a scan has found out about a kind, which is most of the work, serves the next one.
    static SCANNING: RefCell<DecodeContext> = RefCell::new(DecodeContext::new());
}

/// What makes frames of one version of an object differ.
type FrameKey = (EventKind, Format);

impl Stored {
    /// A version as it came from storage: `raw` is the bare protobuf message, without resource
    /// version.
    pub fn from_raw(kind: impl Into<StoredKind>, revision: u64, raw: Bytes) -> Self {
        Self::from_bytes(kind.into(), revision, raw.into())
    }

    fn from_bytes(kind: StoredKind, revision: u64, raw: StoredBytes) -> Self {
        Self::new(kind, revision, OnceLock::from(raw), OnceLock::new())
    }

    /// A version as it is in a value that was looked at before: it is whole, and `place` is where
    /// its version goes.
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
            forms: OnceLock::new(),
        }))
    }

    /// A version that is decoded already. Its resource version becomes `revision`; 0 clears it.
    pub fn from_object(
        kind: impl Into<StoredKind>,
        revision: u64,
        mut object: Box<dyn AnyObject>,
    ) -> Self {
        object.meta_mut().resource_version = version_text(revision);
        Self::of(kind.into(), revision, Ok(Arc::from(object)))
    }

    /// A version that cannot be read.
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
            forms,
        }))
    }

    fn forms(&self) -> &Forms {
        self.0.forms.get_or_init(Box::default)
    }

    /// The object or why there is none, if somebody has asked for it.
    fn decoded(&self) -> Option<&Result<Arc<dyn AnyObject>, Status>> {
        self.0.forms.get()?.object.get()
    }

    /// The same content with another resource version: how a delete shows what it removed.
    pub fn at_revision(&self, revision: u64) -> Self {
        if let Some(raw) = self.0.raw.get() {
            return Self::from_bytes(self.0.kind, revision, raw.clone());
        }
        match self.object() {
            Ok(object) => Self::from_object(self.0.kind, revision, object.boxed_clone()),
            Err(_) => self.clone(),
        }
    }

    /// The kind.
    pub fn kind(&self) -> &'static Kind {
        self.0.kind.kind
    }

    /// The same object with what its kind adds when it is read.
    pub(crate) fn completed(self) -> Self {
        match (self.0.kind.scheme.complete)(&self) {
            Some(object) => Self::from_object(self.0.kind, self.0.revision, object),
            None => self,
        }
    }

    /// The resource version as a number; 0 if it has none.
    pub fn revision(&self) -> u64 {
        self.0.revision
    }

    /// The resource version.
    pub fn resource_version(&self) -> ResourceVersion {
        version_text(self.0.revision).into()
    }

    /// The object, with its resource version.
    pub fn object(&self) -> Result<&Arc<dyn AnyObject>, Status> {
        self.forms()
            .object
            .get_or_init(|| self.decode().map(Arc::from))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Why it cannot be read, as far as that is known without looking inside.
    pub fn failure(&self) -> Option<&Status> {
        self.decoded()?.as_ref().err()
    }

    /// Why it cannot be read. What nobody has looked at yet is looked at now: its structure, once,
    /// without decoding it. Text that is no text shows only when it is decoded.
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

    /// Whether the bytes of what was stored are what it is, as far as nobody had it encoded.
    pub(crate) fn is_as_stored(&self) -> bool {
        self.0.raw.get().is_some()
    }

    /// Whether it is known to be whole.
    pub(crate) fn is_sound(&self) -> bool {
        self.0.sound.load(Ordering::Relaxed)
    }

    /// The same, known to be whole: this process has written it.
    pub(crate) fn sound(self) -> Self {
        self.0.sound.store(true, Ordering::Relaxed);
        self
    }

    /// A copy of the object, to change it.
    pub fn to_object(&self) -> Result<Box<dyn AnyObject>, Status> {
        match self.decoded() {
            Some(Ok(object)) => Ok(object.boxed_clone()),
            Some(Err(status)) => Err(status.clone()),
            // Changing takes a copy anyway; decoding makes one.
            None => self.decode(),
        }
    }

    /// The name and the labels, without decoding the object if possible.
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

    /// The bare protobuf message (no envelope), with its resource version.
    pub fn protobuf(&self) -> Result<&Bytes, Status> {
        self.forms()
            .protobuf
            .get_or_init(|| {
                let mut out = Vec::new();
                self.push_protobuf(&mut out)?;
                Ok(out.into())
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Appends what [`protobuf`](Self::protobuf) returns, without keeping it: for lists, which
    /// are written once.
    pub fn push_protobuf(&self, out: &mut Vec<u8>) -> Result<(), Status> {
        if let Some(bytes) = self.made_protobuf() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        if let Some(raw) = self.0.raw.get()
            && let Some(place) = self.0.place.or_else(|| VersionPlace::of(raw))
        {
            place.fill(raw, self.0.revision, out);
            return Ok(());
        }
        out.extend_from_slice(&to_protobuf(&**self.object()?));
        Ok(())
    }

    /// How many bytes [`push_protobuf`](Self::push_protobuf) appends.
    pub fn protobuf_length(&self) -> Result<usize, Status> {
        if let Some(bytes) = self.made_protobuf() {
            return Ok(bytes.len());
        }
        if let Some(raw) = self.0.raw.get()
            && let Some(place) = self.0.place.or_else(|| VersionPlace::of(raw))
        {
            return Ok(place.filled_length(raw.len(), self.0.revision));
        }
        Ok(self.protobuf()?.len())
    }

    /// Bytes that it takes in storage; of one that was not encoded yet, a guess.
    pub fn stored_bytes(&self) -> usize {
        self.0.raw.get().map_or(GUESSED_BYTES, |raw| raw.len())
    }

    fn made_protobuf(&self) -> Option<&Bytes> {
        self.0.forms.get()?.protobuf.get()?.as_ref().ok()
    }

    /// The frame of an event about this version, made once for all who watch in that format.
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

    /// The same object in another version of its kind.
    pub fn in_version(&self, kind: &'static Kind) -> Result<Self, Status> {
        if std::ptr::eq(self.kind(), kind) {
            return Ok(self.clone());
        }
        let mut converted = self.forms().converted.lock();
        if let Some(found) = converted.iter().find(|it| std::ptr::eq(it.kind(), kind)) {
            return Ok(found.clone());
        }
        let object = self.0.kind.convert(self.to_object()?, kind)?;
        let stored = Self::from_object(self.0.kind.version(kind), self.0.revision, object);
        converted.push(stored.clone());
        Ok(stored)
    }

    /// The bare protobuf message without resource version, as it is in storage.
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
            // The metadata is a message by itself, and what follows it need not be looked at.
            let metadata = first_field(raw)?;
            let schema = self.kind().schema();
            let scanned =
                SCANNING.with_borrow_mut(|cx| scan::scan(metadata, Encoding::Protobuf, schema, cx));
            let scan = scanned.ok()?;
            // Irregular metadata was written again behind the bytes; decoding is simpler then.
            scan.tail.is_empty().then_some(scan)
        }))
    }

    fn decode(&self) -> Result<Box<dyn AnyObject>, Status> {
        let mut object = self.kind().new_object().ok_or_else(|| {
            let kind = self.kind().facts().kind;
            Status::internal_error(format_args!("{kind} has no metadata"))
        })?;
        let raw = self.0.raw.get().map(|raw| &raw[..]).unwrap_or_default();
        merge_protobuf(&mut *object, raw, &mut DecodeContext::new())
            .map_err(|error| unreadable(&error))?;
        object.meta_mut().resource_version = version_text(self.0.revision);
        Ok(object)
    }
}

/// The status for a value that cannot be read back.
pub(crate) fn unreadable(why: &dyn fmt::Display) -> Status {
    Status::internal_error(format_args!("unable to decode the stored object: {why}"))
}

/// A revision as a resource version; 0 is none.
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
