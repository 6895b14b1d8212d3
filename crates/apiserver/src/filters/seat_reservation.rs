//! `SeatReservation`: how one request comes to its place in flight.
//!
//! A request that has all of its body takes its place at once. One whose body is still to come
//! waits for it among those (`arriving.rs`), and takes its place when all of it is there: who
//! sends a head and no body holds nothing that others need. Where there is no room, it is refused
//! before its body comes, or after.

use crate::filters::in_flight::{InFlight, Seat};
use crate::filters::incoming_request::IncomingRequest;
use crate::filters::pending_bodies::PendingBody;
use crate::response::body;
use bytes::Bytes;
use http::{Method, Request};
use http_body::Body as HttpBody;
use kubist_apimachinery::Status;
use kubist_registry::User;
use parking_lot::Mutex;
use std::error::Error;

/// The way of one request to its place.
#[derive(Debug)]
pub(crate) struct SeatReservation<'a> {
    in_flight: &'a InFlight,
    user: &'a User,
    request: IncomingRequest<'a>,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
enum Progress {
    /// It takes a place once its body has come.
    AwaitingBody,
    /// It has what it needs: a place, or none if it lasts as long as its client likes.
    Reserved(Option<Seat>),
    Rejected,
}

/// As many requests are answered as may be.
#[derive(Debug)]
pub(crate) struct TooManyRequests;

/// Whether a request waits for its body. What reads does not: nobody looks at that.
pub(crate) fn awaits_body<B: HttpBody>(request: &Request<B>) -> bool {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    !reads && !request.body().is_end_stream()
}

impl<'a> SeatReservation<'a> {
    /// Of a request that takes a place, now if it does not wait for its body.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn new(
        in_flight: &'a InFlight,
        user: &'a User,
        request: IncomingRequest<'a>,
    ) -> Result<Self, TooManyRequests> {
        let progress = if !request.awaits_body {
            let seat = in_flight.admit(user, request.labels);
            Progress::Reserved(Some(seat.ok_or(TooManyRequests)?))
        } else if in_flight.has_room(user, request.labels) {
            Progress::AwaitingBody
        } else {
            return Err(TooManyRequests);
        };
        Ok(Self {
            in_flight,
            user,
            request,
            progress: Mutex::new(progress),
        })
    }

    /// Of a request that takes none.
    pub(crate) fn without_seat(
        in_flight: &'a InFlight,
        user: &'a User,
        request: IncomingRequest<'a>,
    ) -> Self {
        Self {
            in_flight,
            user,
            request,
            progress: Mutex::new(Progress::Reserved(None)),
        }
    }

    /// Reads the request's body of at most `max` bytes; it has its place afterwards.
    ///
    /// # Errors
    /// What [`body::read`] says, and 429 if there is no room.
    ///
    /// # Cancel safety
    /// What was read is lost.
    pub(crate) async fn body<B>(&self, body: &mut B, max: usize) -> Result<Bytes, Status>
    where
        B: HttpBody<Data = Bytes> + Unpin,
        B::Error: Error + 'static,
    {
        if !self.request.awaits_body {
            return body::read(body, max, |_| {}).await;
        }
        let pending = self.request.connection.bodies.begin();
        let coming = async {
            let bytes = body::read(body, max, |bytes| pending.received(bytes)).await?;
            // Who takes no answers makes only its own requests wait.
            self.request.held.room().await;
            Ok(bytes)
        };
        let bytes = tokio::select! {
            biased;
            bytes = coming => bytes?,
            () = pending.rejected() => return Err(self.reject()),
        };
        self.take(pending)?;
        Ok(bytes)
    }

    /// Whether there was no room.
    pub(crate) fn is_rejected(&self) -> bool {
        matches!(*self.progress.lock(), Progress::Rejected)
    }

    /// The place, for who keeps it until the end of the answer.
    pub(crate) fn take_seat(&self) -> Option<Seat> {
        match &mut *self.progress.lock() {
            Progress::Reserved(seat) => seat.take(),
            Progress::AwaitingBody | Progress::Rejected => None,
        }
    }

    /// The body has come.
    fn take(&self, pending: PendingBody) -> Result<(), Status> {
        let mut progress = self.progress.lock();
        if matches!(*progress, Progress::AwaitingBody) {
            let Some(seat) = self.in_flight.admit(self.user, self.request.labels) else {
                drop(progress);
                return Err(self.reject());
            };
            *progress = Progress::Reserved(Some(seat));
        }
        // From here on what has come counts as the place's.
        drop(pending);
        Ok(())
    }

    fn reject(&self) -> Status {
        *self.progress.lock() = Progress::Rejected;
        Status::too_many_requests("Too many requests, please try again later.", 1)
    }
}
