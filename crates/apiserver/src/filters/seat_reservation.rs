//! `SeatReservation`: how a request gets its seat in flight.
//!
//! A request whose body is complete takes its seat at once. One whose body is still being received
//! waits among the pending bodies (`pending_bodies.rs`) and takes its seat when the body is
//! complete, so a client that sends a head without a body occupies nothing that others need.
//! Without a free seat the request is rejected, before its body is received or after.

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

/// The seat reservation of one request.
#[derive(Debug)]
pub(crate) struct SeatReservation<'a> {
    in_flight: &'a InFlight,
    user: &'a User,
    request: IncomingRequest<'a>,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
enum Progress {
    /// Takes a seat once its body is complete.
    AwaitingBody,
    /// Has what it needs: a seat, or none if it is long-running.
    Reserved(Option<Seat>),
    Rejected,
}

/// All seats are taken.
#[derive(Debug)]
pub(crate) struct TooManyRequests;

/// Reports whether a request must wait for its body. Bodies of read-only requests are ignored.
pub(crate) fn awaits_body<B: HttpBody>(request: &Request<B>) -> bool {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    !reads && !request.body().is_end_stream()
}

impl<'a> SeatReservation<'a> {
    /// Reserves a seat for a request, and takes it at once unless the body is pending.
    ///
    /// # Errors
    /// All seats are taken.
    pub(crate) fn new(
        in_flight: &'a InFlight,
        user: &'a User,
        request: IncomingRequest<'a>,
    ) -> Result<Self, TooManyRequests> {
        let progress = if !request.awaits_body {
            let seat = in_flight.admit(user, request.labels);
            Progress::Reserved(Some(seat.ok_or(TooManyRequests)?))
        } else if in_flight.has_free_seat(user, request.labels) {
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

    /// A request that needs no seat.
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

    /// Reads the body of at most `max` bytes; the request has its seat afterwards.
    ///
    /// # Errors
    /// The errors of [`body::read`], and 429 if all seats are taken.
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
            // A client that does not read responses delays only its own requests.
            self.request.held.reserve().await;
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

    /// Reports whether the request was rejected for lack of a seat.
    pub(crate) fn is_rejected(&self) -> bool {
        matches!(*self.progress.lock(), Progress::Rejected)
    }

    /// Takes the seat, to be held until the end of the response.
    pub(crate) fn take_seat(&self) -> Option<Seat> {
        match &mut *self.progress.lock() {
            Progress::Reserved(seat) => seat.take(),
            Progress::AwaitingBody | Progress::Rejected => None,
        }
    }

    /// The body is complete: takes the seat.
    fn take(&self, pending: PendingBody) -> Result<(), Status> {
        let mut progress = self.progress.lock();
        if matches!(*progress, Progress::AwaitingBody) {
            let Some(seat) = self.in_flight.admit(self.user, self.request.labels) else {
                drop(progress);
                return Err(self.reject());
            };
            *progress = Progress::Reserved(Some(seat));
        }
        // From here on the body counts towards the seat.
        drop(pending);
        Ok(())
    }

    fn reject(&self) -> Status {
        *self.progress.lock() = Progress::Rejected;
        Status::too_many_requests("Too many requests, please try again later.", 1)
    }
}
