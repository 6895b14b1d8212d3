//! Repair: what nobody uses is given back, and what services use is theirs again.
//!
//! A server that ends between two writes leaves one of them behind, and people can remove the
//! objects that say who has what. Runs on every server; each step is a compare-and-set.

use super::addresses::{NoAddress, all};
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

/// How often it runs, as upstream.
const EVERY: Duration = Duration::from_secs(3 * 60);
/// How long an address may be there before its service is, as upstream: a request takes no longer.
const ADDRESS_GRACE_SECONDS: i64 = 60;
/// How often a port is found unused before it is free, as upstream.
const PORT_LEAKS: u32 = 3;

impl ServiceAllocation {
    /// Repairs now, and from now on from time to time, until all of this is dropped.
    pub(crate) async fn start(&self) -> Result<(), Status> {
        let resource = GroupResource::new("", "services");
        let repaired = self.shared.repair().await;
        repaired.map_err(|error| error.to_status(Operation::List, &resource, ""))?;
        let mut keeper = self.shared.keeper.lock();
        if keeper.is_empty() {
            keeper.spawn(keep_repairing(Arc::downgrade(&self.shared)));
        }
        Ok(())
    }

    /// Takes an address from a service that has it and does not exist.
    pub(crate) async fn take_away(
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
        let given = self.shared.addresses.give_back(address, &owner, 0).await;
        given.map_err(|error| error.to_status(Operation::Delete, &resource, name))
    }
}

async fn keep_repairing(shared: Weak<Shared>) {
    loop {
        sleep(EVERY).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // Storage that does not answer now does later.
        drop(shared.repair().await);
    }
}

impl Shared {
    async fn repair(&self) -> Result<(), StorageError> {
        self.repair_ports().await?;
        self.repair_addresses().await
    }

    async fn repair_addresses(&self) -> Result<(), StorageError> {
        // In this order: an address that is newer than the services is not known, and so is left.
        let held = self.addresses.held().await?;
        let services = services(&self.services).await?;
        let mut missing: BTreeMap<_, _> = services
            .iter()
            .filter_map(|service| Some((Owner::of(service), address_of(service)?)))
            .filter(|(_, address)| self.ranges.contains(*address))
            .collect();
        let now = i64::try_from(self.clock.now().as_secs()).unwrap_or(i64::MAX);
        for it in held {
            if missing.get(&it.owner) == Some(&it.address) {
                missing.remove(&it.owner);
                continue;
            }
            let age = it
                .since
                .map_or(i64::MAX, |since| now.saturating_sub(since.unix()));
            if age > ADDRESS_GRACE_SECONDS {
                let (address, owner) = (it.address, &it.owner);
                self.addresses
                    .give_back(address, owner, it.revision)
                    .await?;
            }
        }
        for (owner, address) in missing {
            match self.addresses.take(address, &owner, false).await {
                Ok(()) | Err(NoAddress::Taken | NoAddress::Outside | NoAddress::Full) => {}
                Err(NoAddress::Storage(error)) => return Err(error),
            }
        }
        Ok(())
    }

    async fn repair_ports(&self) -> Result<(), StorageError> {
        let mut leaks = self.leaks.lock().clone();
        let mut repairing = Repairing {
            shared: self,
            before: &leaks,
            after: BTreeMap::new(),
        };
        self.ports.change(&mut repairing).await?;
        leaks = repairing.after;
        *self.leaks.lock() = leaks;
        Ok(())
    }
}

struct Repairing<'a> {
    shared: &'a Shared,
    before: &'a BTreeMap<u16, u32>,
    after: BTreeMap<u16, u32>,
}

impl Change for Repairing<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            let (stored, allocation) = read(current)?;
            // Read after the ports: who has got one since has changed them, and this starts again.
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

/// Every service that can be read.
async fn services(storage: &RawStorage) -> Result<Vec<Service>, StorageError> {
    let stored = all(storage, "", "services").await?;
    let service = |it: &Stored| {
        let object: &dyn AnyObject = &**it.object().ok()?;
        (object as &dyn Any).downcast_ref::<Service>().cloned()
    };
    Ok(stored.iter().filter_map(service).collect())
}
