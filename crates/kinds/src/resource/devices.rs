//! Validation of device claims and device classes. CEL expressions are stored but not compiled.

mod request;

use self::request::check_request;
use crate::shared::rules::{self, Errors};
use kubist_api::resource::v1::{
    DeviceClaim, DeviceClaimConfiguration, DeviceConstraint, DeviceSelector,
    OpaqueDeviceConfiguration,
};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The allocation mode for an exact number of devices.
pub(crate) const EXACT_COUNT: &str = "ExactCount";
/// The maximum number of items in each list.
const ITEMS_MAX: usize = 32;
const EXPRESSION_BYTES_MAX: usize = 10 << 10;
const PARAMETERS_BYTES_MAX: usize = 10 << 10;
const DOMAIN_BYTES_MAX: usize = 63;
const IDENTIFIER_BYTES_MAX: usize = 32;

/// Checks a device claim.
pub(crate) fn check_claim(errors: &mut Errors, claim: &DeviceClaim, path: &FieldPath) {
    let at = path.child("requests");
    at_most(errors, claim.requests.len(), ITEMS_MAX, &at);
    let twice = rules::repeats(claim.requests.iter().map(|it| &it.name));
    for ((index, request), twice) in claim.requests.iter().enumerate().zip(twice) {
        check_request(errors, request, &at.index(index));
        if twice {
            errors.push(FieldError::duplicate(&at.index(index), &request.name));
        }
    }
    let names = names(claim);
    let at = path.child("constraints");
    at_most(errors, claim.constraints.len(), ITEMS_MAX, &at);
    for (index, constraint) in claim.constraints.iter().enumerate() {
        check_constraint(errors, constraint, &names, &at.index(index));
    }
    let at = path.child("config");
    at_most(errors, claim.config.len(), ITEMS_MAX, &at);
    for (index, config) in claim.config.iter().enumerate() {
        check_config(errors, config, &names, &at.index(index));
    }
}

pub(super) fn at_most(errors: &mut Errors, count: usize, max: usize, path: &FieldPath) {
    if count > max {
        errors.push(FieldError::too_many(path, Some(count), max));
    }
}

/// Returns the request names that constraints and configurations can refer to.
pub(super) fn names(claim: &DeviceClaim) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for request in &claim.requests {
        names.insert(request.name.to_string());
        let alternatives = request.first_available.iter();
        names.extend(alternatives.map(|it| format!("{}/{}", request.name, it.name)));
    }
    names
}

/// Checks device selectors.
pub(crate) fn check_selectors(errors: &mut Errors, all: &[DeviceSelector], path: &FieldPath) {
    at_most(errors, all.len(), ITEMS_MAX, path);
    for (index, selector) in all.iter().enumerate() {
        let path = path.index(index).child("cel");
        match &selector.cel {
            None => errors.push(FieldError::required(&path, "")),
            Some(cel) if cel.expression.len() > EXPRESSION_BYTES_MAX => {
                let path = path.child("expression");
                errors.push(FieldError::too_long(&path, EXPRESSION_BYTES_MAX));
            }
            Some(_) => {}
        }
    }
}

/// Checks the name of a request of the claim, or of one of its alternatives.
pub(super) fn check_request_name(
    errors: &mut Errors,
    name: &str,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    let parts: Vec<&str> = name.splitn(3, '/').collect();
    if parts.len() < 3 {
        for part in parts {
            rules::text(errors, part, path, validate_name::dns1123_label);
        }
    }
    if !known.contains(name) {
        let detail = "must be the name of a request in the claim or the name of a request and a \
                      subrequest separated by '/'";
        errors.push(FieldError::invalid(path, name, detail));
    }
}

/// Checks the requests that a constraint or a configuration refers to.
pub(super) fn check_names(
    errors: &mut Errors,
    used: &[Str],
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    at_most(errors, used.len(), ITEMS_MAX, path);
    let twice = rules::repeats(used);
    for ((index, name), twice) in used.iter().enumerate().zip(twice) {
        let path = path.index(index);
        check_request_name(errors, name, known, &path);
        if twice {
            errors.push(FieldError::duplicate(&path, name));
        }
    }
}

fn check_constraint(
    errors: &mut Errors,
    constraint: &DeviceConstraint,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    check_names(errors, &constraint.requests, known, &path.child("requests"));
    if let Some(attribute) = &constraint.match_attribute {
        check_attribute(errors, attribute, &path.child("matchAttribute"));
    } else if let Some(attribute) = &constraint.distinct_attribute {
        check_attribute(errors, attribute, &path.child("distinctAttribute"));
    } else {
        let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but \
                      multiple fields are set";
        errors.push(FieldError::required(path, detail));
    }
}

/// Checks an attribute name: a domain and an identifier. Upstream checks neither if there are more
/// slashes.
fn check_attribute(errors: &mut Errors, name: &str, path: &FieldPath) {
    let parts: Vec<&str> = name.splitn(3, '/').collect();
    match parts.as_slice() {
        [identifier] => {
            check_identifier(errors, identifier, path);
            let detail = "a fully qualified name must be a domain and a name separated by a slash";
            errors.push(FieldError::invalid(path, name, detail));
        }
        [domain, identifier] => {
            if domain.is_empty() {
                let detail = "the domain must not be empty";
                errors.push(FieldError::invalid(path, "", detail));
            } else {
                check_domain(errors, domain, path);
            }
            if identifier.is_empty() {
                let detail = "the name must not be empty";
                errors.push(FieldError::invalid(path, "", detail));
            } else {
                check_identifier(errors, identifier, path);
            }
        }
        _ => {}
    }
}

fn check_identifier(errors: &mut Errors, name: &str, path: &FieldPath) {
    if name.len() > IDENTIFIER_BYTES_MAX {
        errors.push(FieldError::too_long(path, IDENTIFIER_BYTES_MAX));
    }
    rules::text(errors, name, path, validate_name::c_identifier);
}

/// Checks a driver name or the domain of an attribute, in any letter case.
fn check_domain(errors: &mut Errors, name: &str, path: &FieldPath) {
    if name.len() > DOMAIN_BYTES_MAX {
        errors.push(FieldError::too_long(path, DOMAIN_BYTES_MAX));
    }
    let problems = validate_name::dns1123_subdomain(&name.to_lowercase());
    let wrong = |it| FieldError::invalid(path, name, it);
    errors.extend(problems.into_iter().map(wrong));
}

fn check_config(
    errors: &mut Errors,
    config: &DeviceClaimConfiguration,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    check_names(errors, &config.requests, known, &path.child("requests"));
    check_opaque(errors, config.opaque.as_deref(), &path.child("opaque"));
}

/// Checks the configurations of a class.
pub(crate) fn check_configs<'a>(
    errors: &mut Errors,
    all: impl ExactSizeIterator<Item = Option<&'a OpaqueDeviceConfiguration>>,
    path: &FieldPath,
) {
    at_most(errors, all.len(), ITEMS_MAX, path);
    for (index, opaque) in all.enumerate() {
        check_opaque(errors, opaque, &path.index(index).child("opaque"));
    }
}

pub(super) fn check_opaque(
    errors: &mut Errors,
    opaque: Option<&OpaqueDeviceConfiguration>,
    path: &FieldPath,
) {
    let Some(opaque) = opaque else {
        errors.push(FieldError::required(path, ""));
        return;
    };
    let at = path.child("driver");
    if rules::required(errors, &opaque.driver, &at) {
        check_domain(errors, &opaque.driver, &at);
    }
    check_raw(errors, &opaque.parameters.raw.0, &path.child("parameters"));
}

/// Checks data of a driver: a JSON object.
pub(super) fn check_raw(errors: &mut Errors, raw: &[u8], path: &FieldPath) {
    if raw.is_empty() || raw == b"null" {
        errors.push(FieldError::required(path, ""));
    } else if raw.len() > PARAMETERS_BYTES_MAX {
        errors.push(FieldError::too_long(path, PARAMETERS_BYTES_MAX));
    } else if serde_json::from_slice::<Map<String, Value>>(raw).is_err() {
        let detail = "must be a valid JSON object";
        errors.push(FieldError::invalid(path, "<value omitted>", detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::resource::v1::{DeviceRequest, ExactDeviceRequest};

    fn problems(claim: &DeviceClaim) -> Vec<String> {
        let mut errors = Vec::new();
        check_claim(&mut errors, claim, &FieldPath::new("devices"));
        errors.iter().map(ToString::to_string).collect()
    }

    fn request(name: &str, class: &str) -> DeviceRequest {
        DeviceRequest {
            name: name.into(),
            exactly: Some(Box::new(ExactDeviceRequest {
                device_class_name: class.into(),
                allocation_mode: EXACT_COUNT.into(),
                count: 1,
                ..ExactDeviceRequest::default()
            })),
            ..DeviceRequest::default()
        }
    }

    #[test]
    fn a_request_asks_for_devices_of_one_class() {
        let mut claim = DeviceClaim {
            requests: vec![
                request("a", "c"),
                request("a", ""),
                DeviceRequest::default(),
            ],
            ..DeviceClaim::default()
        };
        let found = problems(&claim);
        assert_eq!(
            found[..2],
            [
                "devices.requests[1].exactly.deviceClassName: Required value",
                "devices.requests[1]: Duplicate value: \"a\"",
            ]
        );
        assert!(found[2].starts_with("devices.requests[2].name: Invalid value: \"\": "));
        assert_eq!(
            found[3..],
            [
                "devices.requests[2]: Required value: exactly one of `exactly` or \
                 `firstAvailable` is required"
            ]
        );
        claim.requests = vec![request("a", "c")];
        assert_eq!(problems(&claim), [""; 0]);
    }

    #[test]
    fn a_constraint_is_about_requests_that_there_are() {
        let attribute = |name: &str| DeviceConstraint {
            requests: vec!["a".into(), "b".into()],
            match_attribute: Some(name.into()),
            ..DeviceConstraint::default()
        };
        let claim = DeviceClaim {
            requests: vec![request("a", "c")],
            constraints: vec![attribute("example.com/numa"), attribute("numa")],
            ..DeviceClaim::default()
        };
        let unknown = "must be the name of a request in the claim or the name of a request and a \
                       subrequest separated by '/'";
        assert_eq!(
            problems(&claim),
            [
                format!("devices.constraints[0].requests[1]: Invalid value: \"b\": {unknown}"),
                format!("devices.constraints[1].requests[1]: Invalid value: \"b\": {unknown}"),
                "devices.constraints[1].matchAttribute: Invalid value: \"numa\": a fully qualified \
                 name must be a domain and a name separated by a slash"
                    .to_owned(),
            ]
        );
    }
}
