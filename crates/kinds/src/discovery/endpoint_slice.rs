//! EndpointSlices.

use crate::shared::rules::{self, Errors};
use crate::shared::{self, fill};
use kubist_api::discovery::v1::{Endpoint, EndpointPort, EndpointSlice};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use kubist_registry::{Generation, KindStrategy, MetadataUpdate, StrategyFacts};

#[derive(Debug)]
pub(crate) struct EndpointSlices;

/// The maximum number of endpoints in a slice.
const ENDPOINTS_MAX: usize = 1_000;
/// The maximum number of addresses of an endpoint.
const ADDRESSES_MAX: usize = 100;
const PORTS_MAX: usize = 20_000;
/// The maximum number of zone or node hints of an endpoint.
const HINTS_MAX: usize = 8;

impl KindStrategy for EndpointSlices {
    type Kind = EndpointSlice;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        generation: Generation::SpecAndLabels,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut EndpointSlice) {
        for port in &mut object.ports {
            fill::option(&mut port.name, "");
            fill::option(&mut port.protocol, "TCP");
        }
    }
    fn warnings(&self, new: &EndpointSlice, old: Option<&EndpointSlice>) -> Vec<String> {
        if old.is_some() || new.address_type != "FQDN" {
            return Vec::new();
        }
        vec!["spec.addressType: FQDN endpoints are deprecated".to_owned()]
    }
    fn validate(&self, new: &EndpointSlice) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("addressType");
        match new.address_type.as_str() {
            "" => errors.push(FieldError::required(&path, "")),
            kind => rules::one_of(&mut errors, kind, &["FQDN", "IPv4", "IPv6"], &path),
        }
        check_ports(&mut errors, &new.ports, &FieldPath::new("ports"));
        let path = FieldPath::new("endpoints");
        if at_most(&mut errors, new.endpoints.len(), ENDPOINTS_MAX, &path) {
            for (index, endpoint) in new.endpoints.iter().enumerate() {
                check_endpoint(&mut errors, new, endpoint, &path.index(index));
            }
        }
        errors
    }
    fn validate_update(&self, new: &EndpointSlice, old: &EndpointSlice) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let path = FieldPath::new("addressType");
        let types = (&new.address_type, &old.address_type);
        rules::immutable_value(&mut errors, types.0, types.1, &path, BadValue::json);
        errors
    }
}

/// Checks the length of a list, and reports whether it is valid.
fn at_most(errors: &mut Errors, count: usize, max: usize, path: &FieldPath) -> bool {
    if count > max {
        errors.push(FieldError::too_many(path, Some(count), max));
    }
    count <= max
}

fn check_endpoint(
    errors: &mut Errors,
    slice: &EndpointSlice,
    endpoint: &Endpoint,
    path: &FieldPath,
) {
    let at = path.child("addresses");
    if endpoint.addresses.is_empty() {
        let detail = "must contain at least 1 address";
        errors.push(FieldError::required(&at, detail));
    }
    if at_most(errors, endpoint.addresses.len(), ADDRESSES_MAX, &at) {
        for (index, address) in endpoint.addresses.iter().enumerate() {
            check_address(errors, slice, address, &at, &at.index(index));
        }
    }
    if let Some(node) = &endpoint.node_name {
        let rule = validate_name::dns1123_subdomain;
        rules::text(errors, node, &path.child("nodeName"), rule);
    }
    if let Some(hostname) = &endpoint.hostname {
        let rule = validate_name::dns1123_label;
        rules::text(errors, hostname, &path.child("hostname"), rule);
    }
    let Some(hints) = &endpoint.hints else {
        return;
    };
    let zones: Vec<&Str> = hints.for_zones.iter().map(|it| &it.name).collect();
    let nodes: Vec<&Str> = hints.for_nodes.iter().map(|it| &it.name).collect();
    let path = path.child("hints");
    check_hints(errors, &zones, &path.child("forZones"));
    check_hints(errors, &nodes, &path.child("forNodes"));
}

fn check_hints(errors: &mut Errors, names: &[&Str], path: &FieldPath) {
    if !at_most(errors, names.len(), HINTS_MAX, path) {
        return;
    }
    let twice = rules::repeats(names.iter());
    for ((index, name), twice) in names.iter().enumerate().zip(twice) {
        if twice {
            let path = path.index(index).child("name");
            errors.push(FieldError::duplicate(&path, *name));
        }
    }
}

fn check_ports(errors: &mut Errors, ports: &[EndpointPort], path: &FieldPath) {
    if !at_most(errors, ports.len(), PORTS_MAX, path) {
        return;
    }
    let name = |port: &EndpointPort| port.name.clone().unwrap_or_default();
    let twice = rules::repeats(ports.iter().map(name));
    for ((index, port), twice) in ports.iter().enumerate().zip(twice) {
        let path = path.index(index);
        let (name, at) = (name(port), path.child("name"));
        if !name.is_empty() {
            rules::text(errors, &name, &at, validate_name::dns1123_label);
        }
        if twice {
            errors.push(FieldError::duplicate(&at, &name));
        }
        let protocol = port.protocol.as_deref().unwrap_or_default();
        let supported = ["SCTP", "TCP", "UDP"];
        rules::one_of(errors, protocol, &supported, &path.child("protocol"));
        if let Some(protocol) = &port.app_protocol {
            let at = path.child("appProtocol");
            rules::text(errors, protocol, &at, validate_name::qualified_name);
        }
    }
}

fn check_address(
    errors: &mut Errors,
    slice: &EndpointSlice,
    address: &str,
    list: &FieldPath,
    path: &FieldPath,
) {
    let family = slice.address_type.as_str();
    if family == "FQDN" {
        rules::text(errors, address, path, validate_name::dns1123_subdomain);
        return;
    }
    let before = errors.len();
    let ip = match family {
        "IPv4" => shared::addresses::ip(errors, address, path),
        "IPv6" => shared::addresses::canonical_ip(errors, address, path),
        _ => return,
    };
    let Some(ip) = ip.filter(|_| errors.len() == before) else {
        return;
    };
    if ip.is_ipv4() != (family == "IPv4") {
        let detail = format!("must be an {family} address");
        errors.push(FieldError::invalid(list, address, detail));
    }
    shared::addresses::not_special(errors, ip, address, path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_have_names_of_their_own() {
        let mut slice = EndpointSlice {
            address_type: "IPv4".into(),
            ports: vec![EndpointPort::default(), EndpointPort::default()],
            ..EndpointSlice::default()
        };
        EndpointSlices.apply_defaults(&mut slice);
        let errors = EndpointSlices.validate(&slice);
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["ports[1].name: Duplicate value: \"\""]);
    }
}
