//! The allocation of cluster IPs and node ports to services.
//!
//! Allocations are persisted in storage, in the same place as upstream's, and each change is a
//! compare-and-set: any number of servers on one store allocate from the same ranges. A write holds
//! an `Allocation`, which is released if nothing was written. If the outcome is unknown, because a
//! server crashed or storage did not answer, the allocation stays until `repair` finds that no
//! service uses it. `needs` decides which allocations a service needs.

mod addresses;
mod allocation;
mod needs;
mod port_set;
mod ports;
mod ranges;
mod repair;
mod slots;

pub(crate) use ranges::Ranges;

use self::addresses::Addresses;
use self::allocation::Allocation;
use self::ports::Ports;
use kubist_api::core::v1::Service;
use kubist_api::find_kind;
use kubist_apimachinery::{AnyObject, GroupResource, Status, Str};
use kubist_registry::{
    Begin, Begun, BoxFuture, Finishing, Hooks, RawStorage, RegistryParts, Stored, WallClock,
};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The allocated addresses and ports. A clone is another handle.
#[derive(Clone, Debug)]
pub(crate) struct ServiceAllocation {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ranges: Ranges,
    clock: Arc<dyn WallClock>,
    addresses: Addresses,
    ports: Ports,
    services: RawStorage,
    /// Node ports that appear to be unused, and how many more rounds may find them so.
    leaks: Mutex<BTreeMap<u16, u32>>,
    /// Releases the allocations of abandoned requests.
    finishing: Finishing,
    /// The periodic repair task.
    repair_task: Mutex<JoinSet<()>>,
}

/// A service that owns allocations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    namespace: Str,
    name: Str,
}

impl ServiceAllocation {
    /// Returns `None` if the kinds are not built in.
    pub(crate) fn new(ranges: Ranges, parts: &RegistryParts<'_>) -> Option<Self> {
        let RegistryParts { random, clock, .. } = *parts;
        let raw = |group, version, kind, plural, namespaced| {
            let kind = find_kind(group, version, kind)?;
            Some(parts.raw(&GroupResource::new(group, plural), namespaced, kind))
        };
        let addresses = raw(addresses::GROUP, "v1", "IPAddress", "ipaddresses", false)?;
        let ports = raw("", "v1", "RangeAllocation", ports::PLURAL, false)?;
        let shared = Shared {
            addresses: Addresses::new(
                addresses,
                ranges.clone(),
                Arc::clone(random),
                Arc::clone(clock),
            ),
            ports: Ports::new(ports, ranges.clone(), Arc::clone(random)),
            services: raw("", "v1", "Service", "services", true)?,
            clock: Arc::clone(clock),
            ranges,
            leaks: Mutex::default(),
            finishing: Finishing::default(),
            repair_task: Mutex::default(),
        };
        Some(Self {
            shared: Arc::new(shared),
        })
    }

    /// Returns the first address, which belongs to the API server's own service.
    pub(crate) fn first_address(&self) -> Ipv4Addr {
        self.shared.ranges.at(1)
    }

    /// Returns the network from which addresses are allocated.
    pub(crate) fn cidr(&self) -> String {
        self.shared.ranges.cidr()
    }

    /// Allocates for a service, and fills in the values that it keeps and those that it needs.
    async fn begin(
        &self,
        begin: Begin<'_>,
        new: &mut dyn AnyObject,
        old: Option<&dyn AnyObject>,
    ) -> Result<Option<Box<dyn Begun>>, Status> {
        let Some(new) = (new as &mut dyn Any).downcast_mut::<Service>() else {
            return Ok(None);
        };
        let old = old.and_then(|old| (old as &dyn Any).downcast_ref::<Service>());
        if begin.dry_run {
            let allocation = Allocation::make(&self.shared, new, old, None).await?;
            return Ok(Some(Box::new(allocation)));
        }
        // The allocation runs to its end even if the caller is dropped; otherwise nothing could
        // release it.
        let finishing = &self.shared.finishing;
        let place = finishing.place().await?;
        let (shared, mut service, old) = (Arc::clone(&self.shared), new.clone(), old.cloned());
        let work = async move {
            let allocation =
                Allocation::make(&shared, &mut service, old.as_ref(), Some(place)).await;
            (allocation, service)
        };
        let (allocation, service) = finishing.run(work).await?;
        let allocation = allocation?;
        *new = service;
        Ok(Some(Box::new(allocation)))
    }

    /// Releases all allocations of a deleted service.
    async fn release(&self, stored: &Stored) {
        let Ok(object) = stored.object() else {
            return;
        };
        let object: &dyn AnyObject = &**object;
        if let Some(service) = (object as &dyn Any).downcast_ref::<Service>() {
            Allocation::release_all(&self.shared, service).await;
        }
    }
}

impl Hooks for ServiceAllocation {
    fn begin_create<'a>(
        &'a self,
        begin: Begin<'a>,
        new: &'a mut dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        Box::pin(self.begin(begin, new, None))
    }

    fn begin_update<'a>(
        &'a self,
        begin: Begin<'a>,
        new: &'a mut dyn AnyObject,
        old: &'a dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        Box::pin(self.begin(begin, new, Some(old)))
    }

    fn after_delete<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, ()> {
        Box::pin(self.release(stored))
    }
}

impl Owner {
    fn of(service: &Service) -> Self {
        Self {
            namespace: service.metadata.namespace.clone(),
            name: service.metadata.name.clone(),
        }
    }
}

/// Returns the cluster IP of a service, if it is an address.
fn address_of(service: &Service) -> Option<Ipv4Addr> {
    let has = needs::address(service);
    has.then(|| service.spec.cluster_ip.parse().ok()).flatten()
}

/// Returns the node ports of a service, including the health check node port; sorted.
fn ports_of(service: &Service) -> Vec<u16> {
    let ports = service.spec.ports.iter().map(|it| it.node_port);
    let all = ports.chain([service.spec.health_check_node_port]);
    let mut all: Vec<u16> = all
        .filter_map(|it| u16::try_from(it).ok())
        .filter(|it| *it != 0)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
