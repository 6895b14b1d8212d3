//! The objects that every cluster has, as upstream's servers make them, and what is allocated to
//! services.
//!
//! `bootstrap` makes what is missing; `system_objects` keeps it there while a server runs.

mod bootstrap;
mod system_objects;

use crate::service_allocation::{Ranges, ServiceAllocation};
use kubist_api::core::v1::Endpoints;
use kubist_api::find_kind;
use kubist_apimachinery::{GroupResource, Resource, Status};
use kubist_registry::{
    Announcement, BoxFuture, ClusterObjects, Hooks, RawStorage, RegistryParts, Stores,
};
use std::sync::Arc;

/// What every cluster has, of one stores.
#[derive(Debug)]
pub(crate) struct Cluster {
    services: Option<ServiceAllocation>,
    /// Where servers on one store say that they are there.
    leases: Option<RawStorage>,
    server_port: u16,
}

impl Cluster {
    pub(crate) fn new(ranges: Ranges, server_port: u16, parts: &RegistryParts<'_>) -> Self {
        let resource = GroupResource::new("", system_objects::LEASES);
        let kind = find_kind(Endpoints::GROUP, Endpoints::VERSION, Endpoints::KIND);
        Self {
            services: ServiceAllocation::new(ranges, parts),
            leases: kind.map(|kind| parts.raw(&resource, false, kind)),
            server_port,
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

    /// Repairs what is allocated to services, and from now on from time to time, until the
    /// registry is dropped; then makes what is missing.
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
}
