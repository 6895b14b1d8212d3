//! The objects that exist in every cluster, as upstream's servers create them, and the allocation
//! of service addresses and ports.
//!
//! `bootstrap` creates missing objects; `system_objects` maintains them while a server runs.

mod bootstrap;
mod default_flows;
mod default_roles;
mod server_endpoints;
mod system_objects;

pub use default_roles::node_rules;

use crate::built_in::BuiltIn;
use crate::service_allocation::{Ranges, ServiceAllocation};
use kubist_api::core::v1::Endpoints;
use kubist_api::find_kind;
use kubist_apimachinery::{GroupResource, Resource, Status};
use kubist_registry::{
    Announcement, BoxFuture, ClusterObjects, Hooks, RawStorage, RegistryParts, Stores,
};
use std::sync::Arc;

/// The objects that exist in every cluster, for one set of stores.
#[derive(Debug)]
pub(crate) struct Cluster {
    services: Option<ServiceAllocation>,
    /// The storage in which the servers of one store announce themselves.
    leases: Option<RawStorage>,
    server_port: u16,
    default_roles: bool,
    default_flows: bool,
}

impl Cluster {
    pub(crate) fn new(ranges: Ranges, of: &BuiltIn, parts: &RegistryParts<'_>) -> Self {
        let resource = GroupResource::new("", server_endpoints::LEASES);
        let kind = find_kind(Endpoints::GROUP, Endpoints::VERSION, Endpoints::KIND);
        Self {
            services: ServiceAllocation::new(ranges, parts),
            leases: kind.map(|kind| parts.raw(&resource, false, kind)),
            server_port: of.server_port,
            default_roles: of.default_roles,
            default_flows: of.default_flows,
        }
    }
}

impl ClusterObjects for Cluster {
    fn hooks(&self, group: &str, plural: &str) -> Option<Arc<dyn Hooks>> {
        if (group, plural) != ("", "services") {
            return None;
        }
        let services = self.services.clone()?;
        Some(Arc::new(services))
    }

    /// Repairs the service allocations, now and periodically until the registry is dropped, and
    /// then creates missing objects.
    fn start<'a>(&'a self, stores: &'a Arc<Stores>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            if let Some(services) = &self.services {
                services.start().await?;
            }
            bootstrap::run(stores, self).await
        })
    }

    fn run<'a>(
        &'a self,
        stores: &'a Arc<Stores>,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, ()> {
        Box::pin(system_objects::run(stores, self, announcement))
    }

    fn withdraw<'a>(
        &'a self,
        stores: &'a Arc<Stores>,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(server_endpoints::withdraw(stores, self, announcement))
    }
}
