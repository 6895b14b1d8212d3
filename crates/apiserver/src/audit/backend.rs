//! `Backend`: a sink, and how events get there.

use super::sink::AuditSink;
use std::fmt;
use std::time::Duration;

/// Events that a backend's buffer has at most by default, as upstream.
pub(super) const BUFFER_EVENTS: usize = 10_000;
/// Events that are written at once by default, as upstream.
pub(super) const BATCH_EVENTS: usize = 400;

/// A sink, and how events get there.
pub struct Backend {
    pub(super) sink: Box<dyn AuditSink>,
    pub(super) mode: Mode,
    pub(super) format: LineFormat,
    pub(super) truncation: Option<Truncation>,
}

impl Backend {
    /// Creates a backend in mode [`Mode::Blocking`], of whole events in JSON.
    pub fn new(sink: impl AuditSink) -> Self {
        Self {
            sink: Box::new(sink),
            mode: Mode::Blocking,
            format: LineFormat::Json,
            truncation: None,
        }
    }

    /// Changes what happens when the sink is slow or fails.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Changes the form of events.
    #[must_use]
    pub fn with_format(mut self, format: LineFormat) -> Self {
        self.format = format;
        self
    }

    /// Limits the size of events and batches.
    #[must_use]
    pub fn with_truncation(mut self, truncation: Option<Truncation>) -> Self {
        self.truncation = truncation;
        self
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("sink", &self.sink.name())
            .field("mode", &self.mode)
            .field("format", &self.format)
            .field("truncation", &self.truncation)
            .finish()
    }
}

/// What happens when a sink is slow or fails.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mode {
    /// Requests wait while 10,000 events or 64 MiB of bodies have not been written. No event is
    /// dropped unless the sink fails.
    Blocking,
    /// The same, and each request waits until its first event is written. If the sink fails then,
    /// the request is refused.
    BlockingStrict,
    /// Requests never wait. Events that do not fit into the buffer are dropped and counted.
    Batch(Batch),
}

impl Mode {
    pub(super) fn is_blocking(&self) -> bool {
        !matches!(self, Self::Batch(_))
    }
}

/// The buffer of a backend, and the batches that are written from it.
///
/// Batches are written one after another, so that events stay in order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Batch {
    /// Events that wait at most. Default: 10,000.
    pub buffer_events: usize,
    /// Events of a batch at most. Default: 400.
    pub batch_events: usize,
    /// How long a batch waits for further events. Default: 30 s.
    pub wait: Duration,
    /// How many batches are written. Default: 10 each second, and 15 at once.
    pub throttle: Option<Throttle>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            buffer_events: BUFFER_EVENTS,
            batch_events: BATCH_EVENTS,
            wait: Duration::from_secs(30),
            throttle: Some(Throttle {
                per_second: 10.0,
                burst: 15,
            }),
        }
    }
}

/// A limit of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Throttle {
    /// Batches a second on average. Must be positive.
    pub per_second: f32,
    /// Batches at once, after a pause.
    pub burst: u32,
}

/// A limit of the size of events and batches, in bytes of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Truncation {
    /// An event that is longer loses its bodies; if it is still longer, it is dropped. Default: 100
    /// KiB.
    pub event_bytes: usize,
    /// A batch that would be longer is split. Default: 10 MiB.
    pub batch_bytes: usize,
}

impl Default for Truncation {
    fn default() -> Self {
        Self {
            event_bytes: 100 << 10,
            batch_bytes: 10 << 20,
        }
    }
}

/// The form of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFormat {
    /// A JSON object of `audit.k8s.io/v1`.
    #[default]
    Json,
    /// A line of text with a few of the fields.
    Legacy,
}
