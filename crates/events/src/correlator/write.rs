//! `Write`: one request that the correlator wants, and how it ended.

use kubist_api::events::v1::{Event, EventSeries};
use kubist_apimachinery::Str;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Write {
    /// Create the event.
    Create(Box<Event>),
    /// Set the series of an event that was created.
    Patch {
        namespace: Str,
        name: Str,
        series: EventSeries,
    },
}

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The event that was to be patched is gone: events live for an hour.
    Missing,
    /// It will not be accepted.
    Rejected,
    /// It may be accepted later.
    Failed {
        /// The pause that the server requested.
        after: Option<Duration>,
    },
}
