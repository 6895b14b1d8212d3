//! `Rendered` and `Item`: an event as text, and what is known of it while backends have it.

use super::backend::LineFormat;
use super::object::Room;
use kubist_audit::{Event, Level};
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// The annotation of events that lack a part of what their level has, as upstream.
pub(super) const TRUNCATED: &str = "audit.k8s.io/truncated";

/// An event in the forms that backends want, each made once.
pub(super) struct Rendered {
    /// Without bodies once the whole text is there.
    event: Event,
    whole: Arc<str>,
    short: OnceCell<Option<Arc<str>>>,
    legacy: OnceCell<Arc<str>>,
}

impl Rendered {
    pub(super) fn new(mut event: Event) -> Self {
        // It consists of texts and numbers, so it can always be written.
        let whole = serde_json::to_string(&event).unwrap_or_default().into();
        event.request_object = None;
        event.response_object = None;
        Self {
            event,
            whole,
            short: OnceCell::new(),
            legacy: OnceCell::new(),
        }
    }

    /// The event as JSON.
    pub(super) fn whole(&self) -> &Arc<str> {
        &self.whole
    }

    /// The event as JSON without its bodies; none if its level has none.
    pub(super) fn short(&self) -> Option<&Arc<str>> {
        let make = || {
            if self.event.level < Level::Request {
                return None;
            }
            let mut event = self.event.clone();
            event.annotations.insert(TRUNCATED.into(), "true".into());
            Some(serde_json::to_string(&event).unwrap_or_default().into())
        };
        self.short.get_or_init(make).as_ref()
    }

    /// A JSON form of the event as a backend writes it.
    pub(super) fn line(&self, format: LineFormat, json: &Arc<str>) -> Arc<str> {
        match format {
            LineFormat::Json => Arc::clone(json),
            LineFormat::Legacy => {
                let make = || self.event.legacy_line().into();
                Arc::clone(self.legacy.get_or_init(make))
            }
        }
    }
}

/// An event on its way through one backend.
pub(super) struct Item {
    pub(super) line: Arc<str>,
    /// Its place and the room of its bodies, if requests wait for this backend.
    pub(super) _held: Option<Held>,
    /// Room in the buffer of a backend that nobody waits for.
    pub(super) _room: Option<OwnedSemaphorePermit>,
    /// Who waits for the event to be written.
    pub(super) receipt: Option<Arc<Receipt>>,
}

/// What an event holds until all backends that requests wait for have written it.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) _place: Option<Arc<OwnedSemaphorePermit>>,
    pub(super) _bodies: [Option<Room>; 2],
}

/// Tells a request whether its event was written, once the last backend that matters has let go of
/// it.
pub(super) struct Receipt {
    sender: Option<oneshot::Sender<bool>>,
    failed: AtomicBool,
}

impl Receipt {
    pub(super) fn new() -> (Self, oneshot::Receiver<bool>) {
        let (sender, receiver) = oneshot::channel();
        let receipt = Self {
            sender: Some(sender),
            failed: AtomicBool::new(false),
        };
        (receipt, receiver)
    }

    /// The event was not written.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        let written = !*self.failed.get_mut();
        if let Some(sender) = self.sender.take() {
            // The request may be gone.
            let _sent = sender.send(written);
        }
    }
}
