//! What Services must satisfy.

use kubist_api::core::v1::{Service, ServicePort, ServiceSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_labels, validate_name};
use serde::Serialize;
use std::collections::BTreeSet;

use super::address_rules;
use super::rules::{self, Errors};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const FAMILY_POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/// Seconds of a day.
const AFFINITY_SECONDS_MAX: i32 = 86_400;

/// Whether a Service can be reached from outside of the cluster.
pub(super) fn is_external(spec: &ServiceSpec) -> bool {
    match spec.type_.as_str() {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.external_ips.is_empty(),
        _ => false,
    }
}

/// A service whose endpoints somebody else names may have some of both families, whatever the
/// cluster has.
pub(crate) fn is_headless_without_selector(service: &Service) -> bool {
    service.spec.cluster_ip == "None" && service.spec.selector.is_empty()
}

/// Checks a Service.
pub(super) fn check(service: &Service) -> Errors {
    let (path, spec) = (FieldPath::new("spec"), &service.spec);
    let mut errors = Vec::new();
    let headless = spec.cluster_ip == "None";
    if spec.ports.is_empty() && !headless && spec.type_ != "ExternalName" {
        errors.push(FieldError::required(&path.child("ports"), ""));
    }
    check_type(&mut errors, spec, headless, &path);
    check_ports(&mut errors, spec, &path.child("ports"));
    errors.extend(validate_labels(&spec.selector, &path.child("selector")));
    check_affinity(&mut errors, spec, &path);
    check_cluster_ips(&mut errors, spec, &path.child("clusterIPs"));
    for (index, address) in spec.external_ips.iter().enumerate() {
        let at = path.child("externalIPs").index(index);
        if let Some(ip) = address_rules::ip(&mut errors, address, &at) {
            address_rules::not_special(&mut errors, ip, address, &at);
        }
    }
    match spec.type_.as_str() {
        "" => errors.push(FieldError::required(&path.child("type"), "")),
        kind => rules::one_of(&mut errors, kind, &TYPES, &path.child("type")),
    }
    check_uniqueness(&mut errors, spec, &path.child("ports"));
    for (index, range) in spec.load_balancer_source_ranges.iter().enumerate() {
        // Upstream's name for the field.
        let path = path.child("LoadBalancerSourceRanges");
        if spec.type_ != "LoadBalancer" && index == 0 {
            let detail = "may only be used when `type` is 'LoadBalancer'";
            errors.push(FieldError::forbidden(&path, detail));
        }
        address_rules::cidr(&mut errors, range.trim(), &path.index(index));
    }
    check_policies(&mut errors, spec, &path);
    check_families(&mut errors, spec, &path);
    errors
}

/// The two fields for addresses agree, and families are known ones.
fn check_families(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    if is_external(spec) {
        return;
    }
    let at = path.child("clusterIPs");
    let shown = || BadValue::json(&spec.cluster_ips);
    match (spec.cluster_ip.is_empty(), spec.cluster_ips.first()) {
        (false, None) => errors.push(FieldError::required(&at, "")),
        (false, Some(first)) if *first != spec.cluster_ip => {
            let detail = "first value must match `clusterIP`";
            errors.push(FieldError::invalid(&at, shown(), detail));
        }
        (true, Some(_)) => {
            let detail = "must be empty when `clusterIP` is not specified";
            errors.push(FieldError::invalid(&at, shown(), detail));
        }
        _ => {}
    }
    let at = path.child("ipFamilies");
    for (index, family) in spec.ip_families.iter().enumerate() {
        let path = at.index(index);
        rules::one_of(errors, family, &FAMILIES, &path);
        if spec.ip_families[..index].contains(family) {
            errors.push(FieldError::duplicate(&path, family));
        }
    }
    if let Some(policy) = &spec.ip_family_policy {
        let at = path.child("ipFamilyPolicy");
        rules::one_of(errors, policy, &FAMILY_POLICIES, &at);
    }
}

fn check_type(errors: &mut Errors, spec: &ServiceSpec, headless: bool, path: &FieldPath) {
    match spec.type_.as_str() {
        "LoadBalancer" | "NodePort" if headless => {
            let detail = format!("may not be set to 'None' for {} services", spec.type_);
            let shown = BadValue::json(&spec.cluster_ips);
            errors.push(FieldError::invalid(
                &path.child("clusterIPs").index(0),
                shown,
                detail,
            ));
        }
        "ExternalName" => {
            if !spec.cluster_ip.is_empty() {
                let detail = "may not be set for ExternalName services";
                errors.push(FieldError::forbidden(&path.child("clusterIP"), detail));
            }
            let name = spec
                .external_name
                .strip_suffix('.')
                .unwrap_or(&spec.external_name);
            let path = path.child("externalName");
            if rules::required(errors, name, &path) {
                rules::text(errors, name, &path, validate_name::dns1123_subdomain);
            }
        }
        _ => {}
    }
}

fn check_ports(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let mut names = BTreeSet::new();
    for (index, port) in spec.ports.iter().enumerate() {
        let path = path.index(index);
        let at = path.child("name");
        if port.name.is_empty() {
            if spec.ports.len() > 1 {
                errors.push(FieldError::required(&at, ""));
            }
        } else {
            rules::text(errors, &port.name, &at, validate_name::dns1123_label);
            if !names.insert(&port.name) {
                errors.push(FieldError::duplicate(&at, &port.name));
            }
        }
        rules::port_number(errors, port.port, &path.child("port"));
        match port.protocol.as_str() {
            "" => errors.push(FieldError::required(&path.child("protocol"), "")),
            protocol => rules::one_of(errors, protocol, &PROTOCOLS, &path.child("protocol")),
        }
        rules::port(errors, &port.target_port, &path.child("targetPort"));
        if let Some(protocol) = &port.app_protocol {
            let path = path.child("appProtocol");
            rules::text(errors, protocol, &path, validate_name::qualified_name);
        }
    }
}

fn check_affinity(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let at = path.child("sessionAffinity");
    match spec.session_affinity.as_str() {
        "" => errors.push(FieldError::required(&at, "")),
        affinity => rules::one_of(errors, affinity, &["ClientIP", "None"], &at),
    }
    let config = spec.session_affinity_config.as_deref();
    let at = path.child("sessionAffinityConfig");
    if spec.session_affinity == "None" && config.is_some() {
        let detail = "must not be set when session affinity is None";
        errors.push(FieldError::forbidden(&at, detail));
    }
    let seconds = config
        .and_then(|it| it.client_ip.as_ref())
        .and_then(|it| it.timeout_seconds);
    if let Some(seconds) = seconds.filter(|it| !(1..=AFFINITY_SECONDS_MAX).contains(it)) {
        let detail =
            format!("must be greater than 0 and less than or equal to {AFFINITY_SECONDS_MAX}");
        let path = at.child("clientIP").child("timeoutSeconds");
        errors.push(FieldError::invalid(&path, seconds, detail));
    }
}

fn check_cluster_ips(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    for (index, address) in spec.cluster_ips.iter().enumerate() {
        if address == "None" {
            if index > 0 {
                let path = path.index(index);
                let detail = "'None' must be the first and only value";
                errors.push(FieldError::invalid(&path, address, detail));
            }
            continue;
        }
        address_rules::ip(errors, address, &path.index(index));
    }
}

/// A port as messages show it, as far as it must be unique.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShownPort<'a> {
    name: &'a str,
    protocol: &'a str,
    app_protocol: Option<&'a str>,
    port: i32,
    target_port: i32,
    node_port: i32,
}

fn check_uniqueness(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let (mut node_ports, mut ports) = (BTreeSet::new(), BTreeSet::new());
    for (index, port) in spec.ports.iter().enumerate() {
        let path = path.index(index);
        let ServicePort {
            node_port,
            protocol,
            ..
        } = port;
        if *node_port != 0 {
            let at = path.child("nodePort");
            if spec.type_ == "ClusterIP" {
                let detail = "may not be used when `type` is 'ClusterIP'";
                errors.push(FieldError::forbidden(&at, detail));
            }
            if !node_ports.insert((protocol, *node_port)) {
                errors.push(FieldError::duplicate(&at, *node_port));
            }
        }
        if !ports.insert((protocol, port.port)) {
            let shown = ShownPort {
                name: "",
                protocol,
                app_protocol: None,
                port: port.port,
                target_port: 0,
                node_port: 0,
            };
            errors.push(FieldError::duplicate(&path, BadValue::json(&shown)));
        }
    }
}

fn check_policies(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let at = path.child("externalTrafficPolicy");
    let policy = spec.external_traffic_policy.as_str();
    if is_external(spec) {
        match policy {
            "" => errors.push(FieldError::required(&at, "")),
            policy => rules::one_of(errors, policy, &["Cluster", "Local"], &at),
        }
    } else if !policy.is_empty() {
        let detail = "may only be set for externally-accessible services";
        errors.push(FieldError::invalid(&at, policy, detail));
    }
    if spec.health_check_node_port != 0 && !(spec.type_ == "LoadBalancer" && policy == "Local") {
        let detail = "may only be set when `type` is 'LoadBalancer' and \
                      `externalTrafficPolicy` is 'Local'";
        let path = path.child("healthCheckNodePort");
        errors.push(FieldError::invalid(
            &path,
            spec.health_check_node_port,
            detail,
        ));
    }
    let at = path.child("internalTrafficPolicy");
    if matches!(
        spec.type_.as_str(),
        "ClusterIP" | "NodePort" | "LoadBalancer"
    ) {
        match spec.internal_traffic_policy.as_deref() {
            None => errors.push(FieldError::required(&at, "")),
            Some(policy) => rules::one_of(errors, policy, &["Cluster", "Local"], &at),
        }
    }
    if let Some(distribution) = &spec.traffic_distribution {
        let supported = ["PreferClose", "PreferSameNode", "PreferSameZone"];
        rules::one_of(
            errors,
            distribution,
            &supported,
            &path.child("trafficDistribution"),
        );
    }
}

/// What was allotted may not change, unless the type does.
pub(super) fn check_update(new: &Service, old: &Service) -> Errors {
    let path = FieldPath::new("spec");
    let (now, before) = (&new.spec, &old.spec);
    let mut errors = Vec::new();
    if now.type_ == "ExternalName" || before.type_ == "ExternalName" {
        return errors;
    }
    let changed = match (before.cluster_ips.first(), now.cluster_ips.first()) {
        (Some(before), Some(now)) => before != now,
        _ => false,
    };
    if changed && before.cluster_ip != Str::default() {
        let path = path.child("clusterIPs").index(0);
        let shown = BadValue::json(&now.cluster_ips);
        errors.push(FieldError::invalid(&path, shown, "may not change once set"));
    }
    if now.type_ == "LoadBalancer"
        && before.type_ == "LoadBalancer"
        && now.load_balancer_class != before.load_balancer_class
    {
        let shown = now
            .load_balancer_class
            .as_ref()
            .map_or_else(BadValue::null, BadValue::from);
        let detail = "may not change once set";
        errors.push(FieldError::invalid(
            &path.child("loadBalancerClass"),
            shown,
            detail,
        ));
    }
    errors
}
