//! `Queue`: the waiting requests of some flows, and how much they have had already.

use crate::request::Ticket;
use std::collections::VecDeque;
use std::time::Duration;

/// A waiting request.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) ticket: Ticket,
    pub(crate) seats: u32,
}

/// One queue of a level.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) waiting: VecDeque<Waiting>,
    pub(crate) waiting_seats: u32,
    pub(crate) executing: u32,
    pub(crate) executing_seats: u32,
    /// The virtual time at which its next request begins: it grows with the work that its requests
    /// have had.
    pub(crate) next_begins: f64,
}

/// What a request is taken to last until it has ended, as upstream.
const ESTIMATE: Duration = Duration::from_millis(3);

/// Returns the work of a request that lasts as long as is estimated, in seat seconds.
pub(crate) fn estimated_work(seats: u32) -> f64 {
    f64::from(seats) * ESTIMATE.as_secs_f64()
}

impl Queue {
    /// Reports whether it has requests.
    pub(crate) fn is_active(&self) -> bool {
        self.executing > 0 || !self.waiting.is_empty()
    }

    /// Returns the seats that its requests have or wait for.
    pub(crate) fn seats(&self) -> u32 {
        self.waiting_seats + self.executing_seats
    }

    /// Returns the virtual time at which its next request ends.
    pub(crate) fn next_ends(&self) -> Option<f64> {
        let first = self.waiting.front()?;
        Some(self.next_begins + estimated_work(first.seats))
    }

    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.waiting_seats += waiting.seats;
        self.waiting.push_back(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.waiting_seats -= first.seats;
        Some(first)
    }

    /// Removes a request that waits no longer.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Waiting> {
        let place = self.waiting.iter().position(|it| it.ticket == ticket)?;
        let removed = self.waiting.remove(place)?;
        self.waiting_seats -= removed.seats;
        Some(removed)
    }

    /// A request of it begins.
    pub(crate) fn begin(&mut self, seats: u32) {
        self.executing += 1;
        self.executing_seats += seats;
        self.next_begins += estimated_work(seats);
    }

    /// A request of it has ended: it pays for what it has had instead of for the estimate.
    pub(crate) fn end(&mut self, seats: u32, took: Duration) {
        self.executing -= 1;
        self.executing_seats -= seats;
        self.next_begins += f64::from(seats) * took.as_secs_f64() - estimated_work(seats);
    }
}
