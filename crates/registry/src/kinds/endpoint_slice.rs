//! EndpointSlices.

use crate::{Generation, KindStrategy};
use kubist_api::discovery::v1::EndpointSlice;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

use super::rules::{self, Errors};
use super::{address_rules, fill, metadata_checks};

#[derive(Debug)]
pub(super) struct EndpointSlices;

impl KindStrategy for EndpointSlices {
    type Kind = EndpointSlice;

    fn apply_defaults(&self, object: &mut EndpointSlice) {
        for port in &mut object.ports {
            fill::option(&mut port.name, "");
            fill::option(&mut port.protocol, "TCP");
        }
    }
    fn validate(&self, new: &EndpointSlice) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("addressType");
        match new.address_type.as_str() {
            "" => errors.push(FieldError::required(&path, "")),
            kind => rules::one_of(&mut errors, kind, &["FQDN", "IPv4", "IPv6"], &path),
        }
        for (index, endpoint) in new.endpoints.iter().enumerate() {
            let path = FieldPath::new("endpoints").index(index).child("addresses");
            if endpoint.addresses.is_empty() {
                let detail = "must contain at least 1 address";
                errors.push(FieldError::required(&path, detail));
            }
            for (index, address) in endpoint.addresses.iter().enumerate() {
                check_address(&mut errors, new, address, &path, &path.index(index));
            }
        }
        let path = FieldPath::new("ports");
        for (index, port) in new.ports.iter().enumerate() {
            let path = path.index(index);
            if let Some(name) = port.name.as_ref().filter(|name| !name.is_empty()) {
                let path = path.child("name");
                rules::text(&mut errors, name, &path, validate_name::dns1123_label);
            }
            let protocol = port.protocol.as_deref().unwrap_or_default();
            let supported = ["SCTP", "TCP", "UDP"];
            rules::one_of(&mut errors, protocol, &supported, &path.child("protocol"));
        }
        errors
    }
    fn validate_update(&self, new: &EndpointSlice, old: &EndpointSlice) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        errors.extend(self.validate(new));
        let path = FieldPath::new("addressType");
        let types = (&new.address_type, &old.address_type);
        rules::immutable_value(&mut errors, types.0, types.1, &path, Into::into);
        errors
    }
    fn checks_metadata(&self) -> bool {
        true
    }
    fn generation(&self) -> Generation {
        Generation::SpecAndLabels
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
        "IPv4" => address_rules::ip(errors, address, path),
        "IPv6" => address_rules::canonical_ip(errors, address, path),
        _ => return,
    };
    let Some(ip) = ip.filter(|_| errors.len() == before) else {
        return;
    };
    if ip.is_ipv4() != (family == "IPv4") {
        let detail = format!("must be an {family} address");
        errors.push(FieldError::invalid(list, address, detail));
    }
    address_rules::not_special(errors, ip, address, path);
}
