//! `Queue`: events on their way to the sink.

use crate::audit::AuditSink;
use crate::audit::object::Object;
use kubist_audit::Event;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Events that wait at most, as upstream's buffer.
const EVENTS_MAX: usize = 10_000;
/// Events that are written at once, as upstream's batches.
const BATCH_MAX: usize = 400;
/// Bytes of bodies that wait at most, in the unit below; a longer body counts as all of them.
const BODY_UNITS_MAX: usize = 64 << 10;
/// The unit of bodies, in bytes.
const BODY_UNIT: usize = 1 << 10;

/// An event, and the bodies that become a part of it.
pub(super) struct Pending {
    pub(super) event: Event,
    pub(super) request: Option<Arc<Object>>,
    pub(super) response: Option<Arc<Object>>,
    pub(super) omit_managed_fields: bool,
    /// The event's place; none for the end of what has gone on for long.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// A bounded queue, and the thread that empties it.
pub(crate) struct Queue {
    places: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    /// Always there until the queue is dropped.
    sender: Option<Sender<Pending>>,
    thread: Option<JoinHandle<()>>,
}

impl Queue {
    pub(super) fn start(sink: Box<dyn AuditSink>) -> io::Result<Self> {
        // Its bound are the places: only ends of long-running requests come without one.
        let (sender, receiver) = channel();
        let thread = thread::Builder::new().name("audit".to_owned());
        let thread = thread.spawn(move || write_all(&receiver, sink))?;
        Ok(Self {
            places: Arc::new(Semaphore::new(EVENTS_MAX)),
            bodies: Arc::new(Semaphore::new(BODY_UNITS_MAX)),
            sender: Some(sender),
            thread: Some(thread),
        })
    }

    /// Waits for the places of this many events.
    pub(super) async fn reserve(&self, events: u32) -> Option<OwnedSemaphorePermit> {
        let places = Arc::clone(&self.places);
        places.acquire_many_owned(events).await.ok()
    }

    /// Waits until there is room for a body. Who waits must hold no room, so that nobody waits for
    /// each other.
    pub(super) async fn reserve_body(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bodies = Arc::clone(&self.bodies);
        bodies.acquire_many_owned(units(bytes)).await.ok()
    }

    /// Takes room for a body if there is some now.
    pub(super) fn try_reserve_body(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bodies = Arc::clone(&self.bodies);
        bodies.try_acquire_many_owned(units(bytes)).ok()
    }

    /// Passes an event on.
    pub(super) fn push(&self, pending: Pending) {
        if let Some(sender) = &self.sender
            && sender.send(pending).is_err()
        {
            tracing::error!("the audit log has ended: an event is lost");
        }
    }
}

fn units(bytes: usize) -> u32 {
    let units = bytes.div_ceil(BODY_UNIT).clamp(1, BODY_UNITS_MAX);
    u32::try_from(units).unwrap_or(u32::MAX)
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn write_all(receiver: &Receiver<Pending>, mut sink: Box<dyn AuditSink>) {
    while let Ok(first) = receiver.recv() {
        let (mut events, mut places) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(pending) = next {
            let (event, place) = rendered(pending);
            events.push(event);
            places.push(place);
            next = if events.len() < BATCH_MAX {
                receiver.try_recv().ok()
            } else {
                None
            };
        }
        if let Err(error) = sink.write(&events) {
            tracing::error!(%error, events = events.len(), "audit events could not be written");
        }
        drop(places);
    }
}

fn rendered(pending: Pending) -> (String, Option<OwnedSemaphorePermit>) {
    let Pending {
        mut event,
        request,
        response,
        omit_managed_fields,
        place,
    } = pending;
    let json = |it: &Arc<Object>| it.json(omit_managed_fields);
    if let (Some(request), Some(about)) = (&request, &mut event.object_ref) {
        request.complete(about);
    }
    let keeps_request = event.level >= kubist_audit::Level::Request;
    event.request_object = request.as_ref().filter(|_| keeps_request).and_then(json);
    event.response_object = response.as_ref().and_then(json);
    // It consists of texts and numbers, so it can always be written.
    let text = serde_json::to_string(&event).unwrap_or_default();
    (text, place)
}
