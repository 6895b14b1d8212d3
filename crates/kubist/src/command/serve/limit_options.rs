//! Options that say how much is served at a time.

use std::error::Error;

use clap::Args;

use super::system_limits;

#[derive(Args, Debug)]
pub(super) struct LimitOptions {
    /// Connections at a time, or as many as there may be open files; more wait
    #[arg(
        long,
        value_name = "CONNECTIONS",
        default_value_t = kubist_apiserver::CONNECTIONS_MAX as u64,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    max_connections: u64,
    /// Requests that read and are answered at a time, beside watches; more get 429, except the
    /// system's, which may be as many again; 0 is no limit
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = kubist_apiserver::REQUESTS_MAX
    )]
    max_requests_inflight: usize,
    /// The same of requests that change something
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = kubist_apiserver::MUTATING_REQUESTS_MAX
    )]
    max_mutating_requests_inflight: usize,
}

impl LimitOptions {
    /// Connections at a time.
    pub(super) fn connections(&self) -> Result<usize, Box<dyn Error>> {
        let wanted = usize::try_from(self.max_connections).unwrap_or(usize::MAX);
        Ok(system_limits::connections(wanted)?)
    }

    /// Requests that read, at a time.
    pub(super) fn requests(&self) -> usize {
        self.max_requests_inflight
    }

    /// Requests that change something, at a time.
    pub(super) fn mutating_requests(&self) -> usize {
        self.max_mutating_requests_inflight
    }
}
