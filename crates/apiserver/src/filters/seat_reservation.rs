//! `Admission`: how one request comes to its place in flight.
//!
//! A request that has all of its body takes its place at once. One whose body is still to come
//! waits for it among those (`arriving.rs`), and takes its place when all of it is there: who
//! sends a head and no body holds nothing that others need. Where there is no room, it is refused
//! before its body comes, or after.

use crate::filters::in_flight::{InFlight, Place};
use crate::filters::incoming_request::IncomingRequest;
use crate::filters::pending_bodies::Arrival;
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
pub(crate) struct Admission<'a> {
    in_flight: &'a InFlight,
    user: &'a User,
    asked: IncomingRequest<'a>,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
enum Progress {
    /// It takes a place once its body has come.
    Arriving,
    /// It has what it needs: a place, or none if it lasts as long as its client likes.
    Admitted(Option<Place>),
    Refused,
}

/// As many requests are answered as may be.
#[derive(Debug)]
pub(crate) struct NoRoom;

/// Whether a request waits for its body. What reads does not: nobody looks at that.
pub(crate) fn awaits_body<B: HttpBody>(request: &Request<B>) -> bool {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    !reads && !request.body().is_end_stream()
}

impl<'a> Admission<'a> {
    /// Of a request that takes a place, now if it does not wait for its body.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn new(
        in_flight: &'a InFlight,
        user: &'a User,
        asked: IncomingRequest<'a>,
    ) -> Result<Self, NoRoom> {
        let progress = if !asked.awaits_body {
            let place = in_flight.admit(user, asked.labels);
            Progress::Admitted(Some(place.ok_or(NoRoom)?))
        } else if in_flight.has_room(user, asked.labels) {
            Progress::Arriving
        } else {
            return Err(NoRoom);
        };
        Ok(Self {
            in_flight,
            user,
            asked,
            progress: Mutex::new(progress),
        })
    }

    /// Of a request that takes none.
    pub(crate) fn without_place(
        in_flight: &'a InFlight,
        user: &'a User,
        asked: IncomingRequest<'a>,
    ) -> Self {
        Self {
            in_flight,
            user,
            asked,
            progress: Mutex::new(Progress::Admitted(None)),
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
        if !self.asked.awaits_body {
            return body::read(body, max, |_| {}).await;
        }
        let arrival = self.asked.caller.gate.enter();
        let coming = async {
            let bytes = body::read(body, max, |bytes| arrival.came(bytes)).await?;
            // Who takes no answers makes only its own requests wait.
            self.asked.held.room().await;
            Ok(bytes)
        };
        let bytes = tokio::select! {
            biased;
            bytes = coming => bytes?,
            () = arrival.sent_away() => return Err(self.refuse()),
        };
        self.take(arrival)?;
        Ok(bytes)
    }

    /// Whether there was no room.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(*self.progress.lock(), Progress::Refused)
    }

    /// The place, for who keeps it until the end of the answer.
    pub(crate) fn take_place(&self) -> Option<Place> {
        match &mut *self.progress.lock() {
            Progress::Admitted(place) => place.take(),
            Progress::Arriving | Progress::Refused => None,
        }
    }

    /// The body has come.
    fn take(&self, arrival: Arrival) -> Result<(), Status> {
        let mut progress = self.progress.lock();
        if matches!(*progress, Progress::Arriving) {
            let Some(place) = self.in_flight.admit(self.user, self.asked.labels) else {
                drop(progress);
                return Err(self.refuse());
            };
            *progress = Progress::Admitted(Some(place));
        }
        // From here on what has come counts as the place's.
        drop(arrival);
        Ok(())
    }

    fn refuse(&self) -> Status {
        *self.progress.lock() = Progress::Refused;
        Status::too_many_requests("Too many requests, please try again later.", 1)
    }
}
