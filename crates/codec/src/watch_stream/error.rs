//! Why a watch cannot go on, or lost a frame.

use crate::envelope::EnvelopeError;
use kubist_apimachinery::wire::{WireError, WireErrorKind};

/// A broken frame. `frame` is its index, from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WatchStreamError {
    /// The body ended inside a frame.
    #[error("the watch ends inside frame {frame}, at byte {offset}")]
    Truncated {
        /// Bytes from the start of the body.
        offset: u64,
        /// The frame.
        frame: u64,
    },
    /// Not JSON events.
    #[error("frame {frame}, byte {offset} of the watch: expected {expected}, found {found:?}")]
    Syntax {
        /// Bytes from the start of the body.
        offset: u64,
        /// The frame.
        frame: u64,
        /// What could have stood there.
        expected: &'static str,
        /// What stands there.
        found: char,
    },
    /// A frame is longer than the limit.
    #[error("frame {frame}, byte {offset} of the watch: more than {max} bytes")]
    TooLong {
        /// Bytes from the start of the body.
        offset: u64,
        /// The frame.
        frame: u64,
        /// The limit.
        max: usize,
    },
    /// The frame has no `object`.
    #[error("frame {frame} of the watch has no object")]
    NoObject {
        /// The frame.
        frame: u64,
    },
    /// The frame's `type` is none that exists.
    #[error("frame {frame} of the watch has the unknown type {found:?}")]
    UnknownType {
        /// The frame.
        frame: u64,
        /// The type; empty if there is none.
        found: String,
    },
    /// A protobuf frame of the right length whose event is broken.
    #[error("frame {frame} of the watch: {kind}")]
    Event {
        /// The frame.
        frame: u64,
        /// What is wrong.
        kind: WireErrorKind,
    },
    /// A protobuf frame whose object is in no good envelope.
    #[error("the object in frame {frame} of the watch")]
    Envelope {
        /// The frame.
        frame: u64,
        /// The reason.
        source: EnvelopeError,
    },
    /// The object of an `ERROR` frame is no Status.
    #[error("the status in an ERROR frame of the watch")]
    Status(#[source] WireError),
}

impl WatchStreamError {
    /// Whether nothing can come after it. Otherwise only this frame is lost: its borders were
    /// sound, its contents were not.
    pub fn ends_stream(&self) -> bool {
        match self {
            Self::Truncated { .. } | Self::Syntax { .. } | Self::TooLong { .. } => true,
            Self::NoObject { .. }
            | Self::UnknownType { .. }
            | Self::Event { .. }
            | Self::Envelope { .. }
            | Self::Status(_) => false,
        }
    }
}
