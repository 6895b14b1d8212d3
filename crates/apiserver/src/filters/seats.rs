//! `Seats`: who gives requests their seats: two pools of seats in flight, or priority levels.

use crate::config::Config;
use crate::filters::flow_control::{FlowControl, Refused};
use crate::filters::in_flight::InFlight;
use crate::filters::seat::Seat;
use crate::metrics::RequestLabels;
use kubist_authorization::Attributes;
use kubist_flow_control::{Class, Work};
use std::sync::Arc;

/// The seats of a server.
#[derive(Debug)]
pub(crate) enum Seats {
    /// Read-only and mutating requests have a pool each.
    InFlight(InFlight),
    /// API priority and fairness.
    Flow(Arc<FlowControl>),
}

/// All seats are taken.
#[derive(Debug, Default)]
pub(crate) struct TooManyRequests {
    /// How the request was classified, if it was.
    pub(crate) class: Option<Arc<Class>>,
}

impl Seats {
    pub(crate) fn new(config: &Config) -> Self {
        let seats = config
            .requests_max
            .saturating_add(config.mutating_requests_max);
        // Without any limit there is nothing to share.
        if config.priority_and_fairness && seats > 0 {
            return Self::Flow(FlowControl::new(seats));
        }
        Self::InFlight(InFlight::new(config))
    }

    /// Returns the flow control, if there are priority levels.
    pub(crate) fn flow(&self) -> Option<&Arc<FlowControl>> {
        match self {
            Self::InFlight(_) => None,
            Self::Flow(flow) => Some(flow),
        }
    }

    /// Takes the seats of a request; with priority levels it may wait for them.
    ///
    /// # Errors
    /// All seats are taken.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing.
    pub(crate) async fn admit(
        &self,
        request: Attributes<'_>,
        labels: &RequestLabels,
    ) -> Result<Seat, TooManyRequests> {
        match self {
            Self::InFlight(pools) => {
                let seat = pools.admit(request.user, labels);
                seat.map(Seat::InFlight)
                    .ok_or_else(TooManyRequests::default)
            }
            Self::Flow(flow) => match flow.admit(request, Work::ONE).await {
                Ok(seat) => Ok(Seat::Flow(seat)),
                Err(Refused { class }) => Err(TooManyRequests { class: Some(class) }),
            },
        }
    }

    /// Reports whether a client should send its body. With priority levels, its request waits once
    /// it has.
    pub(crate) fn may_admit(&self, request: Attributes<'_>, labels: &RequestLabels) -> bool {
        match self {
            Self::InFlight(pools) => pools.has_free_seat(request.user, labels),
            Self::Flow(_) => true,
        }
    }
}
