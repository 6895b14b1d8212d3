//! Errors of watch streams.

use crate::envelope::EnvelopeError;
use kubist_apimachinery::wire::{WireError, WireErrorKind};

/// A malformed frame. `frame` is its index, from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WatchStreamError {
    /// The body ended inside a frame.
    #[error("the watch ends inside frame {frame}, at byte {offset}")]
    Truncated {
        /// The byte offset in the body.
        offset: u64,
        /// The frame.
        frame: u64,
    },
    /// The body is not a sequence of JSON events.
    #[error("frame {frame}, byte {offset} of the watch: expected {expected}, found {found:?}")]
    Syntax {
        /// The byte offset in the body.
        offset: u64,
        /// The frame.
        frame: u64,
        /// What was expected.
        expected: &'static str,
        /// The byte that was found.
        found: char,
    },
    /// A frame exceeds its limit.
    #[error("frame {frame}, byte {offset} of the watch: more than {max} bytes")]
    TooLong {
        /// The byte offset in the body.
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
    /// The frame has an unknown `type`.
    #[error("frame {frame} of the watch has the unknown type {found:?}")]
    UnknownType {
        /// The frame.
        frame: u64,
        /// The type; empty if there is none.
        found: String,
    },
    /// The event in a complete protobuf frame is malformed.
    #[error("frame {frame} of the watch: {kind}")]
    Event {
        /// The frame.
        frame: u64,
        /// The problem.
        kind: WireErrorKind,
    },
    /// The object in a protobuf frame has no valid envelope.
    #[error("the object in frame {frame} of the watch")]
    Envelope {
        /// The frame.
        frame: u64,
        /// The reason.
        source: EnvelopeError,
    },
    /// The object of an `ERROR` frame is not a Status.
    #[error("the status in an ERROR frame of the watch")]
    Status(#[source] WireError),
}

impl WatchStreamError {
    /// Reports whether the stream ends with this error. Otherwise only this frame is lost: its
    /// borders were valid, its contents were not.
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
