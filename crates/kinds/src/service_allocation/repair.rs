//! Repair: releases unused allocations, and restores missing allocations of services.
//!
//! A server that crashes between two writes leaves one of them behind, and users can delete the
//! objects that record allocations. Runs on every server; each step is a compare-and-set.

use super::addresses::{AddressError, all};
use super::ports::{read, written};
use super::{Owner, ServiceAllocation, Shared, address_of, ports_of};
use kubist_api::core::v1::Service;
use kubist_apimachinery::{AnyObject, GroupResource, Status};
use kubist_registry::storage::{Change, Changed};
use kubist_registry::{BoxFuture, Operation, RawStorage, StorageError, Stored};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::sleep;

/// The repair interval, as upstream.
const EVERY: Duration = Duration::from_secs(3 * 60);
/// How long an address may exist before its service does, as upstream: no request takes longer.
const ADDRESS_GRACE_SECONDS: i64 = 60;
/// The number of rounds that find a port unused before it is released, as upstream.
const PORT_LEAKS: u32 = 3;

impl ServiceAllocation {
    /// Repairs now, and then periodically until the allocation is dropped.
    pub(crate) async fn start(&self) -> Result<(), Status> {
        let resource = GroupResource::new("", "services");
        let repaired = self.shared.repair().await;
        repaired.map_err(|error| error.to_status(Operation::List, &resource, ""))?;
        let mut task = self.shared.repair_task.lock();
        if task.is_empty() {
            task.spawn(repair_periodically(Arc::downgrade(&self.shared)));
        }
        Ok(())
    }

    /// Releases an address whose owning service does not exist.
    pub(crate) async fn release_address(
        &self,
        address: Ipv4Addr,
        namespace: &str,
        name: &str,
    ) -> Result<(), Status> {
        let owner = Owner {
            namespace: namespace.into(),
            name: name.into(),
        };
        let resource = GroupResource::new("", "services");
        let released = self.shared.addresses.release(address, &owner, 0).await;
        released.map_err(|error| error.to_status(Operation::Delete, &resource, name))
    }
}

async fn repair_periodically(shared: Weak<Shared>) {
    loop {
        sleep(EVERY).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // If storage does not answer, the next round retries.
        drop(shared.repair().await);
    }
}

impl Shared {
    async fn repair(&self) -> Result<(), StorageError> {
        self.repair_ports().await?;
        self.repair_addresses().await
    }

    async fn repair_addresses(&self) -> Result<(), StorageError> {
        // Addresses are read before services, so a newer address is not seen and stays allocated.
        let allocated = self.addresses.allocated().await?;
        let services = services(&self.services).await?;
        let mut missing: BTreeMap<_, _> = services
            .iter()
            .filter_map(|service| Some((Owner::of(service), address_of(service)?)))
            .filter(|(_, address)| self.ranges.contains(*address))
            .collect();
        let now = i64::try_from(self.clock.now().as_secs()).unwrap_or(i64::MAX);
        for it in allocated {
            if missing.get(&it.owner) == Some(&it.address) {
                missing.remove(&it.owner);
                continue;
            }
            let age = it
                .since
                .map_or(i64::MAX, |since| now.saturating_sub(since.unix()));
            if age > ADDRESS_GRACE_SECONDS {
                let (address, owner) = (it.address, &it.owner);
                self.addresses.release(address, owner, it.revision).await?;
            }
        }
        for (owner, address) in missing {
            match self.addresses.allocate(address, &owner, false).await {
                Ok(())
                | Err(AddressError::Allocated | AddressError::OutOfRange | AddressError::Full) => {}
                Err(AddressError::Storage(error)) => return Err(error),
            }
        }
        Ok(())
    }

    async fn repair_ports(&self) -> Result<(), StorageError> {
        let mut leaks = self.leaks.lock().clone();
        let mut change = RepairPorts {
            shared: self,
            before: &leaks,
            after: BTreeMap::new(),
        };
        self.ports.change(&mut change).await?;
        leaks = change.after;
        *self.leaks.lock() = leaks;
        Ok(())
    }
}

struct RepairPorts<'a> {
    shared: &'a Shared,
    before: &'a BTreeMap<u16, u32>,
    after: BTreeMap<u16, u32>,
}

impl Change for RepairPorts<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            let (stored, allocation) = read(current)?;
            // Services are read after the ports: a later allocation changes the ports, and this
            // attempt restarts.
            let services = services(&self.shared.services).await;
            let services = services.map_err(Status::internal_error)?;
            let mut ports: BTreeSet<u16> = services.iter().flat_map(ports_of).collect();
            self.after.clear();
            for port in stored.0 {
                if ports.contains(&port) {
                    continue;
                }
                let left = self.before.get(&port).copied().unwrap_or(PORT_LEAKS);
                if left > 0 {
                    self.after.insert(port, left - 1);
                    ports.insert(port);
                }
            }
            Ok(written(ports, self.shared.ports.range(), allocation))
        })
    }
}

/// Returns every service that can be decoded.
async fn services(storage: &RawStorage) -> Result<Vec<Service>, StorageError> {
    let stored = all(storage, "", "services").await?;
    let service = |it: &Stored| {
        let object: &dyn AnyObject = &**it.object().ok()?;
        (object as &dyn Any).downcast_ref::<Service>().cloned()
    };
    Ok(stored.iter().filter_map(service).collect())
}
