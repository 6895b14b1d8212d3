//! The allocations and releases of one write.

use super::addresses::NoAddress;
use super::ports::{NoPort, Why};
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
    taken: Things,
    given_up: Things,
}

#[derive(Debug, Default)]
struct Things {
    address: Option<Ipv4Addr>,
    ports: Vec<u16>,
}

impl Begun for Allocation {
    fn commit(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        self.taken = Things::default();
        let given_up = std::mem::take(&mut self.given_up);
        Box::pin(self.release(given_up))
    }

    fn rollback(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        let taken = std::mem::take(&mut self.taken);
        Box::pin(self.release(taken))
    }

    fn abandon(mut self: Box<Self>) {
        self.taken = Things::default();
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        if !taken.is_nothing() {
            // The release continues without a waiting caller.
            drop(self.release(taken));
        }
    }
}

impl Things {
    fn is_nothing(&self) -> bool {
        self.address.is_none() && self.ports.is_empty()
    }
}

/// Releases allocations. The next repair retries what storage does not accept now.
async fn release(shared: &Shared, owner: &Owner, things: Things) {
    if let Some(address) = things.address {
        drop(shared.addresses.give_back(address, owner, 0).await);
    }
    drop(shared.ports.give_back(&things.ports).await);
}

impl Allocation {
    /// Fills in and allocates the values that a service needs; without a `place` it only checks.
    /// The future must not be dropped, because its allocations would be unknown to the caller.
    ///
    /// # Errors
    /// 422 if something is taken or outside of the range; 500 if there are no node ports left.
    pub(super) async fn make(
        shared: &Arc<Shared>,
        new: &mut Service,
        old: Option<&Service>,
        place: Option<Place>,
    ) -> Result<Self, Status> {
        needs::take_over(new, old);
        needs::agree(new, old);
        let errors = needs::check_addresses(new, old);
        if !errors.is_empty() {
            return Err(all_invalid(new, &errors));
        }
        needs::check_families(new).map_err(|error| invalid(new, *error))?;
        let mut claim = Self::none(shared, Owner::of(new), place);
        let filled = match claim.address(new, old).await {
            Ok(()) => claim.ports(new, old).await,
            Err(status) => Err(status),
        };
        if let Err(status) = filled {
            let taken = std::mem::take(&mut claim.taken);
            claim.release(taken).await;
            return Err(status);
        }
        needs::fill_families(new);
        if let Some(old) = old {
            claim.given_up = Things {
                address: address_of(old).filter(|it| address_of(new) != Some(*it)),
                ports: without(ports_of(old), &ports_of(new)),
            };
        }
        Ok(claim)
    }

    /// Releases all allocations of a service. The future must not be dropped.
    pub(super) async fn give_back(shared: &Shared, service: &Service) {
        let things = Things {
            address: address_of(service),
            ports: ports_of(service),
        };
        release(shared, &Owner::of(service), things).await;
    }

    fn none(shared: &Arc<Shared>, owner: Owner, place: Option<Place>) -> Self {
        Self {
            shared: Arc::clone(shared),
            owner,
            place,
            taken: Things::default(),
            given_up: Things::default(),
        }
    }

    /// Releases `things`, whether or not the future is polled, and waits for the release.
    fn release(&mut self, things: Things) -> impl Future<Output = ()> + Send + use<> {
        let place = self.place.take();
        let (done, released) = oneshot::channel();
        if place.is_some() && !things.is_nothing() {
            let (shared, owner) = (Arc::clone(&self.shared), self.owner.clone());
            self.shared.finishing.finish(async move {
                release(&shared, &owner, things).await;
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
            let found = addresses.take_any(&self.owner, self.place.is_none()).await;
            let address = found.map_err(|error| no_address(new, None, error))?;
            self.taken.address = Some(address);
            new.spec.cluster_ip = address.to_string().into();
        }
        if new.spec.cluster_ips.is_empty() {
            new.spec.cluster_ips.push(new.spec.cluster_ip.clone());
        }
        // Validation rejects values that are not addresses.
        let Some(address) = address_of(new) else {
            return Ok(());
        };
        let has = self.taken.address.or_else(|| old.and_then(address_of));
        if has != Some(address) {
            let taken = addresses
                .take(address, &self.owner, self.place.is_none())
                .await;
            taken.map_err(|error| no_address(new, Some(address), error))?;
            self.taken.address = Some(address);
        }
        Ok(())
    }

    async fn ports(&mut self, new: &mut Service, old: Option<&Service>) -> Result<(), Status> {
        let slots = slots(new, old);
        let wishes: Vec<_> = slots.iter().map(|slot| slot.wish).collect();
        let granted = self.shared.ports.take(&wishes, self.place.is_none()).await;
        let granted = granted.map_err(|error| match error {
            NoPort::Storage(error) => failed(new, &error),
            NoPort::Refused(at, why) => self.no_port(new, &slots[at].path(), slots[at].wish, why),
        })?;
        for (slot, number) in slots.iter().zip(&granted) {
            slot.fill(new, *number);
        }
        self.taken.ports = granted;
        Ok(())
    }

    fn no_port(
        &self,
        service: &Service,
        path: &FieldPath,
        wish: super::ports::Wish,
        why: Why,
    ) -> Status {
        let range = self.shared.ports.range();
        let detail = match why {
            Why::Full => {
                let message = "failed to allocate a nodePort: range is full";
                return Status::internal_error(message);
            }
            Why::Taken => "provided port is already allocated".to_owned(),
            Why::Outside => format!(
                "provided port is not in the valid range. The range of valid ports is {}-{}",
                range.start(),
                range.end()
            ),
        };
        let number = match wish {
            super::ports::Wish::This(number) => number,
            super::ports::Wish::Any => 0,
        };
        invalid(service, FieldError::invalid(path, number, detail))
    }
}

fn no_address(service: &Service, address: Option<Ipv4Addr>, error: NoAddress) -> Status {
    let path = FieldPath::new("spec").child("clusterIPs");
    let why = match (error, address) {
        (NoAddress::Storage(error), _) => return failed(service, &error),
        (NoAddress::Full, _) | (_, None) => {
            let detail = "failed to allocate a serviceIP: range is full";
            return invalid(service, FieldError::internal(&path, detail));
        }
        (NoAddress::Taken, Some(address)) => {
            format!("failed to allocate IP {address}: provided IP is already allocated")
        }
        (NoAddress::Outside, Some(address)) => format!(
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
