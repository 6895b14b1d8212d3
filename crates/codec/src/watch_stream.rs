//! `WatchStream`: splits the body of a watch into events while it arrives.
//!
//! JSON: objects `{"type":…,"object":…}`, one after the other, with or without line breaks.
//! Protobuf: a length of four bytes (big-endian), then a `WatchEvent` whose object has its own
//! envelope. Chunks may be split at any byte. Objects are not decoded here.

mod error;
mod frame;
mod json;
mod protobuf;

use crate::input::Input;
use bytes::Bytes;
pub use error::WatchStreamError;
pub use frame::{EventKind, Frame, FrameObject, encode_frame};
use json::JsonEvents;
use kubist_apimachinery::wire::Encoding;
use protobuf::ProtobufEvents;

/// The default limit of one frame in bytes: 16 MiB, as in upstream's clients.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

#[derive(Debug)]
enum Cutter {
    Json(JsonEvents),
    Protobuf(ProtobufEvents),
}

/// Splits one watch. Call [`push`](Self::push) for each chunk, then
/// [`next_frame`](Self::next_frame) until it returns none, and [`finish`](Self::finish) when the
/// body ends.
///
/// ```
/// use kubist_apimachinery::wire::Encoding;
/// use kubist_codec::watch_stream::{EventKind, WatchStream};
///
/// let mut watch = WatchStream::new(Encoding::Json);
/// watch.push(br#"{"type":"ADDED","object":{"kind":"Pod"}}{"type":"#.to_vec().into());
/// let frame = watch.next_frame()?.unwrap();
/// assert_eq!((frame.kind, &frame.object[..]), (EventKind::Added, &br#"{"kind":"Pod"}"#[..]));
/// assert!(watch.next_frame()?.is_none());
/// assert!(watch.finish().is_err(), "it ends inside a frame");
/// # Ok::<(), kubist_codec::watch_stream::WatchStreamError>(())
/// ```
#[derive(Debug)]
pub struct WatchStream {
    cutter: Cutter,
    input: Input,
    frames: u64,
    failed: Option<WatchStreamError>,
}

impl WatchStream {
    /// Creates a stream with frames of at most [`FRAME_BYTES_MAX`].
    pub fn new(encoding: Encoding) -> Self {
        Self::with_limit(encoding, FRAME_BYTES_MAX)
    }

    /// Creates a stream with frames of at most `frame_bytes_max`.
    pub fn with_limit(encoding: Encoding, frame_bytes_max: usize) -> Self {
        let cutter = match encoding {
            Encoding::Protobuf => Cutter::Protobuf(ProtobufEvents::new(frame_bytes_max)),
            _ => Cutter::Json(JsonEvents::new(frame_bytes_max)),
        };
        Self {
            cutter,
            input: Input::default(),
            frames: 0,
            failed: None,
        }
    }

    /// Adds the next chunk of the body.
    pub fn push(&mut self, chunk: Bytes) {
        self.input.push(chunk);
    }

    /// Returns the next complete frame; none when more input is needed.
    ///
    /// # Errors
    /// The frame is malformed. If the error [ends the stream](WatchStreamError::ends_stream), every
    /// further call returns it; otherwise only this frame is lost, and the next call continues
    /// after it.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, WatchStreamError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let frame = match &mut self.cutter {
            Cutter::Json(events) => events.step(&mut self.input, self.frames),
            Cutter::Protobuf(events) => events.step(&mut self.input, self.frames),
        };
        match &frame {
            Ok(None) => {}
            Err(error) if error.ends_stream() => self.failed = Some(error.clone()),
            Ok(Some(_)) | Err(_) => self.frames += 1,
        }
        frame
    }

    /// Returns the number of frames so far, including malformed ones.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Ends the watch.
    ///
    /// # Errors
    /// The body ended inside a frame, or was malformed before.
    pub fn finish(self) -> Result<(), WatchStreamError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let between_frames = match &self.cutter {
            Cutter::Json(events) => events.is_between_frames(),
            Cutter::Protobuf(events) => events.is_between_frames(),
        };
        if between_frames && self.input.rest().is_empty() {
            return Ok(());
        }
        Err(WatchStreamError::Truncated {
            offset: self.input.offset(),
            frame: self.frames,
        })
    }
}
