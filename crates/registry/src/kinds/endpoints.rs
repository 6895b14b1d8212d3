//! Endpoints, which EndpointSlices replace.

use crate::KindStrategy;
use kubist_api::core::v1::Endpoints;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

use super::rules;
use super::{address_rules, fill};

#[derive(Debug)]
pub(super) struct EndpointsOfServices;

impl KindStrategy for EndpointsOfServices {
    type Kind = Endpoints;

    fn apply_defaults(&self, object: &mut Endpoints) {
        for port in object
            .subsets
            .iter_mut()
            .flat_map(|subset| &mut subset.ports)
        {
            fill::text(&mut port.protocol, "TCP");
        }
    }
    fn validate(&self, new: &Endpoints) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (index, subset) in new.subsets.iter().enumerate() {
            let path = FieldPath::new("subsets").index(index);
            if subset.addresses.is_empty() && subset.not_ready_addresses.is_empty() {
                let detail = "must specify `addresses` or `notReadyAddresses`";
                errors.push(FieldError::required(&path, detail));
            }
            for (name, addresses) in [
                ("addresses", &subset.addresses),
                ("notReadyAddresses", &subset.not_ready_addresses),
            ] {
                for (index, address) in addresses.iter().enumerate() {
                    let path = path.child(name).index(index);
                    if !address.hostname.is_empty() {
                        let (path, rule) = (path.child("hostname"), validate_name::dns1123_label);
                        rules::text(&mut errors, &address.hostname, &path, rule);
                    }
                    if let Some(node) = &address.node_name {
                        let (path, rule) =
                            (path.child("nodeName"), validate_name::dns1123_subdomain);
                        rules::text(&mut errors, node, &path, rule);
                    }
                    let path = path.child("ip");
                    match address_rules::ip(&mut errors, &address.ip, &path) {
                        Some(ip) => {
                            address_rules::not_special(&mut errors, ip, &address.ip, &path);
                        }
                        // Upstream looks twice.
                        None => errors.push(FieldError::invalid(
                            &path,
                            &address.ip,
                            "must be a valid IP address",
                        )),
                    }
                }
            }
            let named = subset.ports.len() > 1;
            for (index, port) in subset.ports.iter().enumerate() {
                let path = path.child("ports").index(index);
                if named && port.name.is_empty() {
                    errors.push(FieldError::required(&path.child("name"), ""));
                } else if !port.name.is_empty() {
                    let path = path.child("name");
                    rules::text(&mut errors, &port.name, &path, validate_name::dns1123_label);
                }
                rules::port_number(&mut errors, port.port, &path.child("port"));
                if let Some(protocol) = &port.app_protocol {
                    let (path, rule) = (path.child("appProtocol"), validate_name::qualified_name);
                    rules::text(&mut errors, protocol, &path, rule);
                }
                let supported = ["SCTP", "TCP", "UDP"];
                rules::one_of(
                    &mut errors,
                    &port.protocol,
                    &supported,
                    &path.child("protocol"),
                );
            }
        }
        errors
    }
    fn allow_create_on_update(&self) -> bool {
        true
    }
}
