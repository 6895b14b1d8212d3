//! Validation of Service addresses and IP families.

use crate::core::service;
use crate::shared;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::ServiceSpec;
use kubist_apimachinery::{FieldError, FieldPath, Str};
use std::net::IpAddr;

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const FAMILY_POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
/// One address of each IP family.
const ADDRESSES_MAX: usize = 2;
const NO_ADDRESSES: [Str; 0] = [];

/// Checks the cluster IPs of a Service. Addresses that the old Service has may stay.
pub(crate) fn check(
    errors: &mut Errors,
    spec: &ServiceSpec,
    old: Option<&ServiceSpec>,
    path: &FieldPath,
) {
    // The type check covers services without addresses.
    if spec.type_ == "ExternalName" {
        return;
    }
    let at = path.child("clusterIPs");
    check_first(errors, spec, &at);
    check_families(errors, spec, path);
    let kept = old.map_or(&NO_ADDRESSES[..], |old| &old.cluster_ips);
    if check_form(errors, &spec.cluster_ips, kept, &at) {
        check_stacks(errors, spec, &at);
    }
}

/// Checks that the two address fields agree.
fn check_first(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let shown = || rules::list(&spec.cluster_ips);
    match (spec.cluster_ip.is_empty(), spec.cluster_ips.first()) {
        (false, None) => errors.push(FieldError::required(path, "")),
        (false, Some(first)) if *first != spec.cluster_ip => {
            let detail = "first value must match `clusterIP`";
            errors.push(FieldError::invalid(path, shown(), detail));
        }
        (true, Some(_)) => {
            let detail = "must be empty when `clusterIP` is not specified";
            errors.push(FieldError::invalid(path, shown(), detail));
        }
        _ => {}
    }
}

fn check_families(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let at = path.child("ipFamilies");
    let repeated = rules::repeats(&spec.ip_families);
    for (index, family) in spec.ip_families.iter().enumerate() {
        let path = at.index(index);
        rules::one_of(errors, family, &FAMILIES, &path);
        if repeated[index] {
            errors.push(FieldError::duplicate(&path, family));
        }
    }
    if let Some(policy) = &spec.ip_family_policy {
        let at = path.child("ipFamilyPolicy");
        rules::one_of(errors, policy, &FAMILY_POLICIES, &at);
    }
}

/// Checks that each entry is an address, or that the only entry is `None`.
fn check_form(errors: &mut Errors, addresses: &[Str], kept: &[Str], path: &FieldPath) -> bool {
    let kept = shared::addresses::kept(kept);
    let mut fine = true;
    for (index, address) in addresses.iter().enumerate() {
        if index == 0 && address == "None" {
            if addresses.len() > 1 {
                let detail = "'None' must be the first and only value";
                errors.push(FieldError::invalid(path, rules::list(addresses), detail));
                fine = false;
            }
            continue;
        }
        fine &= shared::addresses::ip_unless_kept(errors, address, &kept, &path.index(index));
    }
    if addresses.len() > ADDRESSES_MAX {
        let detail = "may only hold up to 2 values";
        errors.push(FieldError::invalid(path, rules::list(addresses), detail));
    }
    fine
}

/// Checks for one address of each family, in the order of the families.
fn check_stacks(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let addresses = &spec.cluster_ips;
    let is_ipv6 = |text: &Str| shared::addresses::parse_ip(text).is_some_and(|it| it.is_ipv6());
    if addresses.len() > 1 {
        let parsed: Vec<Option<IpAddr>> = addresses
            .iter()
            .map(|it| shared::addresses::parse_ip(it))
            .collect();
        if let Some(at) = parsed.iter().position(Option::is_none) {
            let detail = format!(
                "failed to check for dual stack with error:ip {} is invalid",
                addresses[at]
            );
            errors.push(FieldError::internal(path, detail));
        }
        let both = parsed.iter().all(Option::is_some)
            && addresses.iter().any(is_ipv6)
            && !addresses.iter().all(is_ipv6);
        if !both {
            let detail = "may specify no more than one IP for each IP family";
            errors.push(FieldError::invalid(path, rules::list(addresses), detail));
        }
    }
    if service::validation::is_headless(spec) {
        return;
    }
    let pairs = addresses.iter().zip(&spec.ip_families);
    for (index, (address, family)) in pairs.enumerate() {
        if FAMILIES.contains(&family.as_str()) && (family == "IPv6") != is_ipv6(address) {
            let detail =
                format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            errors.push(FieldError::invalid(&path.index(index), address, detail));
        }
    }
}

/// Checks external addresses, which other systems route to the nodes.
pub(crate) fn check_external(
    errors: &mut Errors,
    spec: &ServiceSpec,
    old: Option<&ServiceSpec>,
    path: &FieldPath,
) {
    let kept = shared::addresses::kept(old.iter().flat_map(|old| &old.external_ips));
    for (index, address) in spec.external_ips.iter().enumerate() {
        let path = path.index(index);
        if shared::addresses::ip_unless_kept(errors, address, &kept, &path) {
            shared::addresses::endpoint(errors, address, &path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(addresses: &[&str], families: &[&str]) -> Vec<String> {
        let list = |texts: &[&str]| texts.iter().map(|it| (*it).into()).collect::<Vec<Str>>();
        let mut spec = ServiceSpec {
            type_: "ClusterIP".into(),
            cluster_ips: list(addresses),
            ip_families: list(families),
            ..ServiceSpec::default()
        };
        spec.cluster_ip = spec.cluster_ips.first().cloned().unwrap_or_default();
        let mut errors = Errors::new();
        check(&mut errors, &spec, None, &FieldPath::new("spec"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn there_is_one_address_of_each_family_in_their_order() {
        assert_eq!(
            problems(&["10.0.0.1", "fd00::1"], &["IPv4", "IPv6"]),
            [""; 0]
        );
        assert_eq!(
            problems(&["10.0.0.1", "10.0.0.2"], &[]),
            [
                "spec.clusterIPs: Invalid value: [\"10.0.0.1\",\"10.0.0.2\"]: may specify no more \
              than one IP for each IP family"
            ]
        );
        assert_eq!(
            problems(&["10.0.0.1"], &["IPv6"]),
            [
                "spec.clusterIPs[0]: Invalid value: \"10.0.0.1\": expected an IPv6 value as \
              indicated by `ipFamilies[0]`"
            ]
        );
    }

    #[test]
    fn none_stands_alone() {
        assert_eq!(problems(&["None"], &[]), [""; 0]);
        assert_eq!(
            problems(&["None", "10.0.0.1"], &[]),
            [
                "spec.clusterIPs: Invalid value: [\"None\",\"10.0.0.1\"]: 'None' must be the first \
              and only value"
            ]
        );
    }
}
