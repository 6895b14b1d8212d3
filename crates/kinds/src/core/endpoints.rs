//! Endpoints, which EndpointSlices supersede.

use crate::shared::rules::{self, Errors};
use crate::shared::{self, address_warnings, fill, metadata_checks};
use kubist_api::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use kubist_registry::{KindStrategy, StrategyFacts};

#[derive(Debug)]
pub(crate) struct EndpointsOfServices;

impl KindStrategy for EndpointsOfServices {
    type Kind = Endpoints;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        allow_create_on_update: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut Endpoints) {
        for port in object
            .subsets
            .iter_mut()
            .flat_map(|subset| &mut subset.ports)
        {
            fill::text(&mut port.protocol, "TCP");
        }
    }
    fn warnings(&self, new: &Endpoints, _: Option<&Endpoints>) -> Vec<String> {
        let path = FieldPath::new("subsets");
        let mut found = Vec::new();
        for (index, subset) in new.subsets.iter().enumerate() {
            let path = path.index(index);
            for (name, addresses) in [
                ("addresses", &subset.addresses),
                ("notReadyAddresses", &subset.not_ready_addresses),
            ] {
                for (index, it) in addresses.iter().enumerate() {
                    let path = path.child(name).index(index).child("ip");
                    address_warnings::ip(&mut found, &it.ip, &path);
                }
            }
        }
        found
    }
    fn validate(&self, new: &Endpoints) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (index, subset) in new.subsets.iter().enumerate() {
            let path = FieldPath::new("subsets").index(index);
            check_subset(&mut errors, subset, &path);
        }
        errors
    }
    fn validate_update(&self, new: &Endpoints, old: &Endpoints) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        // Stored subsets that violate newer rules may stay.
        if new.subsets != old.subsets {
            errors.extend(self.validate(new));
        }
        errors
    }
}

fn check_subset(errors: &mut Errors, subset: &EndpointSubset, path: &FieldPath) {
    if subset.addresses.is_empty() && subset.not_ready_addresses.is_empty() {
        let detail = "must specify `addresses` or `notReadyAddresses`";
        errors.push(FieldError::required(path, detail));
    }
    for (name, addresses) in [
        ("addresses", &subset.addresses),
        ("notReadyAddresses", &subset.not_ready_addresses),
    ] {
        for (index, address) in addresses.iter().enumerate() {
            check_address(errors, address, &path.child(name).index(index));
        }
    }
    let named = subset.ports.len() > 1;
    for (index, port) in subset.ports.iter().enumerate() {
        check_port(errors, port, named, &path.child("ports").index(index));
    }
}

fn check_address(errors: &mut Errors, address: &EndpointAddress, path: &FieldPath) {
    let at = path.child("ip");
    shared::addresses::ip(errors, &address.ip, &at);
    if !address.hostname.is_empty() {
        let (path, rule) = (path.child("hostname"), validate_name::dns1123_label);
        rules::text(errors, &address.hostname, &path, rule);
    }
    if let Some(node) = &address.node_name {
        let (path, rule) = (path.child("nodeName"), validate_name::dns1123_subdomain);
        rules::text(errors, node, &path, rule);
    }
    shared::addresses::endpoint(errors, &address.ip, &at);
}

fn check_port(errors: &mut Errors, port: &EndpointPort, named: bool, path: &FieldPath) {
    let at = path.child("name");
    if named && port.name.is_empty() {
        errors.push(FieldError::required(&at, ""));
    } else if !port.name.is_empty() {
        rules::text(errors, &port.name, &at, validate_name::dns1123_label);
    }
    rules::port_number(errors, port.port, &path.child("port"));
    let at = path.child("protocol");
    match port.protocol.as_str() {
        "" => errors.push(FieldError::required(&at, "")),
        protocol => rules::one_of(errors, protocol, &["SCTP", "TCP", "UDP"], &at),
    }
    if let Some(protocol) = &port.app_protocol {
        let (path, rule) = (path.child("appProtocol"), validate_name::qualified_name);
        rules::text(errors, protocol, &path, rule);
    }
}
