//! `JsonLines`: a JSON object per event, for pipes and files.

use super::View;
use kubist_apimachinery::Unstructured;
use kubist_cache::{Deleted, ResourceEvent};
use serde::Serialize;
use std::io::{self, BufWriter, Stdout, Write as _};

/// Bytes buffered while more events are pending.
const BUFFER: usize = 64 << 10;

/// A JSON object per event, like the protocol's watch events.
pub(super) struct JsonLines {
    out: BufWriter<Stdout>,
}

impl JsonLines {
    pub(super) fn new() -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, io::stdout()),
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    type_: &'static str,
    object: &'a Unstructured,
}

impl View<Unstructured> for JsonLines {
    fn show(&mut self, change: &ResourceEvent<Unstructured>) -> io::Result<()> {
        let Some(object) = object_of(change) else {
            return Ok(());
        };
        let line = Line {
            type_: type_of(change),
            object,
        };
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")
    }

    fn idle(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the protocol's event type.
pub(super) fn type_of<K>(change: &ResourceEvent<K>) -> &'static str {
    match change {
        ResourceEvent::Added { .. } => "ADDED",
        ResourceEvent::Deleted(_) => "DELETED",
        _ => "MODIFIED",
    }
}

/// Returns the current object, or its last known state.
pub(super) fn object_of<K>(change: &ResourceEvent<K>) -> Option<&K> {
    match change {
        ResourceEvent::Added { object, .. }
        | ResourceEvent::Updated { new: object, .. }
        | ResourceEvent::Deleted(Deleted::Known(object))
        | ResourceEvent::Resynced(object) => Some(object),
        ResourceEvent::Deleted(Deleted::FinalStateUnknown { last_known, .. }) => {
            last_known.as_deref()
        }
    }
}
