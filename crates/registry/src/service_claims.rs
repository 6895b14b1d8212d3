//! The addresses and ports that services are allotted: cluster IPs and node ports.
//!
//! Kept in memory and rebuilt from the stored services at start, so one server at a time may
//! allot. What a write is given is a `Claim`, which goes back unless the write succeeds. What a
//! service needs is decided in `needs`.

mod needs;

use crate::hooks::{Begun, Hooks};
use crate::random::Random;
use crate::{RequestContext, Stored};
use kubist_api::core::v1::Service;
use kubist_apimachinery::{AnyObject, BadValue, FieldError, FieldPath, GroupKind, Status, Str};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Who has which address and which port.
#[derive(Debug)]
pub(crate) struct ServiceClaims {
    ranges: Ranges,
    taken: Arc<Mutex<Taken>>,
    random: Arc<Random>,
}

/// What there is to allot.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    /// The first address of the network; it and the last are never allotted.
    pub(crate) network: Ipv4Addr,
    /// Bits of the network's prefix.
    pub(crate) prefix: u32,
    pub(crate) node_ports: RangeInclusive<u16>,
}

/// The owner is `namespace/name`.
#[derive(Debug, Default)]
struct Taken {
    addresses: BTreeMap<Ipv4Addr, Str>,
    ports: BTreeMap<NodePort, Str>,
}

/// A port of nodes. Protocols do not share the numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodePort {
    protocol: Str,
    port: u16,
}

/// What one write was given. Dropped unkept, it goes back.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    taken: Option<Arc<Mutex<Taken>>>,
    addresses: Vec<Ipv4Addr>,
    ports: Vec<NodePort>,
}

impl Begun for Claim {
    fn commit(mut self: Box<Self>) {
        self.taken = None;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let Some(taken) = &self.taken else {
            return;
        };
        let mut taken = taken.lock();
        for address in &self.addresses {
            taken.addresses.remove(address);
        }
        for port in &self.ports {
            taken.ports.remove(port);
        }
    }
}

impl ServiceClaims {
    pub(crate) fn new(ranges: Ranges, random: Arc<Random>) -> Self {
        Self {
            ranges,
            taken: Arc::default(),
            random,
        }
    }

    /// Fills in what a service needs and does not say, and claims what it says. 422 if something
    /// is taken or outside of the range.
    fn claim(&self, new: &mut dyn AnyObject, old: Option<&dyn AnyObject>) -> Result<Claim, Status> {
        let Some(new) = (new as &mut dyn Any).downcast_mut::<Service>() else {
            return Ok(Claim::default());
        };
        let old = old.and_then(|old| (old as &dyn Any).downcast_ref::<Service>());
        needs::take_over(new, old);
        let (result, mut claim) = {
            // A claim that is given back takes the lock, so it must be gone by then.
            let mut claiming = Claiming {
                ranges: &self.ranges,
                taken: &mut self.taken.lock(),
                owner: owner(new),
                random: &self.random,
                claim: Claim::default(),
            };
            let result = needs::check_families(new)
                .and_then(|()| claiming.address(new))
                .and_then(|()| claiming.node_ports(new))
                .and_then(|()| claiming.health_check_port(new));
            (result, claiming.claim)
        };
        claim.taken = Some(Arc::clone(&self.taken));
        match result {
            Ok(()) => {
                needs::fill_families(new);
                Ok(claim)
            }
            Err(error) => {
                let kind = GroupKind::new("", "Service");
                Err(Status::invalid(&kind, &new.metadata.name, &[*error]))
            }
        }
    }

    /// The first address: that of the API server's own service.
    pub(crate) fn first_address(&self) -> Ipv4Addr {
        self.ranges.at(1)
    }

    /// Takes note of what a stored service has, at start and after each write.
    pub(crate) fn recover(&self, stored: &Stored) {
        let Ok(object) = stored.object() else {
            return;
        };
        if let Some(service) = (&**object as &dyn Any).downcast_ref::<Service>() {
            self.set(&owner(service), Some(service));
        }
    }

    /// Gives back all that a deleted service had.
    fn release(&self, stored: &Stored) {
        let Ok(object) = stored.object() else {
            return;
        };
        let meta = object.meta();
        let owner = format!("{}/{}", meta.namespace, meta.name);
        self.set(&owner.into(), None);
    }

    fn set(&self, owner: &Str, service: Option<&Service>) {
        let mut taken = self.taken.lock();
        taken.addresses.retain(|_, it| it != owner);
        taken.ports.retain(|_, it| it != owner);
        let Some(service) = service else {
            return;
        };
        if let Ok(address) = service.spec.cluster_ip.parse() {
            taken.addresses.insert(address, owner.clone());
        }
        for port in &service.spec.ports {
            if let Ok(number @ 1..) = u16::try_from(port.node_port) {
                taken
                    .ports
                    .insert(node_port(&port.protocol, number), owner.clone());
            }
        }
        if let Ok(number @ 1..) = u16::try_from(service.spec.health_check_node_port) {
            taken.ports.insert(node_port("TCP", number), owner.clone());
        }
    }
}

impl Hooks for ServiceClaims {
    fn begin_create(
        &self,
        _: &RequestContext,
        new: &mut dyn AnyObject,
    ) -> Result<Option<Box<dyn Begun>>, Status> {
        Ok(Some(Box::new(self.claim(new, None)?)))
    }

    fn begin_update(
        &self,
        _: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) -> Result<Option<Box<dyn Begun>>, Status> {
        Ok(Some(Box::new(self.claim(new, Some(old))?)))
    }

    fn after_create(&self, stored: &Stored) {
        self.recover(stored);
    }

    fn after_update(&self, stored: &Stored) {
        self.recover(stored);
    }

    fn after_delete(&self, stored: &Stored) {
        self.release(stored);
    }
}

fn owner(service: &Service) -> Str {
    let meta = &service.metadata;
    format!("{}/{}", meta.namespace, meta.name).into()
}

fn node_port(protocol: &str, port: u16) -> NodePort {
    let protocol = if protocol.is_empty() { "TCP" } else { protocol };
    NodePort {
        protocol: protocol.into(),
        port,
    }
}

/// One service that is being served.
struct Claiming<'a> {
    ranges: &'a Ranges,
    taken: &'a mut Taken,
    owner: Str,
    random: &'a Random,
    claim: Claim,
}

/// How many random picks are tried before looking one by one.
const RANDOM_PICKS: usize = 16;

type Refused = Box<FieldError>;

impl Claiming<'_> {
    fn address(&mut self, service: &mut Service) -> Result<(), Refused> {
        if !needs::address(service) {
            return Ok(());
        }
        let spec = &mut service.spec;
        if spec.cluster_ip.is_empty() {
            let address = self.free_address().ok_or_else(|| {
                let path = FieldPath::new("spec").child("clusterIPs");
                let detail = "failed to allocate a serviceIP: range is full";
                Box::new(FieldError::internal(&path, detail))
            })?;
            spec.cluster_ip = address.to_string().into();
        }
        if spec.cluster_ips.is_empty() {
            spec.cluster_ips.push(spec.cluster_ip.clone());
        }
        // What is not an address is for the checks to refuse.
        let Ok(address) = spec.cluster_ip.parse::<Ipv4Addr>() else {
            return Ok(());
        };
        let refused = |why: &str| {
            let path = FieldPath::new("spec").child("clusterIPs");
            let detail = format!("failed to allocate IP {address}: {why}");
            Box::new(FieldError::invalid(
                &path,
                BadValue::json(&spec.cluster_ips),
                detail,
            ))
        };
        match self.taken.addresses.get(&address) {
            Some(owner) if *owner == self.owner => return Ok(()),
            Some(_) => return Err(refused("provided IP is already allocated")),
            None => {}
        }
        if !self.ranges.contains(address) {
            return Err(refused(
                "the provided network does not match the current range",
            ));
        }
        self.taken.addresses.insert(address, self.owner.clone());
        self.claim.addresses.push(address);
        Ok(())
    }

    fn free_address(&self) -> Option<Ipv4Addr> {
        let free = |offset: u32| {
            let address = self.ranges.at(offset);
            (!self.taken.addresses.contains_key(&address)).then_some(address)
        };
        let count = self.ranges.count();
        if count == 0 {
            return None;
        }
        let picked = (0..RANDOM_PICKS).find_map(|_| {
            let offset = self.random.below(u64::from(count));
            free(u32::try_from(offset).ok()? + 1)
        });
        picked.or_else(|| (1..=count).find_map(free))
    }

    fn node_ports(&mut self, service: &mut Service) -> Result<(), Refused> {
        if !needs::node_ports(service) {
            return Ok(());
        }
        for index in 0..service.spec.ports.len() {
            let path = FieldPath::new("spec").child("ports").index(index);
            let port = &mut service.spec.ports[index];
            let protocol = port.protocol.clone();
            port.node_port = self.port(&protocol, port.node_port, &path.child("nodePort"))?;
        }
        Ok(())
    }

    fn health_check_port(&mut self, service: &mut Service) -> Result<(), Refused> {
        if needs::health_check_port(service) {
            let path = FieldPath::new("spec").child("healthCheckNodePort");
            let wanted = service.spec.health_check_node_port;
            service.spec.health_check_node_port = self.port("TCP", wanted, &path)?;
        }
        Ok(())
    }

    /// Claims the port wanted, or any if that is 0.
    fn port(&mut self, protocol: &str, wanted: i32, path: &FieldPath) -> Result<i32, Refused> {
        let range = &self.ranges.node_ports;
        if wanted == 0 {
            let free = self.free_port(protocol).ok_or_else(|| {
                let detail = "failed to allocate a nodePort: range is full";
                Box::new(FieldError::internal(path, detail))
            })?;
            self.take(node_port(protocol, free));
            return Ok(i32::from(free));
        }
        let Some(port) = u16::try_from(wanted).ok().filter(|it| range.contains(it)) else {
            let detail = format!(
                "provided port is not in the valid range. The range of valid ports is {}-{}",
                range.start(),
                range.end()
            );
            return Err(Box::new(FieldError::invalid(path, wanted, detail)));
        };
        let port = node_port(protocol, port);
        match self.taken.ports.get(&port) {
            Some(owner) if *owner == self.owner => {}
            Some(_) => {
                let detail = "provided port is already allocated";
                return Err(Box::new(FieldError::invalid(path, wanted, detail)));
            }
            None => self.take(port),
        }
        Ok(wanted)
    }

    fn take(&mut self, port: NodePort) {
        self.taken.ports.insert(port.clone(), self.owner.clone());
        self.claim.ports.push(port);
    }

    fn free_port(&self, protocol: &str) -> Option<u16> {
        let range = &self.ranges.node_ports;
        let free = |port: u16| {
            let key = node_port(protocol, port);
            (!self.taken.ports.contains_key(&key)).then_some(port)
        };
        let count = u64::from(range.end().saturating_sub(*range.start())) + 1;
        let picked = (0..RANDOM_PICKS).find_map(|_| {
            let offset = u16::try_from(self.random.below(count)).ok()?;
            free(range.start() + offset)
        });
        picked.or_else(|| range.clone().find_map(free))
    }
}

impl Ranges {
    /// How many addresses can be allotted.
    fn count(&self) -> u32 {
        let hosts = 32_u32.saturating_sub(self.prefix);
        u32::try_from((1_u64 << hosts).saturating_sub(2)).unwrap_or(u32::MAX)
    }

    fn at(&self, offset: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.network).saturating_add(offset))
    }

    fn contains(&self, address: Ipv4Addr) -> bool {
        let offset = u32::from(address).checked_sub(u32::from(self.network));
        offset.is_some_and(|offset| (1..=self.count()).contains(&offset))
    }
}

#[cfg(test)]
mod tests;
