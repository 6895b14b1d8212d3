//! `Seat`: what a request holds while it is handled, whoever gives it.

use crate::filters::flow_control::FlowSeat;
use crate::filters::in_flight::PoolSeat;
use kubist_flow_control::Class;
use std::sync::Arc;

/// The seat of a request, or its seats. Dropping it frees them.
#[derive(Debug)]
pub(crate) enum Seat {
    /// One of the seats in flight.
    InFlight(PoolSeat),
    /// Seats of a priority level.
    Flow(FlowSeat),
}

impl Seat {
    /// How the request was classified, if there are priority levels.
    pub(crate) fn class(&self) -> Option<&Arc<Class>> {
        match self {
            Self::InFlight(_) => None,
            Self::Flow(seat) => Some(seat.class()),
        }
    }

    /// The response is ready; from now on its client determines how long sending takes.
    pub(crate) fn sending(&mut self) {
        match self {
            Self::InFlight(seat) => seat.sending(),
            Self::Flow(seat) => seat.sending(),
        }
    }

    /// The client accepted data.
    pub(crate) fn took(&self) {
        match self {
            Self::InFlight(seat) => seat.took(),
            Self::Flow(seat) => seat.took(),
        }
    }
}
