//! Warnings about Services: deprecated or ignored fields, and addresses in non-standard notation.

use crate::core::service::validation::TOPOLOGY_HINTS;
use crate::shared::address_warnings;
use kubist_api::core::v1::Service;
use kubist_apimachinery::FieldPath;

/// Returns the warnings for a new or changed Service.
pub(crate) fn of(service: &Service) -> Vec<String> {
    let (spec, path) = (&service.spec, FieldPath::new("spec"));
    let mut found = Vec::new();
    if service.metadata.annotations.contains_key(TOPOLOGY_HINTS) {
        found.push(format!(
            "annotation {TOPOLOGY_HINTS} is deprecated, please use \
             service.kubernetes.io/topology-mode instead"
        ));
    }
    if spec.cluster_ip == "None" {
        for (name, is_set) in [
            ("loadBalancerIP", !spec.load_balancer_ip.is_empty()),
            ("externalIPs", !spec.external_ips.is_empty()),
            ("SessionAffinity", spec.session_affinity == "ClientIP"),
        ] {
            if is_set {
                let path = path.child(name);
                found.push(format!("{path} is ignored for headless services"));
            }
        }
    } else if spec.type_ != "ExternalName" && !spec.external_ips.is_empty() {
        let path = path.child("externalIPs");
        found.push(format!(
            "{path} is deprecated and may no longer be implemented in some clusters"
        ));
    }
    for (name, addresses) in [
        ("clusterIPs", &spec.cluster_ips),
        ("externalIPs", &spec.external_ips),
    ] {
        for (index, it) in addresses.iter().enumerate() {
            address_warnings::ip(&mut found, it, &path.child(name).index(index));
        }
    }
    let balancer = &spec.load_balancer_ip;
    address_warnings::ip(&mut found, balancer, &path.child("loadBalancerIP"));
    let at = path.child("loadBalancerSourceRanges");
    for (index, it) in spec.load_balancer_source_ranges.iter().enumerate() {
        address_warnings::cidr(&mut found, it.trim(), &at.index(index));
    }
    if spec.type_ == "ExternalName" {
        if !spec.external_ips.is_empty() {
            let path = path.child("externalIPs");
            found.push(format!(
                "{path} is ignored when spec.type is \"ExternalName\""
            ));
        }
    } else if !spec.external_name.is_empty() {
        let path = path.child("externalName");
        found.push(format!(
            "{path} is ignored when spec.type is not \"ExternalName\""
        ));
    }
    found
}
