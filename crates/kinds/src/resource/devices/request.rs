//! Validation of the requests of a device claim.

use super::{EXACT_COUNT, at_most, check_selectors};
use crate::shared::rules::{self, Errors};
use kubist_api::resource::v1::{
    DeviceRequest, DeviceSelector, DeviceSubRequest, DeviceToleration, ExactDeviceRequest,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};

/// The allocation mode for all matching devices.
const ALL: &str = "All";
/// The maximum number of alternatives in a request. The first one that can be satisfied is used.
const ALTERNATIVES_MAX: usize = 8;

/// Checks a request: exactly one device class, or the first alternative that can be satisfied.
pub(super) fn check_request(errors: &mut Errors, request: &DeviceRequest, path: &FieldPath) {
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
