//! `SeatReservation`: how a request gets its seat in flight.
//!
//! A request whose body is complete takes its seat at once. One whose body is still being received
//! waits among the pending bodies (`pending_bodies.rs`) and takes its seat when the body is
//! complete, so a client that sends a head without a body occupies nothing that others need.
//! Without a free seat the request is rejected, before its body is received or after.

use crate::filters::incoming_request::IncomingRequest;
use crate::filters::pending_bodies::PendingBody;
use crate::filters::seat::Seat;
use crate::filters::seats::{Seats, TooManyRequests};
use crate::response::body;
use bytes::Bytes;
use http::{Method, Request};
use http_body::Body as HttpBody;
use kubist_apimachinery::Status;
use kubist_authorization::Attributes;
use kubist_flow_control::Class;
use parking_lot::Mutex;
use std::error::Error;
use std::sync::Arc;

/// The seat reservation of one request.
#[derive(Debug)]
pub(crate) struct SeatReservation<'a> {
    seats: &'a Seats,
    attributes: Attributes<'a>,
    request: IncomingRequest<'a>,
    progress: Mutex<Progress>,
    /// How the request was classified, once it was.
    class: Mutex<Option<Arc<Class>>>,
}

#[derive(Debug)]
enum Progress {
    /// Takes a seat once its body is complete.
    AwaitingBody,
    /// Has what it needs: a seat, or none if it is long-running.
    Reserved(Option<Seat>),
    Rejected,
}

/// Reports whether a request must wait for its body. Bodies of read-only requests are ignored.
pub(crate) fn awaits_body<B: HttpBody>(request: &Request<B>) -> bool {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    !reads && !request.body().is_end_stream()
}

impl<'a> SeatReservation<'a> {
    /// Reserves a seat for a request, and takes it now unless the body is pending.
    ///
    /// # Errors
    /// All seats are taken.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing.
    pub(crate) async fn new(
        seats: &'a Seats,
        attributes: Attributes<'a>,
        request: IncomingRequest<'a>,
    ) -> Result<Self, TooManyRequests> {
        let mut class = None;
        let progress = if !request.awaits_body {
            let seat = seats.admit(attributes, request.labels).await?;
            class = seat.class().cloned();
            Progress::Reserved(Some(seat))
        } else if seats.may_admit(attributes, request.labels) {
            Progress::AwaitingBody
        } else {
            return Err(TooManyRequests::default());
        };
        Ok(Self {
            seats,
            attributes,
            request,
            progress: Mutex::new(progress),
            class: Mutex::new(class),
        })
    }

    /// A request that needs no seat.
    pub(crate) fn without_seat(
        seats: &'a Seats,
        attributes: Attributes<'a>,
        request: IncomingRequest<'a>,
    ) -> Self {
        Self {
            seats,
            attributes,
            request,
            progress: Mutex::new(Progress::Reserved(None)),
            class: Mutex::default(),
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
        self.take(pending).await?;
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

    /// How the request was classified, if there are priority levels and it came that far.
    pub(crate) fn class(&self) -> Option<Arc<Class>> {
        self.class.lock().clone()
    }

    /// The body is complete: takes the seat. Until then the body counts as pending.
    async fn take(&self, pending: PendingBody) -> Result<(), Status> {
        let awaits = matches!(*self.progress.lock(), Progress::AwaitingBody);
        if awaits {
            let admitted = tokio::select! {
                biased;
                admitted = self.seats.admit(self.attributes, self.request.labels) => admitted,
                () = pending.rejected() => Err(TooManyRequests::default()),
            };
            match admitted {
                Ok(seat) => {
                    *self.class.lock() = seat.class().cloned();
                    *self.progress.lock() = Progress::Reserved(Some(seat));
                }
                Err(TooManyRequests { class }) => {
                    *self.class.lock() = class;
                    return Err(self.reject());
                }
            }
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
