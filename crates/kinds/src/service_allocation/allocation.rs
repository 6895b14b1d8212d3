//! The allocations and releases of one write.

use super::addresses::AddressError;
use super::ports::{PortError, PortRequest, Refusal};
use super::slots::slots;
use super::{Owner, Shared, address_of, needs, ports_of};
use kubist_api::core::v1::Service;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, GroupKind, GroupResource, Status};
use kubist_registry::{Begun, BoxFuture, Operation, Place, StorageError};
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The allocations of one write, and what it releases if it succeeds. Dropping it releases the new
/// allocations.
#[derive(Debug)]
pub(super) struct Allocation {
    shared: Arc<Shared>,
    owner: Owner,
    /// The slot for the final release; `None` in a dry run, which allocates nothing.
    place: Option<Place>,
    allocated: AllocatedValues,
    to_release: AllocatedValues,
}

#[derive(Debug, Default)]
struct AllocatedValues {
    address: Option<Ipv4Addr>,
    ports: Vec<u16>,
}

impl Begun for Allocation {
    fn commit(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        self.allocated = AllocatedValues::default();
        let to_release = std::mem::take(&mut self.to_release);
        Box::pin(self.release(to_release))
    }

    fn rollback(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        let allocated = std::mem::take(&mut self.allocated);
        Box::pin(self.release(allocated))
    }

    fn abandon(mut self: Box<Self>) {
        self.allocated = AllocatedValues::default();
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let allocated = std::mem::take(&mut self.allocated);
        if !allocated.is_empty() {
            // The release continues without a waiting caller.
            drop(self.release(allocated));
        }
    }
}

impl AllocatedValues {
    fn is_empty(&self) -> bool {
        self.address.is_none() && self.ports.is_empty()
    }
}

/// Releases allocations. The next repair retries what storage does not accept now.
async fn release(shared: &Shared, owner: &Owner, values: AllocatedValues) {
    if let Some(address) = values.address {
        drop(shared.addresses.release(address, owner, 0).await);
    }
    drop(shared.ports.release(&values.ports).await);
}

impl Allocation {
    /// Fills in and allocates the values that a service needs; without a `place` it only checks.
    /// The future must not be dropped, because its allocations would be unknown to the caller.
    ///
    /// # Errors
    /// 422 if a requested value is already allocated or outside of the range; 500 if there are no
    /// node ports left.
    pub(super) async fn make(
        shared: &Arc<Shared>,
        new: &mut Service,
        old: Option<&Service>,
        place: Option<Place>,
    ) -> Result<Self, Status> {
        needs::patch_allocated_values(new, old);
        needs::normalize_cluster_ips(new, old);
        let errors = needs::check_addresses(new, old);
        if !errors.is_empty() {
            return Err(all_invalid(new, &errors));
        }
        needs::check_families(new).map_err(|error| invalid(new, *error))?;
        let mut allocation = Self::none(shared, Owner::of(new), place);
        let filled = match allocation.address(new, old).await {
            Ok(()) => allocation.ports(new, old).await,
            Err(status) => Err(status),
        };
        if let Err(status) = filled {
            let allocated = std::mem::take(&mut allocation.allocated);
            allocation.release(allocated).await;
            return Err(status);
        }
        needs::fill_families(new);
        if let Some(old) = old {
            allocation.to_release = AllocatedValues {
                address: address_of(old).filter(|it| address_of(new) != Some(*it)),
                ports: without(ports_of(old), &ports_of(new)),
            };
        }
        Ok(allocation)
    }

    /// Releases all allocations of a service. The future must not be dropped.
    pub(super) async fn release_all(shared: &Shared, service: &Service) {
        let values = AllocatedValues {
            address: address_of(service),
            ports: ports_of(service),
        };
        release(shared, &Owner::of(service), values).await;
    }

    fn none(shared: &Arc<Shared>, owner: Owner, place: Option<Place>) -> Self {
        Self {
            shared: Arc::clone(shared),
            owner,
            place,
            allocated: AllocatedValues::default(),
            to_release: AllocatedValues::default(),
        }
    }

    /// Releases `values`, whether or not the future is polled, and waits for the release.
    fn release(&mut self, values: AllocatedValues) -> impl Future<Output = ()> + Send + use<> {
        let place = self.place.take();
        let (done, released) = oneshot::channel();
        if place.is_some() && !values.is_empty() {
            let (shared, owner) = (Arc::clone(&self.shared), self.owner.clone());
            self.shared.finishing.finish(async move {
                release(&shared, &owner, values).await;
                drop((place, done));
            });
        } else {
            drop(done);
        }
        async move {
            // A dropped sender also means that the release has ended.
            let waited: Result<(), _> = released.await;
            drop(waited);
        }
    }

    async fn address(&mut self, new: &mut Service, old: Option<&Service>) -> Result<(), Status> {
        if !needs::address(new) {
            return Ok(());
        }
        let addresses = &self.shared.addresses;
        if new.spec.cluster_ip.is_empty() {
            let found = addresses
                .allocate_any(&self.owner, self.place.is_none())
                .await;
            let address = found.map_err(|error| address_error(new, None, error))?;
            self.allocated.address = Some(address);
            new.spec.cluster_ip = address.to_string().into();
        }
        if new.spec.cluster_ips.is_empty() {
            new.spec.cluster_ips.push(new.spec.cluster_ip.clone());
        }
        // Validation rejects values that are not addresses.
        let Some(address) = address_of(new) else {
            return Ok(());
        };
        let has = self.allocated.address.or_else(|| old.and_then(address_of));
        if has != Some(address) {
            let allocated = addresses
                .allocate(address, &self.owner, self.place.is_none())
                .await;
            allocated.map_err(|error| address_error(new, Some(address), error))?;
            self.allocated.address = Some(address);
        }
        Ok(())
    }

    async fn ports(&mut self, new: &mut Service, old: Option<&Service>) -> Result<(), Status> {
        let slots = slots(new, old);
        let requests: Vec<_> = slots.iter().map(|slot| slot.request).collect();
        let granted = self
            .shared
            .ports
            .allocate(&requests, self.place.is_none())
            .await;
        let granted = granted.map_err(|error| match error {
            PortError::Storage(error) => failed(new, &error),
            PortError::Refused(at, why) => {
                self.port_error(new, &slots[at].path(), slots[at].request, why)
            }
        })?;
        for (slot, number) in slots.iter().zip(&granted) {
            slot.fill(new, *number);
        }
        self.allocated.ports = granted;
        Ok(())
    }

    fn port_error(
        &self,
        service: &Service,
        path: &FieldPath,
        request: PortRequest,
        refusal: Refusal,
    ) -> Status {
        let range = self.shared.ports.range();
        let detail = match refusal {
            Refusal::Full => {
                let message = "failed to allocate a nodePort: range is full";
                return Status::internal_error(message);
            }
            Refusal::Allocated => "provided port is already allocated".to_owned(),
            Refusal::OutOfRange => format!(
                "provided port is not in the valid range. The range of valid ports is {}-{}",
                range.start(),
                range.end()
            ),
        };
        let number = match request {
            PortRequest::Specific(number) => number,
            PortRequest::Any => 0,
        };
        invalid(service, FieldError::invalid(path, number, detail))
    }
}

fn address_error(service: &Service, address: Option<Ipv4Addr>, error: AddressError) -> Status {
    let path = FieldPath::new("spec").child("clusterIPs");
    let why = match (error, address) {
        (AddressError::Storage(error), _) => return failed(service, &error),
        (AddressError::Full, _) | (_, None) => {
            let detail = "failed to allocate a serviceIP: range is full";
            return invalid(service, FieldError::internal(&path, detail));
        }
        (AddressError::Allocated, Some(address)) => {
            format!("failed to allocate IP {address}: provided IP is already allocated")
        }
        (AddressError::OutOfRange, Some(address)) => format!(
            "failed to allocate IP {address}: the provided network does not match the current range"
        ),
    };
    let value = BadValue::json(&service.spec.cluster_ips);
    invalid(service, FieldError::invalid(&path, value, why))
}

fn invalid(service: &Service, error: FieldError) -> Status {
    all_invalid(service, &[error])
}

fn all_invalid(service: &Service, errors: &[FieldError]) -> Status {
    let kind = GroupKind::new("", "Service");
    Status::invalid(&kind, &service.metadata.name, errors)
}

fn failed(service: &Service, error: &StorageError) -> Status {
    let resource = GroupResource::new("", "services");
    error.to_status(Operation::Create, &resource, &service.metadata.name)
}

/// Returns the ports that are not among `others`, which are sorted.
fn without(mut ports: Vec<u16>, others: &[u16]) -> Vec<u16> {
    ports.retain(|it| others.binary_search(it).is_err());
    ports
}
