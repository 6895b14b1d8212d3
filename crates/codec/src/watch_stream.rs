//! `WatchStream`: cuts the body of a watch into events while it arrives.
//!
//! JSON: objects `{"type":…,"object":…}`, one after the other, with or without line breaks.
//! Protobuf: four bytes of length (big-endian), then a `WatchEvent` whose object is in an envelope
//! of its own. Chunks may be split at any byte. Objects are not decoded here.

mod error;
mod frame;
mod json;
mod protobuf;

use bytes::Bytes;
use kubist_apimachinery::wire::Encoding;

use crate::input::Input;
pub use error::WatchStreamError;
pub use frame::{EventKind, Frame, FrameObject, encode_frame};
use json::JsonEvents;
use protobuf::ProtobufEvents;

/// Bytes of one frame by default: 16 MiB, as upstream's clients.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

#[derive(Debug)]
enum Cutter {
    Json(JsonEvents),
    Protobuf(ProtobufEvents),
}

/// Cuts one watch. Feed it with [`push`](Self::push), drain it with
/// [`next_frame`](Self::next_frame) after each chunk, and [`finish`](Self::finish) it when the
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
    /// With frames of at most [`FRAME_BYTES_MAX`].
    pub fn new(encoding: Encoding) -> Self {
        Self::with_limit(encoding, FRAME_BYTES_MAX)
    }

    /// With frames of at most `frame_bytes_max`.
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

    /// Takes the next chunk of the body.
    pub fn push(&mut self, chunk: Bytes) {
        self.input.push(chunk);
    }

    /// The next frame that is complete; none when more input is needed.
    ///
    /// # Errors
    /// A broken frame. If the error [ends the stream](WatchStreamError::ends_stream), it comes
    /// again and again; if not, the frame is lost and the next call goes on after it.
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

    /// How many frames have come so far, broken ones included.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Ends the watch.
    ///
    /// # Errors
    /// The body ended inside a frame, or was broken before.
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
