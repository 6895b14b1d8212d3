//! `Frame`: one event of a watch, with its object still encoded.

use super::error::WatchStreamError;
use crate::envelope;
use bytes::Bytes;
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, decode, delimited_length, push_delimited, push_header,
};
use kubist_apimachinery::{Status, Str};

/// The event type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has no other types")]
pub enum EventKind {
    /// `ADDED`.
    Added,
    /// `MODIFIED`.
    Modified,
    /// `DELETED`: the object in its last state.
    Deleted,
    /// `BOOKMARK`: an object with only a resource version.
    Bookmark,
    /// `ERROR`: the object is a [`Status`]; the server closes the watch.
    Error,
}

impl EventKind {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }

    pub(super) fn parse(name: &[u8]) -> Option<Self> {
        [
            Self::Added,
            Self::Modified,
            Self::Deleted,
            Self::Bookmark,
            Self::Error,
        ]
        .into_iter()
        .find(|kind| kind.as_str().as_bytes() == name)
    }
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// The event type.
    pub kind: EventKind,
    /// The object: JSON text, or a bare protobuf message (without its envelope).
    pub object: Bytes,
    /// The encoding of `object`, as `Ingest` needs it.
    pub encoding: Encoding,
    /// The object's `apiVersion` from the envelope; empty for JSON, which includes it.
    pub api_version: Str,
    /// The object's kind from the envelope; empty for JSON.
    pub type_name: Str,
}

impl Frame {
    pub(super) fn new(kind: EventKind, object: Bytes, encoding: Encoding) -> Self {
        Self {
            kind,
            object,
            encoding,
            api_version: Str::default(),
            type_name: Str::default(),
        }
    }

    /// Decodes the Status of an `ERROR` frame.
    ///
    /// # Errors
    /// The object is not a Status.
    pub fn status(&self) -> Result<Status, WatchStreamError> {
        decode(&self.object, self.encoding, &mut DecodeContext::new())
            .map_err(WatchStreamError::Status)
    }
}

/// An encoded object to write into a frame.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has no other frames")]
pub enum FrameObject<'a> {
    /// JSON text.
    Json(&'a [u8]),
    /// A bare protobuf message; the frame adds an envelope.
    Protobuf {
        /// `apiVersion`.
        api_version: &'a str,
        /// `kind`.
        kind: &'a str,
        /// The message.
        raw: &'a [u8],
    },
    /// A protobuf message in its envelope.
    Enveloped(&'a [u8]),
}

/// Appends one event as upstream writes it: a JSON line, or a length and a `WatchEvent`.
pub fn encode_frame(kind: EventKind, object: FrameObject<'_>, out: &mut Vec<u8>) {
    match object {
        FrameObject::Json(text) => {
            out.extend_from_slice(b"{\"type\":\"");
            out.extend_from_slice(kind.as_str().as_bytes());
            out.extend_from_slice(b"\",\"object\":");
            out.extend_from_slice(text.trim_ascii_end());
            out.extend_from_slice(b"}\n");
        }
        FrameObject::Protobuf {
            api_version,
            kind: type_name,
            raw,
        } => {
            let mut head = Vec::with_capacity(64);
            envelope::push_head(api_version, type_name, raw.len(), &mut head);
            push_event(kind, &[&head, raw, &envelope::TAIL], out);
        }
        FrameObject::Enveloped(object) => push_event(kind, &[object], out),
    }
}

fn push_event(kind: EventKind, object: &[&[u8]], out: &mut Vec<u8>) {
    let kind = kind.as_str();
    let length: usize = object.iter().map(|part| part.len()).sum();
    let extension = delimited_length(1, length);
    let event = delimited_length(1, kind.len()) + delimited_length(2, extension);
    // An object of 4 GiB exceeds every limit of servers and storage.
    out.extend_from_slice(&u32::try_from(event).unwrap_or(u32::MAX).to_be_bytes());
    push_delimited(1, kind.as_bytes(), out);
    push_header(2, extension, out);
    push_header(1, length, out);
    for part in object {
        out.extend_from_slice(part);
    }
}
