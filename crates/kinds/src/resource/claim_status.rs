//! The status of ResourceClaims: which devices are allocated, to whom, and what drivers say of
//! them.
//!
//! Not here are upstream's questions to the authorizer about single parts of the status.

use super::device_names::{DeviceId, check_pool, check_share};
use super::devices::{at_most, check_names, check_opaque, check_raw, check_request_name, names};
use crate::pod_spec::affinity::check_node_selector;
use crate::shared::rules::{self, Errors};
use crate::shared::{conditions, go_struct};
use kubist_api::resource::v1::{
    AllocatedDeviceStatus, AllocationResult, DeviceAllocationConfiguration,
    DeviceRequestAllocationResult, NetworkDeviceData, ResourceClaim, ResourceClaimStatus,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use kubist_registry::{KindStrategy, RequestContext};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The maximum number of users of a claim.
const USERS_MAX: usize = 256;
/// The maximum number of allocated devices.
const RESULTS_MAX: usize = 32;
/// The maximum number of configurations: those of the class and of the claim.
const CONFIGS_MAX: usize = 64;
/// The maximum number of conditions that a device is bound by, and fails by.
const BINDING_MAX: usize = 4;
/// The maximum number of conditions of a device.
const CONDITIONS_MAX: usize = 8;
/// The maximum number of addresses of a device.
const ADDRESSES_MAX: usize = 16;
/// The maximum length of the name of an interface, and of a hardware address, in bytes.
const INTERFACE_BYTES_MAX: usize = 256;
const HARDWARE_BYTES_MAX: usize = 128;

/// The `status` subresource of ResourceClaims.
#[derive(Debug)]
pub(super) struct ResourceClaimsStatus;

impl KindStrategy for ResourceClaimsStatus {
    type Kind = ResourceClaim;

    /// What drivers said of devices that are no longer allocated is dropped, as upstream.
    fn prepare_for_update(&self, _: &RequestContext, new: &mut ResourceClaim, old: &ResourceClaim) {
        let before = old.status.clone();
        let mut gone = allocated(&before);
        let now = new.status.clone();
        for device in allocated(&now) {
            gone.remove(&device);
        }
        new.status.devices.retain(|it| !gone.contains(&id_of(it)));
    }

    fn validate_update(&self, new: &ResourceClaim, old: &ResourceClaim) -> Vec<FieldError> {
        let (mut errors, path) = (Errors::new(), FieldPath::new("status"));
        let (status, before) = (&new.status, &old.status);
        check_users(&mut errors, status, &path.child("reservedFor"));
        check_devices(&mut errors, status, &path.child("devices"));
        let at = path.child("reservedFor");
        if !status.reserved_for.is_empty() && status.allocation.is_none() {
            let why = "may not be specified when `allocated` is not set";
            errors.push(FieldError::forbidden(&at, why));
        } else if new.metadata.deletion_timestamp.is_some() {
            let is_new = |it| !before.reserved_for.contains(it);
            if status.reserved_for.iter().any(is_new) {
                let why = "new entries may not be added while `deallocationRequested` or \
                           `deletionTimestamp` are set";
                errors.push(FieldError::forbidden(&at, why));
            }
        }
        let at = path.child("allocation");
        match (&status.allocation, &before.allocation) {
            (Some(now), Some(before)) => {
                rules::immutable_value(&mut errors, &**now, &**before, &at, |it| {
                    go_struct::shown(it)
                });
            }
            (Some(now), None) => {
                let known = names(&new.spec.devices);
                check_allocation(&mut errors, now, &known, &at);
            }
            (None, _) => {}
        }
        errors
    }
}

fn id_of(of: &AllocatedDeviceStatus) -> DeviceId<'_> {
    DeviceId::new((&of.driver, &of.pool, &of.device), of.share_id.as_ref())
}

/// Returns the allocated devices.
fn allocated<'a>(of: &'a ResourceClaimStatus) -> BTreeSet<DeviceId<'a>> {
    let results = of.allocation.iter().flat_map(|it| &it.devices.results);
    let id = |it: &'a DeviceRequestAllocationResult| {
        let device = (&it.driver, &it.pool, &it.device);
        DeviceId::new(device, it.share_id.as_ref())
    };
    results.map(id).collect()
}

fn check_users(errors: &mut Errors, status: &ResourceClaimStatus, path: &FieldPath) {
    let users = &status.reserved_for;
    if users.len() > USERS_MAX {
        return at_most(errors, users.len(), USERS_MAX, path);
    }
    for (index, user) in users.iter().enumerate() {
        let at = path.index(index);
        rules::required(errors, &user.resource, &at.child("resource"));
        rules::required(errors, &user.name, &at.child("name"));
        rules::required(errors, &user.uid, &at.child("uid"));
    }
    let twice = rules::repeats(users.iter().map(|it| &it.uid));
    for ((index, user), twice) in users.iter().enumerate().zip(twice) {
        if twice {
            errors.push(FieldError::duplicate(&path.index(index), &user.uid));
        }
    }
}

fn check_devices(errors: &mut Errors, status: &ResourceClaimStatus, path: &FieldPath) {
    let known = allocated(status);
    for (index, device) in status.devices.iter().enumerate() {
        check_device(errors, device, &known, &path.index(index));
    }
    let twice = rules::repeats(status.devices.iter().map(id_of));
    for ((index, device), twice) in status.devices.iter().enumerate().zip(twice) {
        if twice {
            let shown = BadValue::json(&id_of(device));
            errors.push(FieldError::duplicate(&path.index(index), shown));
        }
    }
}

fn check_device(
    errors: &mut Errors,
    device: &AllocatedDeviceStatus,
    known: &BTreeSet<DeviceId<'_>>,
    path: &FieldPath,
) {
    rules::csi_driver_name(errors, &device.driver, &path.child("driver"));
    check_pool(errors, &device.pool, &path.child("pool"));
    let at = path.child("device");
    rules::text(errors, &device.device, &at, validate_name::dns1123_label);
    if let Some(share) = &device.share_id {
        check_share(errors, share, &path.child("shareID"));
    }
    let id = id_of(device);
    if !known.contains(&id) {
        let detail = "must be an allocated device in the claim";
        errors.push(FieldError::invalid(path, BadValue::json(&id), detail));
    }
    let at = path.child("conditions");
    at_most(errors, device.conditions.len(), CONDITIONS_MAX, &at);
    conditions::check(errors, &device.conditions, &at);
    if let Some(data) = device.data.as_ref().filter(|it| !it.raw.0.is_empty()) {
        check_raw(errors, &data.raw.0, &path.child("data"));
    }
    if let Some(network) = &device.network_data {
        check_network(errors, network, &path.child("networkData"));
    }
}

fn check_network(errors: &mut Errors, network: &NetworkDeviceData, path: &FieldPath) {
    for (field, text, max) in [
        (
            "interfaceName",
            &network.interface_name,
            INTERFACE_BYTES_MAX,
        ),
        (
            "hardwareAddress",
            &network.hardware_address,
            HARDWARE_BYTES_MAX,
        ),
    ] {
        if text.len() > max {
            errors.push(FieldError::too_long(&path.child(field), max));
        }
    }
    let at = path.child("ips");
    if network.ips.len() > ADDRESSES_MAX {
        return at_most(errors, network.ips.len(), ADDRESSES_MAX, &at);
    }
    for (index, address) in network.ips.iter().enumerate() {
        check_address(errors, address, &at.index(index));
    }
    let twice = rules::repeats(&network.ips);
    for ((index, address), twice) in network.ips.iter().enumerate().zip(twice) {
        if twice {
            errors.push(FieldError::duplicate(&at.index(index), address));
        }
    }
}

/// Checks the address of an interface with its prefix, in its usual form.
fn check_address(errors: &mut Errors, text: &str, path: &FieldPath) {
    let Some(canonical) = canonical(text) else {
        let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
        errors.push(FieldError::invalid(path, text, detail));
        return;
    };
    if canonical != text {
        let detail = format!("must be in canonical form ({canonical:?})");
        errors.push(FieldError::invalid(path, text, detail));
    }
}

fn canonical(text: &str) -> Option<String> {
    let (address, prefix) = text.split_once('/')?;
    let is_plain = !prefix.is_empty() && prefix.bytes().all(|it| it.is_ascii_digit());
    let prefix: u8 = prefix.parse().ok().filter(|_| is_plain)?;
    let address: IpAddr = address.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    if prefix > longest {
        return None;
    }
    let IpAddr::V6(six) = address else {
        return Some(format!("{address}/{prefix}"));
    };
    Some(match six.to_ipv4_mapped() {
        Some(four) if prefix > 32 => format!("{four}/{}", prefix.saturating_sub(96)),
        Some(four) => format!("{four}/{prefix}"),
        None => format!("{six}/{prefix}"),
    })
}

fn check_allocation(
    errors: &mut Errors,
    allocation: &AllocationResult,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    let devices = path.child("devices");
    let (results, at) = (&allocation.devices.results, devices.child("results"));
    if results.len() > RESULTS_MAX {
        at_most(errors, results.len(), RESULTS_MAX, &at);
    } else {
        for (index, result) in results.iter().enumerate() {
            check_result(errors, result, known, &at.index(index));
        }
    }
    let (configs, at) = (&allocation.devices.config, devices.child("config"));
    if configs.len() > CONFIGS_MAX {
        at_most(errors, configs.len(), CONFIGS_MAX, &at);
    } else {
        for (index, config) in configs.iter().enumerate() {
            check_config(errors, config, known, &at.index(index));
        }
    }
    if let Some(selector) = &allocation.node_selector {
        check_node_selector(errors, selector, &path.child("nodeSelector"));
    }
}

fn check_result(
    errors: &mut Errors,
    result: &DeviceRequestAllocationResult,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    check_request_name(errors, &result.request, known, &path.child("request"));
    rules::csi_driver_name(errors, &result.driver, &path.child("driver"));
    check_pool(errors, &result.pool, &path.child("pool"));
    let at = path.child("device");
    rules::text(errors, &result.device, &at, validate_name::dns1123_label);
    let bound = (
        &*result.binding_conditions,
        &*result.binding_failure_conditions,
    );
    check_binding(errors, bound, path);
    if let Some(share) = &result.share_id {
        check_share(errors, share, &path.child("shareID"));
    }
}

fn check_binding(errors: &mut Errors, (bound, failed): (&[Str], &[Str]), path: &FieldPath) {
    let (of_bound, of_failed) = (
        path.child("bindingConditions"),
        path.child("bindingFailureConditions"),
    );
    for (names, at) in [(bound, &of_bound), (failed, &of_failed)] {
        if names.len() > BINDING_MAX {
            at_most(errors, names.len(), BINDING_MAX, at);
            continue;
        }
        for (index, name) in names.iter().enumerate() {
            rules::text(
                errors,
                name,
                &at.index(index),
                validate_name::qualified_name,
            );
        }
    }
    for ((index, name), twice) in bound.iter().enumerate().zip(rules::repeats(bound)) {
        if twice {
            errors.push(FieldError::duplicate(&of_bound.index(index), name));
        }
    }
    for ((index, name), twice) in failed.iter().enumerate().zip(rules::repeats(failed)) {
        let at = of_failed.index(index);
        if twice {
            errors.push(FieldError::duplicate(&at, name));
        }
        if bound.contains(name) {
            let detail = "bindingFailureConditions must not overlap with bindingConditions";
            errors.push(FieldError::invalid(&at, name, detail));
        }
    }
    let absent = || BadValue::json(&None::<bool>);
    if bound.is_empty() && !failed.is_empty() {
        let detail = "bindingConditions are required to use bindingFailureConditions";
        errors.push(FieldError::invalid(&of_bound, absent(), detail));
    }
    if failed.is_empty() && !bound.is_empty() {
        let detail = "bindingFailureConditions are required to use bindingConditions";
        errors.push(FieldError::invalid(&of_failed, absent(), detail));
    }
}

fn check_config(
    errors: &mut Errors,
    config: &DeviceAllocationConfiguration,
    known: &BTreeSet<String>,
    path: &FieldPath,
) {
    let at = path.child("source");
    if rules::required(errors, &config.source, &at) {
        rules::one_of(errors, &config.source, &["FromClaim", "FromClass"], &at);
    }
    check_names(errors, &config.requests, known, &path.child("requests"));
    check_opaque(errors, config.opaque.as_deref(), &path.child("opaque"));
}

#[cfg(test)]
mod tests;
