//! The node ports that a service requests, and the service ports that receive them.

use super::needs;
use super::ports::PortRequest;
use kubist_api::core::v1::Service;
use kubist_apimachinery::FieldPath;
use std::collections::{BTreeMap, BTreeSet};

/// A node port to allocate.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) request: PortRequest,
    /// The service ports that receive it; empty for the health check node port.
    ports: Vec<usize>,
}

impl Slot {
    /// Returns the field that requests the port.
    pub(super) fn path(&self) -> FieldPath {
        let spec = FieldPath::new("spec");
        match self.ports.first() {
            Some(at) => spec.child("ports").index(*at).child("nodePort"),
            None => spec.child("healthCheckNodePort"),
        }
    }

    pub(super) fn fill(&self, service: &mut Service, number: u16) {
        if self.ports.is_empty() {
            service.spec.health_check_node_port = i32::from(number);
        }
        for at in &self.ports {
            service.spec.ports[*at].node_port = i32::from(number);
        }
    }
}

/// Returns the node ports that `new` needs and `old` does not have.
pub(super) fn slots(new: &Service, old: Option<&Service>) -> Vec<Slot> {
    let mut slots = match old {
        _ if !needs::may_have_node_ports(new) => Vec::new(),
        None => of_new(new),
        Some(old) => of_changed(new, old),
    };
    if needs::health_check_port(new) {
        let wanted = new.spec.health_check_node_port;
        let has = old.is_some_and(|old| {
            needs::health_check_port(old) && old.spec.health_check_node_port == wanted
        });
        if wanted == 0 || !has {
            slots.push(Slot {
                request: request(wanted),
                ports: Vec::new(),
            });
        }
    }
    slots
}

fn request(number: i32) -> PortRequest {
    match number {
        0 => PortRequest::Any,
        number => PortRequest::Specific(number),
    }
}

/// Service ports with one number and different protocols share a node port, unless they specify
/// different ones.
fn of_new(service: &Service) -> Vec<Slot> {
    let ports = &service.spec.ports;
    let allocates = needs::node_ports(service);
    // A request may contain a very large number of ports, so each lookup must avoid a search.
    let mut named: BTreeMap<i32, i32> = BTreeMap::new();
    for port in ports.iter().filter(|it| it.node_port != 0) {
        named.entry(port.port).or_insert(port.node_port);
    }
    let mut slots: Vec<Slot> = Vec::new();
    let mut begun: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    for (at, port) in ports.iter().enumerate() {
        if port.node_port == 0 && !allocates {
            continue;
        }
        let wanted = match port.node_port {
            0 => named.get(&port.port).copied().unwrap_or_default(),
            number => number,
        };
        let slot = *begun.entry((port.port, wanted)).or_insert(slots.len());
        match slots.get_mut(slot) {
            Some(slot) => slot.ports.push(at),
            None => slots.push(Slot {
                request: request(wanted),
                ports: vec![at],
            }),
        }
    }
    slots
}

/// The service keeps a number that it already has, and several of its ports may share it.
fn of_changed(new: &Service, old: &Service) -> Vec<Slot> {
    let had: BTreeSet<i32> = old.spec.ports.iter().map(|it| it.node_port).collect();
    let allocates = needs::node_ports(new);
    let mut slots: Vec<Slot> = Vec::new();
    let mut named: BTreeMap<i32, usize> = BTreeMap::new();
    for (at, port) in new.spec.ports.iter().enumerate() {
        let number = port.node_port;
        if number == 0 && !allocates || number != 0 && had.contains(&number) {
            continue;
        }
        match named.get(&number) {
            Some(&slot) if number != 0 => {
                let slot: &mut Slot = &mut slots[slot];
                slot.ports.push(at);
            }
            _ => {
                named.insert(number, slots.len());
                slots.push(Slot {
                    request: request(number),
                    ports: vec![at],
                });
            }
        }
    }
    slots
}
