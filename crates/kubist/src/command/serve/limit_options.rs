//! Options that say how much is served at a time.

use std::error::Error;

use clap::Args;

use super::{system_limits, values};

#[derive(Args, Debug)]
pub(super) struct LimitOptions {
    /// Bytes of all that is stored, as 300000, 1G or 1Gi, except in etcd: the server holds it in
    /// memory too. Writes that need more are answered with 507; 0 is no limit
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "2Gi",
        value_parser = values::bytes,
        allow_negative_numbers = true
    )]
    storage_quota_bytes: usize,
    /// Connections at a time, or as many as there may be open files; for one more, an idle one goes
    /// of a client that did not say who it is, or it waits
    #[arg(
        long,
        value_name = "CONNECTIONS",
        default_value_t = kubist_apiserver::CONNECTIONS_MAX as u64,
        value_parser = values::positive,
        allow_negative_numbers = true
    )]
    max_connections: u64,
    /// Requests that read and are answered at a time, beside watches; more get 429, except the
    /// system's, which may be as many again; 0 is no limit
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = kubist_apiserver::REQUESTS_MAX,
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    max_requests_inflight: usize,
    /// The same of requests that change something
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = kubist_apiserver::MUTATING_REQUESTS_MAX,
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    max_mutating_requests_inflight: usize,
}

impl LimitOptions {
    /// Connections at a time.
    pub(super) fn connections(&self) -> Result<usize, Box<dyn Error>> {
        let wanted = usize::try_from(self.max_connections).unwrap_or(usize::MAX);
        Ok(system_limits::connections(wanted)?)
    }

    /// Bytes of all that is stored.
    pub(super) fn storage_bytes(&self) -> Option<usize> {
        (self.storage_quota_bytes > 0).then_some(self.storage_quota_bytes)
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
