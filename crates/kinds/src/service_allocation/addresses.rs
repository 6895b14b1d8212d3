//! Cluster IPs: one `IPAddress` object each, created with compare-and-set, as upstream's. Creating
//! the object allocates the address, so two servers on one store cannot allocate it twice.

use super::{Owner, Ranges};
use kubist_api::networking::v1::{IPAddress, IPAddressSpec, ParentReference};
use kubist_apimachinery::{AnyObject, GroupResource, ListOptions, Status, Time};
use kubist_registry::storage::{DeleteRequest, ListRequest, PutOptions, Scope, Storage};
use kubist_registry::{
    PlainStrategy, Predicate, Random, RawStorage, StorageError, Stored, WallClock,
};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Arc;

pub(super) const GROUP: &str = "networking.k8s.io";
/// Upstream's label and value that mark an address as managed by the allocator.
const MANAGED_BY: (&str, &str) = ("ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io");
const FAMILY: (&str, &str) = ("ipaddress.kubernetes.io/ip-family", "IPv4");
/// The number of random picks before a linear search.
const RANDOM_PICKS: usize = 16;

/// The cluster IPs of one store.
#[derive(Debug)]
pub(super) struct Addresses {
    storage: RawStorage,
    ranges: Ranges,
    random: Arc<Random>,
    clock: Arc<dyn WallClock>,
    /// Addresses that this process last observed as allocated. Only saves attempts: other servers
    /// may have allocated and released addresses since.
    hint: Mutex<BTreeSet<Ipv4Addr>>,
}

/// The reason why an address cannot be allocated.
#[derive(Debug)]
pub(super) enum AddressError {
    Allocated,
    OutOfRange,
    Full,
    Storage(StorageError),
}

impl From<StorageError> for AddressError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// A stored address that belongs to a service.
#[derive(Debug)]
pub(super) struct AllocatedAddress {
    pub(super) address: Ipv4Addr,
    pub(super) owner: Owner,
    pub(super) since: Option<Time>,
    pub(super) revision: u64,
}

impl Addresses {
    pub(super) fn new(
        storage: RawStorage,
        ranges: Ranges,
        random: Arc<Random>,
        clock: Arc<dyn WallClock>,
    ) -> Self {
        let hint = Mutex::default();
        Self {
            storage,
            ranges,
            random,
            clock,
            hint,
        }
    }

    /// Allocates this address. A dry run only checks it.
    pub(super) async fn allocate(
        &self,
        address: Ipv4Addr,
        owner: &Owner,
        dry_run: bool,
    ) -> Result<(), AddressError> {
        if !self.ranges.contains(address) {
            return Err(AddressError::OutOfRange);
        }
        let key = self.key(address)?;
        let allocated = if dry_run {
            self.storage.get(&key, None).await?.is_some()
        } else {
            let object = Box::new(self.object(address, owner));
            match self
                .storage
                .create(key, object, PutOptions::default())
                .await
            {
                Ok(_) => false,
                Err(StorageError::Exists { .. }) => true,
                Err(error) => return Err(error.into()),
            }
        };
        if allocated || !dry_run {
            self.hint.lock().insert(address);
        }
        if allocated {
            return Err(AddressError::Allocated);
        }
        Ok(())
    }

    /// Allocates any free address. A dry run does not search for one and returns the network
    /// address instead, as upstream.
    pub(super) async fn allocate_any(
        &self,
        owner: &Owner,
        dry_run: bool,
    ) -> Result<Ipv4Addr, AddressError> {
        if dry_run {
            return Ok(self.ranges.network);
        }
        for band in self.ranges.address_bands() {
            if band.is_empty() {
                continue;
            }
            let count = u64::from(band.end - band.start);
            for _ in 0..RANDOM_PICKS {
                let picked = u32::try_from(self.random.below(count)).unwrap_or_default();
                let address = self.ranges.at(band.start + picked);
                if self.try_allocate(address, owner).await? {
                    return Ok(address);
                }
            }
            // The network is crowded: read the allocated addresses and try all others in turn.
            self.allocated().await?;
            for offset in band {
                let address = self.ranges.at(offset);
                if self.try_allocate(address, owner).await? {
                    return Ok(address);
                }
            }
        }
        Err(AddressError::Full)
    }

    async fn try_allocate(&self, address: Ipv4Addr, owner: &Owner) -> Result<bool, AddressError> {
        if self.hint.lock().contains(&address) {
            return Ok(false);
        }
        match self.allocate(address, owner, false).await {
            Ok(()) => Ok(true),
            Err(AddressError::Allocated) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Releases an address if it belongs to this service and (unless 0) has this revision.
    pub(super) async fn release(
        &self,
        address: Ipv4Addr,
        owner: &Owner,
        revision: u64,
    ) -> Result<(), StorageError> {
        let allowed = |stored: Option<&Stored>| match stored.and_then(allocated_address) {
            Some(it) if it.owner == *owner && (revision == 0 || it.revision == revision) => Ok(()),
            _ => Err(Status::bad_request("it belongs to another service")),
        };
        let request = DeleteRequest::default();
        let key = self.key(address)?;
        match self.storage.delete(key, request, &allowed).await {
            Ok(_) | Err(StorageError::NotFound { .. }) => {
                self.hint.lock().remove(&address);
                Ok(())
            }
            Err(StorageError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the addresses that are allocated to services.
    pub(super) async fn allocated(&self) -> Result<Vec<AllocatedAddress>, StorageError> {
        let stored = all(&self.storage, GROUP, "ipaddresses").await?;
        let address = |it: &Stored| -> Option<Ipv4Addr> {
            let object = it.object().ok()?;
            object.meta().name.parse().ok()
        };
        *self.hint.lock() = stored.iter().filter_map(address).collect();
        Ok(stored.iter().filter_map(allocated_address).collect())
    }

    fn key(&self, address: Ipv4Addr) -> Result<String, StorageError> {
        Ok(self.storage.keys().key("", &address.to_string())?)
    }

    fn object(&self, address: Ipv4Addr, owner: &Owner) -> IPAddress {
        let mut object = IPAddress::default();
        let meta = &mut object.metadata;
        meta.name = address.to_string().into();
        meta.uid = self.random.uid().into();
        let now = i64::try_from(self.clock.now().as_secs()).unwrap_or(i64::MAX);
        meta.creation_timestamp = Some(Time::from_unix(now));
        meta.generation = 1;
        for (label, value) in [FAMILY, MANAGED_BY] {
            meta.labels.insert(label.into(), value.into());
        }
        object.spec = IPAddressSpec {
            parent_ref: Some(Box::new(ParentReference {
                resource: "services".into(),
                namespace: owner.namespace.clone(),
                name: owner.name.clone(),
                ..ParentReference::default()
            })),
        };
        object
    }
}

/// Returns the allocation that this object represents; `None` if the allocator does not manage it.
fn allocated_address(stored: &Stored) -> Option<AllocatedAddress> {
    let object: &dyn AnyObject = &**stored.object().ok()?;
    let object = (object as &dyn Any).downcast_ref::<IPAddress>()?;
    let parent = object.spec.parent_ref.as_deref()?;
    let (label, value) = MANAGED_BY;
    let ours = object
        .metadata
        .labels
        .get(label)
        .is_some_and(|it| *it == value);
    if !ours || !parent.group.is_empty() || parent.resource != "services" {
        return None;
    }
    Some(AllocatedAddress {
        address: object.metadata.name.parse().ok()?,
        owner: Owner {
            namespace: parent.namespace.clone(),
            name: parent.name.clone(),
        },
        since: object.metadata.creation_timestamp,
        revision: stored.revision(),
    })
}

/// Returns all current objects of a resource.
pub(super) async fn all(
    storage: &RawStorage,
    group: &str,
    plural: &str,
) -> Result<Vec<Stored>, StorageError> {
    let request = ListRequest {
        resource: &GroupResource::new(group, plural),
        scope: Scope::default(),
        predicate: &Predicate::everything(Arc::new(PlainStrategy::default())),
        options: &ListOptions::default(),
    };
    Ok(storage.list(request).await?.items)
}
