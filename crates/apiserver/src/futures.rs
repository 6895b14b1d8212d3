//! Futures and streams that are not specific to an API server.

pub(crate) mod async_stream;
pub(crate) mod cpu_bound;
pub(crate) mod poll_on_wake;
