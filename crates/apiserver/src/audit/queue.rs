//! `Queue`: events on their way to the backends.

use super::backend::{BUFFER_EVENTS, Backend, Mode};
use super::counters::{AuditCounters, BUFFERED};
use super::item::{Held, Receipt, Rendered};
use super::object::Object;
use super::worker::Outlet;
use kubist_audit::{Event, Level};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of bodies that wait at most, in the unit below; a longer body counts as all of them.
pub(super) const ROOM_UNITS_MAX: usize = 64 << 10;
/// The unit of room, in bytes.
const ROOM_UNIT: usize = 1 << 10;

/// An event, and the bodies that become a part of it.
pub(super) struct Pending {
    pub(super) event: Event,
    pub(super) request: Option<Arc<Object>>,
    pub(super) response: Option<Arc<Object>>,
    pub(super) omit_managed_fields: bool,
    /// The event's place; none for the end of what has gone on for long.
    pub(super) place: Option<OwnedSemaphorePermit>,
    /// Who waits for the event to be written.
    pub(super) receipt: Option<Receipt>,
}

/// A bounded queue, and the thread that empties it.
pub(crate) struct Queue {
    places: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    /// Whether requests wait for some backend.
    waits: bool,
    /// Whether each request waits for its first event.
    strict: bool,
    counters: Arc<AuditCounters>,
    /// Always there until the queue is dropped.
    sender: Option<Sender<Pending>>,
    thread: Option<JoinHandle<()>>,
}

impl Queue {
    pub(super) fn start(backends: Vec<Backend>, counters: &Arc<AuditCounters>) -> io::Result<Self> {
        let waits = backends.iter().any(|it| it.mode.is_blocking());
        let strict = backends.iter().any(|it| it.mode == Mode::BlockingStrict);
        let outlets: io::Result<Vec<Outlet>> = backends
            .into_iter()
            .map(|it| Outlet::start(it, counters))
            .collect();
        let outlets = outlets?;
        // Its bound are the places: only ends of long-running requests come without one.
        let (sender, receiver) = channel();
        let thread = thread::Builder::new().name("audit".to_owned());
        let thread = thread.spawn(move || pass_on(&receiver, outlets))?;
        Ok(Self {
            places: Arc::new(Semaphore::new(BUFFER_EVENTS)),
            bodies: Arc::new(Semaphore::new(ROOM_UNITS_MAX)),
            waits,
            strict,
            counters: Arc::clone(counters),
            sender: Some(sender),
            thread: Some(thread),
        })
    }

    /// Reports whether each request waits until its first event is written.
    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    /// Takes the places of this many events. Waits for them if requests wait for some backend;
    /// otherwise the events are lost if there are none now.
    pub(super) async fn reserve(&self, events: u32) -> Option<OwnedSemaphorePermit> {
        let places = Arc::clone(&self.places);
        if self.waits {
            return places.acquire_many_owned(events).await.ok();
        }
        let taken = places.try_acquire_many_owned(events);
        if taken.is_err() {
            self.counters
                .lost(BUFFERED, usize::try_from(events).unwrap_or(usize::MAX));
        }
        taken.ok()
    }

    /// Takes room for a body, and waits for it if requests wait for some backend. Who waits must
    /// hold no room, so that nobody waits for each other.
    pub(super) async fn reserve_body(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        if !self.waits {
            return self.try_reserve_body(bytes);
        }
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
            && let Err(lost) = sender.send(pending)
        {
            tracing::error!("the audit log has ended: an event is lost");
            lost.0.receipt.inspect(Receipt::fail);
            self.counters.lost(BUFFERED, 1);
        }
    }
}

/// Returns the units of room that a text takes.
pub(super) fn units(bytes: usize) -> u32 {
    let units = bytes.div_ceil(ROOM_UNIT).clamp(1, ROOM_UNITS_MAX);
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

fn pass_on(receiver: &Receiver<Pending>, mut outlets: Vec<Outlet>) {
    while let Ok(pending) = receiver.recv() {
        let (event, held, receipt) = rendered(pending);
        let receipt = receipt.map(Arc::new);
        for outlet in &outlets {
            outlet.offer(&event, &held, receipt.as_ref());
        }
    }
    // All at the same time; dropping each waits for it.
    outlets.iter_mut().for_each(Outlet::close);
}

fn rendered(pending: Pending) -> (Rendered, Held, Option<Receipt>) {
    let Pending {
        mut event,
        request,
        response,
        omit_managed_fields,
        place,
        receipt,
    } = pending;
    let json = |it: &Arc<Object>| it.json(omit_managed_fields);
    if let (Some(request), Some(about)) = (&request, &mut event.object_ref) {
        request.complete(about);
    }
    let keeps_request = event.level >= Level::Request;
    event.request_object = request.as_ref().filter(|_| keeps_request).and_then(json);
    event.response_object = response.as_ref().and_then(json);
    let room = |it: Option<Arc<Object>>| it.map(|it| Arc::clone(&it.room));
    let held = Held {
        _place: place.map(Arc::new),
        _bodies: [room(request), room(response)],
    };
    (Rendered::new(event), held, receipt)
}
