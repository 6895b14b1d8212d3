//! `AggregationConfig`: how a server reaches those that it aggregates.

use crate::certificates::Identity;
use crate::webhook::{ClusterResolver, ServiceResolver};
use std::sync::Arc;

/// How a server reaches those that it aggregates.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct AggregationConfig {
    /// The client certificate of forwarded requests. The other servers accept the identity in their
    /// headers only with it. Default: none.
    pub identity: Option<Identity>,
    /// Finds the addresses of Services. Default: as stored.
    pub resolver: Arc<dyn ServiceResolver>,
    /// Whether redirects of the other servers are refused. Default: yes, as upstream.
    pub rejects_redirects: bool,
}

impl Default for AggregationConfig {
    fn default() -> Self {
        Self {
            identity: None,
            resolver: Arc::new(ClusterResolver),
            rejects_redirects: true,
        }
    }
}
