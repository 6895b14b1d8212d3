//! What claims may say about the devices that they ask for. The expressions of selectors are not
//! compiled, so whatever they say is taken.

use kubist_api::resource::v1::{
    DeviceClaim, DeviceClaimConfiguration, DeviceConstraint, DeviceRequest, DeviceSelector,
    DeviceSubRequest, DeviceToleration, ExactDeviceRequest,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeSet;

use super::rules::{self, Errors};

/// Requests, constraints, configurations, selectors of a request, names in a constraint.
const ITEMS_MAX: usize = 32;
/// Alternatives of a request.
const ALTERNATIVES_MAX: usize = 8;
/// Tolerations of a request.
const TOLERATIONS_MAX: usize = 16;

/// Checks what a claim asks for.
pub(super) fn check(errors: &mut Errors, claim: &DeviceClaim, path: &FieldPath) {
    let at = path.child("requests");
    let twice = rules::repeats(claim.requests.iter().map(|it| &it.name));
    for ((index, request), twice) in claim.requests.iter().enumerate().zip(twice) {
        let path = at.index(index);
        check_request(errors, request, &path);
        if twice {
            errors.push(FieldError::duplicate(&path, &request.name));
        }
    }
    check_count(errors, claim.requests.len(), ITEMS_MAX, &at);
    let names = names(claim);
    let at = path.child("constraints");
    for (index, constraint) in claim.constraints.iter().enumerate() {
        check_constraint(errors, constraint, &names, &at.index(index));
    }
    check_count(errors, claim.constraints.len(), ITEMS_MAX, &at);
    let at = path.child("config");
    for (index, configuration) in claim.config.iter().enumerate() {
        check_configuration(errors, configuration, &names, &at.index(index));
    }
    check_count(errors, claim.config.len(), ITEMS_MAX, &at);
}

/// The names that constraints and configurations know requests by.
fn names(claim: &DeviceClaim) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for request in &claim.requests {
        names.insert(request.name.to_string());
        for one in &request.first_available {
            names.insert(format!("{}/{}", request.name, one.name));
        }
    }
    names
}

fn check_count(errors: &mut Errors, count: usize, max: usize, path: &FieldPath) {
    if count > max {
        errors.push(FieldError::too_many(path, Some(count), max));
    }
}

fn check_request(errors: &mut Errors, request: &DeviceRequest, path: &FieldPath) {
    check_label(errors, &request.name, &path.child("name"));
    let alternatives = &request.first_available;
    match &request.exactly {
        Some(exactly) if alternatives.is_empty() => {
            check_exact(errors, exactly, &path.child("exactly"));
        }
        Some(_) => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple \
                          fields are set";
            errors.push(FieldError::invalid(path, BadValue::null(), detail));
        }
        None if alternatives.is_empty() => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required";
            errors.push(FieldError::required(path, detail));
        }
        None => {
            let at = path.child("firstAvailable");
            let twice = rules::repeats(alternatives.iter().map(|it| &it.name));
            for ((index, one), twice) in alternatives.iter().enumerate().zip(twice) {
                let path = at.index(index);
                check_alternative(errors, one, &path);
                if twice {
                    errors.push(FieldError::duplicate(&path, &one.name));
                }
            }
            check_count(errors, alternatives.len(), ALTERNATIVES_MAX, &at);
        }
    }
}

fn check_label(errors: &mut Errors, name: &str, path: &FieldPath) {
    rules::text(errors, name, path, validate_name::dns1123_label);
}

fn check_exact(errors: &mut Errors, request: &ExactDeviceRequest, path: &FieldPath) {
    check_class(errors, &request.device_class_name, path);
    check_selectors(errors, &request.selectors, path);
    check_amount(errors, &request.allocation_mode, request.count, path);
    check_tolerations(errors, &request.tolerations, path);
}

fn check_alternative(errors: &mut Errors, request: &DeviceSubRequest, path: &FieldPath) {
    check_label(errors, &request.name, &path.child("name"));
    check_class(errors, &request.device_class_name, path);
    check_selectors(errors, &request.selectors, path);
    check_amount(errors, &request.allocation_mode, request.count, path);
    check_tolerations(errors, &request.tolerations, path);
}

fn check_class(errors: &mut Errors, name: &str, path: &FieldPath) {
    let path = path.child("deviceClassName");
    if rules::required(errors, name, &path) {
        rules::text(errors, name, &path, validate_name::dns1123_subdomain);
    }
}

fn check_selectors(errors: &mut Errors, selectors: &[DeviceSelector], path: &FieldPath) {
    let path = path.child("selectors");
    for (index, selector) in selectors.iter().enumerate() {
        if selector.cel.is_none() {
            let path = path.index(index).child("cel");
            errors.push(FieldError::required(&path, ""));
        }
    }
    check_count(errors, selectors.len(), ITEMS_MAX, &path);
}

fn check_amount(errors: &mut Errors, mode: &str, count: i64, path: &FieldPath) {
    let at = path.child("count");
    match mode {
        "All" if count != 0 => {
            let detail = "must not be specified when allocationMode is 'All'";
            errors.push(FieldError::invalid(&at, count, detail));
        }
        "ExactCount" if count <= 0 => {
            errors.push(FieldError::invalid(&at, count, "must be greater than zero"));
        }
        "All" | "ExactCount" => {}
        other => {
            let modes = ["All", "ExactCount"];
            rules::one_of(errors, other, &modes, &path.child("allocationMode"));
        }
    }
}

fn check_tolerations(errors: &mut Errors, all: &[DeviceToleration], path: &FieldPath) {
    let path = path.child("tolerations");
    for (index, toleration) in all.iter().enumerate() {
        let path = path.index(index);
        let (key, value) = (&toleration.key, &toleration.value);
        if !key.is_empty() {
            let at = path.child("key");
            rules::text(errors, key, &at, validate_name::qualified_name);
        }
        let at = path.child("value");
        match toleration.operator.as_str() {
            "Exists" if !value.is_empty() => {
                let detail = "must be empty for operator `Exists`";
                errors.push(FieldError::invalid(&at, value, detail));
            }
            "Exists" => {}
            "Equal" => rules::text(errors, value, &at, validate_name::label_value),
            other => {
                let operators = ["Equal", "Exists"];
                rules::word(errors, other, &operators, &path.child("operator"));
            }
        }
        if !toleration.effect.is_empty() {
            let effects = ["NoExecute", "NoSchedule", "None"];
            rules::one_of(errors, &toleration.effect, &effects, &path.child("effect"));
        }
    }
    check_count(errors, all.len(), TOLERATIONS_MAX, &path);
}

fn check_names(errors: &mut Errors, found: &[Str], known: &BTreeSet<String>, path: &FieldPath) {
    let path = path.child("requests");
    for ((index, name), twice) in found.iter().enumerate().zip(rules::repeats(found)) {
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
    check_count(errors, found.len(), ITEMS_MAX, &path);
}

fn check_constraint(
    errors: &mut Errors,
    constraint: &DeviceConstraint,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    check_names(errors, &constraint.requests, known, path);
    match (&constraint.match_attribute, &constraint.distinct_attribute) {
        (Some(name), None) => check_attribute(errors, name, &path.child("matchAttribute")),
        (None, Some(name)) => check_attribute(errors, name, &path.child("distinctAttribute")),
        (None, None) | (Some(_), Some(_)) => {
            // Upstream says so of either.
            let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, \
                          but multiple fields are set";
            errors.push(FieldError::required(path, detail));
        }
    }
}

/// A domain, a slash and an identifier.
fn check_attribute(errors: &mut Errors, name: &str, path: &FieldPath) {
    if !rules::required(errors, name, path) {
        return;
    }
    let Some((domain, identifier)) = name.split_once('/') else {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.push(FieldError::invalid(path, name, detail));
        return;
    };
    rules::text(errors, domain, path, validate_name::dns1123_subdomain);
    rules::text(errors, identifier, path, validate_name::c_identifier);
}

fn check_configuration(
    errors: &mut Errors,
    configuration: &DeviceClaimConfiguration,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    check_names(errors, &configuration.requests, known, path);
    let path = path.child("opaque");
    let Some(opaque) = &configuration.opaque else {
        errors.push(FieldError::required(&path, ""));
        return;
    };
    rules::csi_driver_name(errors, &opaque.driver, &path.child("driver"));
    let raw: &[u8] = &opaque.parameters.raw;
    let path = path.child("parameters");
    if raw.is_empty() {
        errors.push(FieldError::required(&path, ""));
    } else if !raw.trim_ascii_start().starts_with(b"{") {
        let detail = "must be a valid JSON object";
        errors.push(FieldError::invalid(&path, "<value omitted>", detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{DecodeContext, merge_json};

    fn found(json: &str) -> Vec<String> {
        let mut claim = DeviceClaim::default();
        let mut cx = DecodeContext::new();
        merge_json(&mut claim, json.as_bytes(), &mut cx).expect("it decodes");
        let mut errors = Vec::new();
        check(&mut errors, &claim, &FieldPath::new("devices"));
        errors.iter().map(ToString::to_string).collect()
    }

    const GOOD: &str = r#"{"name":"a","exactly":{"deviceClassName":"c","allocationMode":"All"}}"#;

    #[test]
    fn a_request_is_for_devices_of_one_class_or_for_the_first_of_some() {
        assert_eq!(found(&format!(r#"{{"requests":[{GOOD}]}}"#)), [""; 0]);
        for (request, expected) in [
            (
                r#"{"name":"a"}"#,
                "devices.requests[0]: Required value: exactly one of `exactly` or \
                 `firstAvailable` is required",
            ),
            (
                r#"{"name":"a","exactly":{},"firstAvailable":[{}]}"#,
                "devices.requests[0]: Invalid value: null: exactly one of `exactly` or \
                 `firstAvailable` is required, but multiple fields are set",
            ),
            (
                r#"{"name":"a","exactly":{"allocationMode":"All"}}"#,
                "devices.requests[0].exactly.deviceClassName: Required value",
            ),
            (
                r#"{"name":"a","exactly":{"deviceClassName":"c","allocationMode":"All","count":2}}"#,
                "devices.requests[0].exactly.count: Invalid value: 2: must not be specified when \
                 allocationMode is 'All'",
            ),
            (
                r#"{"name":"a","exactly":{"deviceClassName":"c","allocationMode":"x"}}"#,
                "devices.requests[0].exactly.allocationMode: Unsupported value: \"x\": supported \
                 values: \"All\", \"ExactCount\"",
            ),
        ] {
            assert_eq!(found(&format!(r#"{{"requests":[{request}]}}"#)), [expected]);
        }
        let twice = found(&format!(r#"{{"requests":[{GOOD},{GOOD}]}}"#));
        assert_eq!(twice, ["devices.requests[1]: Duplicate value: \"a\""]);
    }

    #[test]
    fn constraints_and_configurations_are_for_requests_that_there_are() {
        let json = format!(
            r#"{{"requests":[{GOOD}],"constraints":[{{"requests":["a","b"],"matchAttribute":"x"}}],
                "config":[{{}},{{"opaque":{{"driver":"d","parameters":[1]}}}}]}}"#
        );
        assert_eq!(
            found(&json),
            [
                "devices.constraints[0].requests[1]: Invalid value: \"b\": must be the name of a \
                 request in the claim or the name of a request and a subrequest separated by '/'",
                "devices.constraints[0].matchAttribute: Invalid value: \"x\": a fully qualified \
                 name must be a domain and a name separated by a slash",
                "devices.config[0].opaque: Required value",
                "devices.config[1].opaque.parameters: Invalid value: \"<value omitted>\": must be \
                 a valid JSON object",
            ]
        );
    }
}
