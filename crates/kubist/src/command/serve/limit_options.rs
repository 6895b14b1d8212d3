//! Options of limits.

use super::{system_limits, values};
use clap::{ArgAction, Args};
use std::error::Error;

#[derive(Args, Debug)]
pub(super) struct LimitOptions {
    /// Maximum bytes of the stored data, as 300000, 1G or 1Gi, except with etcd: the server also
    /// holds it in memory. Writes beyond it get 507; 0 means no limit
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "2Gi",
        value_parser = values::bytes,
        allow_negative_numbers = true
    )]
    storage_quota_bytes: usize,
    /// Estimated bytes of the cache of decoded and encoded objects, as 300000, 1G or 1Gi. Lists of
    /// JSON whose objects fit into it, at eight times their stored size, take a third of the time;
    /// 4Gi is enough for 20000 Pods
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "512Mi",
        value_parser = values::bytes,
        allow_negative_numbers = true
    )]
    object_cache_bytes: usize,
    /// Maximum number of connections, at most as many as the open file limit allows; a new one
    /// replaces an idle unauthenticated one, or waits
    #[arg(
        long,
        value_name = "CONNECTIONS",
        default_value_t = kubist_apiserver::CONNECTIONS_MAX as u64,
        value_parser = values::positive,
        allow_negative_numbers = true
    )]
    max_connections: u64,
    /// Maximum number of read-only requests in flight, not counting watches; further ones get 429,
    /// except that system users may have as many again; 0 means no limit
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = kubist_apiserver::REQUESTS_MAX,
        value_parser = values::non_negative::<usize>,
        allow_negative_numbers = true
    )]
    max_requests_inflight: usize,
    /// The same for mutating requests
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = kubist_apiserver::MUTATING_REQUESTS_MAX,
        value_parser = values::non_negative::<usize>,
        allow_negative_numbers = true
    )]
    max_mutating_requests_inflight: usize,
    /// Whether requests are queued and handled by the stored flow schemas and priority levels,
    /// which share the seats of both limits
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = ArgAction::Set
    )]
    enable_priority_and_fairness: bool,
}

impl LimitOptions {
    /// Returns the limit of connections.
    pub(super) fn connections(&self) -> Result<usize, Box<dyn Error>> {
        let wanted = usize::try_from(self.max_connections).unwrap_or(usize::MAX);
        Ok(system_limits::connections(wanted)?)
    }

    /// Returns the limit of stored bytes.
    pub(super) fn storage_bytes(&self) -> Option<usize> {
        (self.storage_quota_bytes > 0).then_some(self.storage_quota_bytes)
    }

    /// Returns the size of the cache of objects.
    pub(super) fn object_cache_bytes(&self) -> usize {
        self.object_cache_bytes
    }

    /// Returns the limit of read-only requests.
    pub(super) fn requests(&self) -> usize {
        self.max_requests_inflight
    }

    /// Returns whether flow schemas and priority levels are obeyed.
    pub(super) fn priority_and_fairness(&self) -> bool {
        self.enable_priority_and_fairness
    }

    /// Returns the limit of mutating requests.
    pub(super) fn mutating_requests(&self) -> usize {
        self.max_mutating_requests_inflight
    }
}
