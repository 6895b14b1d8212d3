//! `ServerContext`: what the handlers of a server share.

use crate::aggregation::Aggregation;
use crate::authentication::anonymous::Anonymous;
use crate::authentication::authenticator::Authenticator;
use crate::authorization::authorizer::Authorization;
use crate::metrics::Metrics;
use crate::proxy::Proxies;
use crate::random::Chance;
use crate::shutdown::Shutdown;
use kubist_registry::{Registry, ServedGroup};
use std::sync::Arc;
use std::time::Duration;

/// The registry, authentication, authorization, limits and metrics of a server.
#[derive(Debug)]
pub(crate) struct ServerContext {
    pub(crate) registry: Registry,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorization: Authorization,
    pub(crate) anonymous: Anonymous,
    pub(crate) body_bytes_max: usize,
    pub(crate) watch_timeout_min: Duration,
    /// Ends watches.
    pub(crate) shutdown: Shutdown,
    pub(crate) metrics: Arc<Metrics>,
    /// Audit ids, token ids, and the lengths of watches.
    pub(crate) chance: Arc<Chance>,
    /// Connections to kubelets, Pods and Services.
    pub(crate) proxies: Proxies,
    /// Group versions of other servers.
    pub(crate) aggregation: Aggregation,
}

impl ServerContext {
    /// Reports whether a group is served because of custom resource definitions.
    pub(crate) fn is_custom(&self, group: &ServedGroup) -> bool {
        let version = group.versions.first();
        let first = version.and_then(|version| {
            let resource = version.resources.first()?.facts;
            self.registry
                .storage(resource.group, resource.version, resource.plural)
        });
        first.is_some_and(|storage| storage.kind().is_custom())
    }
}
