//! Validation of device claims and device classes. CEL expressions are stored but not compiled.

use crate::shared::rules::{self, Errors};
use kubist_api::resource::v1::{
    DeviceClaim, DeviceClaimConfiguration, DeviceConstraint, DeviceRequest, DeviceSelector,
    DeviceSubRequest, DeviceToleration, ExactDeviceRequest, OpaqueDeviceConfiguration,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The allocation mode for an exact number of devices.
pub(crate) const EXACT_COUNT: &str = "ExactCount";
/// The allocation mode for all matching devices.
const ALL: &str = "All";
/// The maximum number of items in each list.
const ITEMS_MAX: usize = 32;
/// The maximum number of alternatives in a request. The first one that can be satisfied is used.
const ALTERNATIVES_MAX: usize = 8;
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

fn at_most(errors: &mut Errors, count: usize, max: usize, path: &FieldPath) {
    if count > max {
        errors.push(FieldError::too_many(path, Some(count), max));
    }
}

/// Returns the request names that constraints and configurations can refer to.
fn names(claim: &DeviceClaim) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for request in &claim.requests {
        names.insert(request.name.to_string());
        let alternatives = request.first_available.iter();
        names.extend(alternatives.map(|it| format!("{}/{}", request.name, it.name)));
    }
    names
}

fn check_request(errors: &mut Errors, request: &DeviceRequest, path: &FieldPath) {
    let at = path.child("name");
    rules::text(errors, &request.name, &at, validate_name::dns1123_label);
    let choice = "exactly one of `exactly` or `firstAvailable` is required";
    match &request.exactly {
        Some(_) if !request.first_available.is_empty() => {
            let detail = format!("{choice}, but multiple fields are set");
            errors.push(FieldError::invalid(path, BadValue::null(), detail));
        }
        Some(exactly) => check_request_fields(
            errors,
            &RequestFields::exactly(exactly),
            &path.child("exactly"),
        ),
        None if request.first_available.is_empty() => {
            errors.push(FieldError::required(path, choice));
        }
        None => check_alternatives(
            errors,
            &request.first_available,
            &path.child("firstAvailable"),
        ),
    }
}

fn check_alternatives(errors: &mut Errors, all: &[DeviceSubRequest], path: &FieldPath) {
    at_most(errors, all.len(), ALTERNATIVES_MAX, path);
    let twice = rules::repeats(all.iter().map(|it| &it.name));
    for ((index, one), twice) in all.iter().enumerate().zip(twice) {
        let path = path.index(index);
        let at = path.child("name");
        rules::text(errors, &one.name, &at, validate_name::dns1123_label);
        check_request_fields(errors, &RequestFields::one_of_several(one), &path);
        if twice {
            errors.push(FieldError::duplicate(&path, &one.name));
        }
    }
}

/// The fields that both forms of a request share.
struct RequestFields<'a> {
    class: &'a str,
    selectors: &'a [DeviceSelector],
    mode: &'a str,
    count: i64,
    tolerations: &'a [DeviceToleration],
}

impl<'a> RequestFields<'a> {
    fn exactly(it: &'a ExactDeviceRequest) -> Self {
        Self {
            class: &it.device_class_name,
            selectors: &it.selectors,
            mode: &it.allocation_mode,
            count: it.count,
            tolerations: &it.tolerations,
        }
    }

    fn one_of_several(it: &'a DeviceSubRequest) -> Self {
        Self {
            class: &it.device_class_name,
            selectors: &it.selectors,
            mode: &it.allocation_mode,
            count: it.count,
            tolerations: &it.tolerations,
        }
    }
}

fn check_request_fields(errors: &mut Errors, fields: &RequestFields<'_>, path: &FieldPath) {
    let at = path.child("deviceClassName");
    if rules::required(errors, fields.class, &at) {
        rules::text(errors, fields.class, &at, validate_name::dns1123_subdomain);
    }
    check_selectors(errors, fields.selectors, &path.child("selectors"));
    let at = path.child("count");
    match fields.mode {
        EXACT_COUNT if fields.count <= 0 => {
            let detail = "must be greater than zero";
            errors.push(FieldError::invalid(&at, fields.count, detail));
        }
        ALL if fields.count != 0 => {
            let detail = format!("must not be specified when allocationMode is '{ALL}'");
            errors.push(FieldError::invalid(&at, fields.count, detail));
        }
        EXACT_COUNT | ALL => {}
        other => {
            let at = path.child("allocationMode");
            rules::one_of(errors, other, &[ALL, EXACT_COUNT], &at);
        }
    }
    for (index, toleration) in fields.tolerations.iter().enumerate() {
        check_toleration(errors, toleration, &path.child("tolerations").index(index));
    }
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

fn check_toleration(errors: &mut Errors, toleration: &DeviceToleration, path: &FieldPath) {
    if !toleration.key.is_empty() {
        let at = path.child("key");
        rules::text(errors, &toleration.key, &at, validate_name::qualified_name);
    }
    let (value, at) = (toleration.value.as_str(), path.child("value"));
    match toleration.operator.as_str() {
        "Exists" if !value.is_empty() => {
            let detail = "must be empty for operator `Exists`";
            errors.push(FieldError::invalid(&at, value, detail));
        }
        "Exists" => {}
        "Equal" => rules::text(errors, value, &at, validate_name::label_value),
        other => {
            let at = path.child("operator");
            rules::one_of(errors, other, &["Equal", "Exists"], &at);
        }
    }
    if !toleration.effect.is_empty() {
        let effects = ["NoExecute", "NoSchedule", "None"];
        let at = path.child("effect");
        rules::one_of(errors, &toleration.effect, &effects, &at);
    }
}

/// Checks the requests that a constraint or a configuration refers to.
fn check_names(errors: &mut Errors, used: &[Str], known: &BTreeSet<String>, path: &FieldPath) {
    at_most(errors, used.len(), ITEMS_MAX, path);
    let twice = rules::repeats(used);
    for ((index, name), twice) in used.iter().enumerate().zip(twice) {
        let path = path.index(index);
        if !known.contains(name.as_str()) {
            let detail = "must be the name of a request in the claim or the name of a request and \
                          a subrequest separated by '/'";
            errors.push(FieldError::invalid(&path, name, detail));
        }
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

fn check_opaque(errors: &mut Errors, opaque: Option<&OpaqueDeviceConfiguration>, path: &FieldPath) {
    let Some(opaque) = opaque else {
        errors.push(FieldError::required(path, ""));
        return;
    };
    let at = path.child("driver");
    if rules::required(errors, &opaque.driver, &at) {
        check_domain(errors, &opaque.driver, &at);
    }
    let (at, raw) = (path.child("parameters"), &opaque.parameters.raw.0);
    if raw.is_empty() || raw.as_slice() == b"null" {
        errors.push(FieldError::required(&at, ""));
    } else if raw.len() > PARAMETERS_BYTES_MAX {
        errors.push(FieldError::too_long(&at, PARAMETERS_BYTES_MAX));
    } else if serde_json::from_slice::<Map<String, Value>>(raw).is_err() {
        let detail = "must be a valid JSON object";
        errors.push(FieldError::invalid(&at, "<value omitted>", detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
