//! Filters: what applies to every request before and after its handler.
//!
//! Limits (requests in flight, priority levels, bodies that are still being sent, bytes that wait
//! for slow clients), the `Host` header, impersonation, warnings, and the log line, the metrics and
//! the observer of each request.

pub(crate) mod connection_info;
pub(crate) mod flow_control;
pub(crate) mod flow_dumps;
pub(crate) mod host;
pub(crate) mod impersonation;
pub(crate) mod impersonation_mode;
pub(crate) mod in_flight;
pub(crate) mod incoming_request;
pub(crate) mod observed_call;
pub(crate) mod pending_bodies;
pub(crate) mod request_observer;
pub(crate) mod request_record;
pub(crate) mod seat;
pub(crate) mod seat_reservation;
pub(crate) mod seats;
pub(crate) mod send_buffers;
pub(crate) mod warning;
