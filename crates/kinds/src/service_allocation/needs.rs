//! The allocations that a service needs by its type, and the values that it keeps from its old
//! version.

use crate::core::service;
use crate::core::service::validation::is_headless_without_selector;
use kubist_api::core::v1::Service;
use kubist_apimachinery::{FieldError, FieldPath, Str};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const NONE: &str = "None";
const SINGLE: &str = "SingleStack";
const DUAL: &str = "RequireDualStack";
const IPV4: &str = "IPv4";
const IPV6: &str = "IPv6";

fn type_of(service: &Service) -> &str {
    match service.spec.type_.as_str() {
        "" => "ClusterIP",
        other => other,
    }
}

/// An unknown type is rejected later, by validation.
fn has_cluster_type(service: &Service) -> bool {
    type_of(service) != "ExternalName"
}

fn is_headless(service: &Service) -> bool {
    service.spec.cluster_ip == NONE
}

/// Reports whether the service has a cluster IP.
pub(super) fn address(service: &Service) -> bool {
    has_cluster_type(service) && !is_headless(service)
}

/// Reports whether the service may request node ports.
pub(super) fn may_have_node_ports(service: &Service) -> bool {
    matches!(type_of(service), "NodePort" | "LoadBalancer")
}

/// Reports whether the service needs node ports.
pub(super) fn node_ports(service: &Service) -> bool {
    match type_of(service) {
        "NodePort" => true,
        "LoadBalancer" => service.spec.allocate_load_balancer_node_ports != Some(false),
        _ => false,
    }
}

/// Reports whether the service needs a health check node port.
pub(super) fn health_check_port(service: &Service) -> bool {
    type_of(service) == "LoadBalancer" && service.spec.external_traffic_policy == "Local"
}

/// Copies allocated values that the new version omits from the old version, and drops values that
/// do not apply to the new type unless they were changed.
pub(super) fn patch_allocated_values(new: &mut Service, old: Option<&Service>) {
    let Some(old) = old else {
        return;
    };
    if has_cluster_type(old) && has_cluster_type(new) && new.spec.cluster_ip.is_empty() {
        new.spec.cluster_ip = old.spec.cluster_ip.clone();
    }
    let same_address = new.spec.cluster_ip == old.spec.cluster_ip;
    if has_cluster_type(new) && new.spec.cluster_ips.is_empty() && same_address {
        new.spec.cluster_ips.clone_from(&old.spec.cluster_ips);
    }
    if has_cluster_type(new) && new.spec.ip_families.is_empty() {
        new.spec.ip_families.clone_from(&old.spec.ip_families);
    }
    if has_cluster_type(old) && !has_cluster_type(new) && same_address {
        new.spec.cluster_ip = Str::default();
        new.spec.cluster_ips.clear();
        if new.spec.ip_families == old.spec.ip_families {
            new.spec.ip_families.clear();
        }
        if new.spec.ip_family_policy == old.spec.ip_family_policy {
            new.spec.ip_family_policy = None;
        }
    }
    // Upstream hides it from readers of `ExternalName` services.
    let same_policy = new.spec.internal_traffic_policy == old.spec.internal_traffic_policy;
    if type_of(new) == "ExternalName" && same_policy {
        new.spec.internal_traffic_policy = None;
    }
    patch_node_ports(new, old);
}

/// Synchronizes the cluster IP with the cluster IP list where only one of them changed.
pub(super) fn normalize_cluster_ips(new: &mut Service, old: Option<&Service>) {
    let spec = &mut new.spec;
    if let Some(old) = old.map(|old| &old.spec)
        && spec.cluster_ips == old.cluster_ips
        && spec.cluster_ip != old.cluster_ip
    {
        if spec.cluster_ip.is_empty() {
            spec.cluster_ips.clear();
        } else if let Some(first) = spec.cluster_ips.first_mut() {
            first.clone_from(&spec.cluster_ip);
        }
    }
    if !spec.cluster_ip.is_empty() && spec.cluster_ips.is_empty() {
        spec.cluster_ips.push(spec.cluster_ip.clone());
    }
}

/// Returns the errors in addresses and families, which are reported before all others.
pub(super) fn check_addresses(service: &Service, old: Option<&Service>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (path, old) = (FieldPath::new("spec"), old.map(|old| &old.spec));
    service::addresses::check(&mut errors, &service.spec, old, &path);
    errors
}

fn patch_node_ports(new: &mut Service, old: &Service) {
    if node_ports(old) && node_ports(new) {
        let mut used: BTreeSet<i32> = new.spec.ports.iter().map(|it| it.node_port).collect();
        let mut had: BTreeMap<_, VecDeque<i32>> = BTreeMap::new();
        for port in &old.spec.ports {
            let of = (port.port, port.protocol.clone());
            had.entry(of).or_default().push_back(port.node_port);
        }
        for port in &mut new.spec.ports {
            if port.node_port != 0 {
                continue;
            }
            let Some(had) = had.get_mut(&(port.port, port.protocol.clone())) else {
                continue;
            };
            while let Some(number) = had.pop_front() {
                // Each node port is kept only once.
                if used.insert(number) {
                    port.node_port = number;
                    break;
                }
            }
        }
    } else if node_ports(old) {
        let ports = |service: &Service| -> Vec<i32> {
            service.spec.ports.iter().map(|it| it.node_port).collect()
        };
        if ports(new) == ports(old) {
            for port in &mut new.spec.ports {
                port.node_port = 0;
            }
        }
    }
    let same_check = new.spec.health_check_node_port == old.spec.health_check_node_port;
    if health_check_port(old) && health_check_port(new) && new.spec.health_check_node_port == 0 {
        new.spec.health_check_node_port = old.spec.health_check_node_port;
    } else if health_check_port(old) && !health_check_port(new) && same_check {
        new.spec.health_check_node_port = 0;
    }
}

/// Checks that there is a single IP family. Headless services without a selector may have both.
pub(super) fn check_families(service: &Service) -> Result<(), Box<FieldError>> {
    if !has_cluster_type(service) || is_headless_without_selector(service) {
        return Ok(());
    }
    let path = FieldPath::new("spec");
    if service.spec.ip_family_policy.as_deref() == Some(DUAL) {
        let path = path.child("ipFamilyPolicy");
        let detail = "this cluster is not configured for dual-stack services";
        return Err(Box::new(FieldError::invalid(&path, DUAL, detail)));
    }
    let mut families = service.spec.ip_families.iter();
    if let Some(index) = families.position(|it| *it == *IPV6) {
        let path = path.child("ipFamilies").index(index);
        let detail = "not configured on this cluster";
        return Err(Box::new(FieldError::invalid(&path, IPV6, detail)));
    }
    Ok(())
}

/// Fills in the IP families: the single family, or both for headless services without a selector
/// that do not request a single one.
pub(super) fn fill_families(service: &mut Service) {
    if !has_cluster_type(service) {
        return;
    }
    let both = is_headless_without_selector(service);
    let spec = &mut service.spec;
    let default = if both { DUAL } else { SINGLE };
    let policy = spec.ip_family_policy.get_or_insert_with(|| default.into());
    let both = both && policy != SINGLE;
    if spec.ip_families.is_empty() {
        spec.ip_families.push(IPV4.into());
    }
    if both && let [only] = &*spec.ip_families {
        let other = if only == IPV4 { IPV6 } else { IPV4 };
        spec.ip_families.push(other.into());
    }
}
