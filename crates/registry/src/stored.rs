//! `Stored`: one version of one object, in every form that somebody asked for, each made once.
//!
//! Cheap to clone and shared by all lists and watches that deliver it. The storage encoding is
//! where it begins; metadata is scanned, and the object decoded, only when needed.

use crate::claim_templates;
use crate::object_version::{first_field, length_with_version, with_resource_version};
use bytes::Bytes;
use kubist_api::Kind;
use kubist_apimachinery::wire::scan::{self, Scan};
use kubist_apimachinery::wire::{DecodeContext, Encoding, Json, merge_protobuf, to_protobuf};
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

struct Inner {
    kind: &'static Kind,
    revision: u64,
    /// The bare protobuf message, without resource version.
    raw: OnceLock<Bytes>,
    /// Where the metadata is in `raw`. None if it cannot be told without decoding.
    scan: OnceLock<Option<Scan>>,
    object: OnceLock<Result<Arc<dyn AnyObject>, Status>>,
    /// Whether the structure of `raw` is known to be whole.
    sound: AtomicBool,
    json: OnceLock<Result<Bytes, Status>>,
    protobuf: OnceLock<Result<Bytes, Status>>,
    /// The same in other versions of the kind; a resource has few.
    converted: Mutex<Vec<Stored>>,
    /// As it is sent to watchers, by event and format: not more than there are of these.
    frames: Mutex<Vec<(FrameKey, Bytes)>>,
}

thread_local! {
    /// What a scan has found out about a kind, which is most of the work, serves the next one.
    static SCANNING: RefCell<DecodeContext> = RefCell::new(DecodeContext::new());
}

/// What makes frames of one version of an object differ.
type FrameKey = (EventKind, Format);

impl Stored {
    /// A version as it came from storage: `raw` is the bare protobuf message, without resource
    /// version.
    pub fn from_raw(kind: &'static Kind, revision: u64, raw: Bytes) -> Self {
        Self::new(kind, revision, OnceLock::from(raw), OnceLock::new())
    }

    /// A version that is decoded already. Its resource version becomes `revision`; 0 clears it.
    pub fn from_object(kind: &'static Kind, revision: u64, mut object: Box<dyn AnyObject>) -> Self {
        object.meta_mut().resource_version = version_text(revision);
        let object = OnceLock::from(Ok(Arc::from(object)));
        Self::new(kind, revision, OnceLock::new(), object)
    }

    /// A version that cannot be read.
    pub(crate) fn from_error(kind: &'static Kind, revision: u64, status: Status) -> Self {
        Self::new(kind, revision, OnceLock::new(), OnceLock::from(Err(status)))
    }

    fn new(
        kind: &'static Kind,
        revision: u64,
        raw: OnceLock<Bytes>,
        object: OnceLock<Result<Arc<dyn AnyObject>, Status>>,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            revision,
            raw,
            scan: OnceLock::new(),
            object,
            sound: AtomicBool::new(false),
            json: OnceLock::new(),
            protobuf: OnceLock::new(),
            converted: Mutex::new(Vec::new()),
            frames: Mutex::new(Vec::new()),
        }))
    }

    /// The same content with another resource version: how a delete shows what it removed.
    pub fn at_revision(&self, revision: u64) -> Self {
        if let Some(raw) = self.0.raw.get() {
            return Self::from_raw(self.0.kind, revision, raw.clone());
        }
        match self.object() {
            Ok(object) => Self::from_object(self.0.kind, revision, object.boxed_clone()),
            Err(_) => self.clone(),
        }
    }

    /// The kind.
    pub fn kind(&self) -> &'static Kind {
        self.0.kind
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
        self.0
            .object
            .get_or_init(|| self.decode().map(Arc::from))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Why it cannot be read, as far as that is known without looking inside.
    pub fn failure(&self) -> Option<&Status> {
        self.0.object.get()?.as_ref().err()
    }

    /// Why it cannot be read. What nobody has looked at yet is looked at now: its structure, once,
    /// without decoding it. Text that is no text shows only when it is decoded.
    pub(crate) fn check(&self, cx: &mut DecodeContext) -> Option<&Status> {
        if self.0.object.get().is_none()
            && !self.0.sound.load(Ordering::Relaxed)
            && let Some(raw) = self.0.raw.get()
        {
            match scan::scan(raw, Encoding::Protobuf, self.0.kind.schema(), cx) {
                Ok(_) => self.0.sound.store(true, Ordering::Relaxed),
                Err(error) => {
                    let unreadable = || Err(unreadable(&error));
                    self.0.object.get_or_init(unreadable);
                }
            }
        }
        self.failure()
    }

    /// The same, known to be whole: this process has written it.
    pub(crate) fn sound(self) -> Self {
        self.0.sound.store(true, Ordering::Relaxed);
        self
    }

    /// A copy of the object, to change it.
    pub fn to_object(&self) -> Result<Box<dyn AnyObject>, Status> {
        match self.0.object.get() {
            Some(Ok(object)) => Ok(object.boxed_clone()),
            Some(Err(status)) => Err(status.clone()),
            // Changing takes a copy anyway; decoding makes one.
            None => self.decode(),
        }
    }

    /// The name and the labels, without decoding the object if possible.
    pub fn with_labels<T>(&self, read: impl FnOnce(&str, KeyValues<'_>) -> T) -> Result<T, Status> {
        if self.0.object.get().is_none()
            && let (Some(raw), Some(Some(scan))) = (self.0.raw.get(), self.scan())
        {
            let spans = &scan.spans;
            return Ok(read(spans.name(raw), spans.labels(raw)));
        }
        let meta = self.object()?.meta();
        Ok(read(&meta.name, KeyValues::Map(&meta.labels)))
    }

    /// JSON as items of lists are written: without `kind` and `apiVersion`, which only custom
    /// objects say there.
    pub fn json_item(&self) -> Result<&Bytes, Status> {
        self.0
            .json
            .get_or_init(|| {
                let object = self.object()?;
                let written = if self.0.kind.is_custom() {
                    Json::top(&**object)
                } else {
                    Json::part(&**object)
                };
                let json = serde_json::to_vec(&written);
                let json = json.map_err(Status::internal_error)?;
                Ok(claim_templates::with_kinds(json, &**object)?.into())
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// What comes before [`json_tail`](Self::json_tail) in the JSON of the object alone:
    /// `{"kind":…,"apiVersion":…,`, as far as the tail does not have it.
    pub fn json_head(&self) -> String {
        if self.0.kind.is_custom() {
            return "{".to_owned();
        }
        let facts = self.0.kind.facts();
        format!(
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",",
            facts.kind, facts.api_version
        )
    }

    /// The JSON of the object after its `kind` and `apiVersion`; a slice of
    /// [`json_item`](Self::json_item).
    pub fn json_tail(&self) -> Result<Bytes, Status> {
        // Every kind with metadata writes it, so there is something after the brace.
        Ok(self.json_item()?.slice(1..))
    }

    /// The JSON of the object alone.
    pub fn json(&self) -> Result<Vec<u8>, Status> {
        let tail = self.json_tail()?;
        let mut json = self.json_head().into_bytes();
        json.extend_from_slice(&tail);
        Ok(json)
    }

    /// The bare protobuf message (no envelope), with its resource version.
    pub fn protobuf(&self) -> Result<&Bytes, Status> {
        self.0
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
        if let Some(Ok(bytes)) = self.0.protobuf.get() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        if let Some(raw) = self.0.raw.get()
            && with_resource_version(raw, &version_text(self.0.revision), out)
        {
            return Ok(());
        }
        out.extend_from_slice(&to_protobuf(&**self.object()?));
        Ok(())
    }

    /// How many bytes [`push_protobuf`](Self::push_protobuf) appends.
    pub fn protobuf_length(&self) -> Result<usize, Status> {
        if let Some(Ok(bytes)) = self.0.protobuf.get() {
            return Ok(bytes.len());
        }
        let raw = self.0.raw.get();
        match raw.and_then(|raw| length_with_version(raw, version_length(self.0.revision))) {
            Some(length) => Ok(length),
            None => Ok(self.protobuf()?.len()),
        }
    }

    /// The frame of an event about this version, made once for all who watch in that format.
    pub fn frame(
        &self,
        key: (EventKind, Format),
        make: impl FnOnce(&mut Vec<u8>) -> Result<(), Status>,
    ) -> Result<Bytes, Status> {
        let mut frames = self.0.frames.lock();
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
        if std::ptr::eq(self.0.kind, kind) {
            return Ok(self.clone());
        }
        let mut converted = self.0.converted.lock();
        if let Some(found) = converted.iter().find(|it| std::ptr::eq(it.0.kind, kind)) {
            return Ok(found.clone());
        }
        let object = crate::convert::convert(self.to_object()?, self.0.kind, kind)?;
        let stored = Self::from_object(kind, self.0.revision, object);
        converted.push(stored.clone());
        Ok(stored)
    }

    /// The bare protobuf message without resource version, as it is in storage.
    pub(crate) fn raw(&self) -> Result<&Bytes, Status> {
        if let Some(raw) = self.0.raw.get() {
            return Ok(raw);
        }
        let mut object = self.object()?.boxed_clone();
        object.meta_mut().resource_version = Str::default();
        Ok(self.0.raw.get_or_init(|| to_protobuf(&*object).into()))
    }

    fn scan(&self) -> Option<&Option<Scan>> {
        let raw = self.0.raw.get()?;
        Some(self.0.scan.get_or_init(|| {
            // The metadata is a message by itself, and what follows it need not be looked at.
            let metadata = first_field(raw)?;
            let schema = self.0.kind.schema();
            let scanned =
                SCANNING.with_borrow_mut(|cx| scan::scan(metadata, Encoding::Protobuf, schema, cx));
            let scan = scanned.ok()?;
            // Irregular metadata was written again behind the bytes; decoding is simpler then.
            scan.tail.is_empty().then_some(scan)
        }))
    }

    fn decode(&self) -> Result<Box<dyn AnyObject>, Status> {
        let mut object = self.0.kind.new_object().ok_or_else(|| {
            let kind = self.0.kind.facts().kind;
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

/// How many digits that has.
fn version_length(revision: u64) -> usize {
    revision
        .checked_ilog10()
        .map_or(0, |digits| digits as usize + 1)
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("kind", &self.0.kind.facts().kind)
            .field("revision", &self.0.revision)
            .finish_non_exhaustive()
    }
}
