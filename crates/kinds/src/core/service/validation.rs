//! Validation of Services. Addresses are checked in `addresses`, updates in `change`.

use crate::core::service;
use crate::shared;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{Service, ServicePort, ServiceSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_labels, validate_name};
use serde::Serialize;
use std::collections::BTreeSet;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/// One day, in seconds.
const AFFINITY_SECONDS_MAX: i32 = 86_400;
/// The older annotation for the client ranges of a load balancer.
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
/// The annotation for topology-aware routing, and its older name.
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
pub(crate) const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const ONLY_LOAD_BALANCERS: &str = "may only be used when `type` is 'LoadBalancer'";

/// Reports whether a Service can be reached from outside the cluster.
pub(crate) fn is_external(spec: &ServiceSpec) -> bool {
    match spec.type_.as_str() {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.external_ips.is_empty(),
        _ => false,
    }
}

/// Reports whether a Service is headless without a selector. Its endpoints are managed by users and
/// may be of both families, regardless of the cluster.
pub(crate) fn is_headless_without_selector(service: &Service) -> bool {
    service.spec.cluster_ip == "None" && service.spec.selector.is_empty()
}

/// Reports whether a Service is headless.
pub(crate) fn is_headless(spec: &ServiceSpec) -> bool {
    matches!(&*spec.cluster_ips, [only] if *only == "None")
}

/// Reports whether nodes serve a health check for the Service's load balancer.
pub(crate) fn has_health_check(spec: &ServiceSpec) -> bool {
    spec.type_ == "LoadBalancer" && spec.external_traffic_policy == "Local"
}

/// Checks a Service. Values that the old Service has may stay, even if they are invalid today.
pub(crate) fn check(service: &Service, old: Option<&Service>) -> Errors {
    let (path, spec) = (FieldPath::new("spec"), &service.spec);
    let mut errors = Vec::new();
    check_topology(&mut errors, service);
    let headless = is_headless(spec);
    if spec.ports.is_empty() && !headless && spec.type_ != "ExternalName" {
        errors.push(FieldError::required(&path.child("ports"), ""));
    }
    check_type(&mut errors, spec, headless, &path);
    check_ports(&mut errors, spec, &path.child("ports"));
    errors.extend(validate_labels(&spec.selector, &path.child("selector")));
    check_affinity(&mut errors, spec, &path);
    let kept = old.map(|old| &old.spec);
    service::addresses::check(&mut errors, spec, kept, &path);
    service::addresses::check_external(&mut errors, spec, kept, &path.child("externalIPs"));
    match spec.type_.as_str() {
        "" => errors.push(FieldError::required(&path.child("type"), "")),
        kind => rules::one_of(&mut errors, kind, &TYPES, &path.child("type")),
    }
    check_uniqueness(&mut errors, spec, &path.child("ports"));
    check_sources(&mut errors, service, old, &path);
    check_balancer(&mut errors, spec, &path);
    check_policies(&mut errors, spec, &path);
    errors
}

fn check_topology(errors: &mut Errors, service: &Service) {
    let annotations = &service.metadata.annotations;
    let (mode, hints) = (
        annotations.get(TOPOLOGY_MODE),
        annotations.get(TOPOLOGY_HINTS),
    );
    if let (Some(mode), Some(hints)) = (mode, hints)
        && mode != hints
    {
        let path = FieldPath::new("metadata").child("annotations");
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        errors.push(FieldError::invalid(&path.key(TOPOLOGY_MODE), mode, detail));
    }
}

/// Checks the client ranges of a load balancer, from the field or else from the annotation.
fn check_sources(errors: &mut Errors, service: &Service, old: Option<&Service>, path: &FieldPath) {
    let balances = service.spec.type_ == "LoadBalancer";
    let ranges = &service.spec.load_balancer_source_ranges;
    if !ranges.is_empty() {
        // Upstream's name for the field.
        let path = path.child("LoadBalancerSourceRanges");
        if !balances {
            errors.push(FieldError::forbidden(&path, ONLY_LOAD_BALANCERS));
        }
        let before = old
            .iter()
            .flat_map(|old| &old.spec.load_balancer_source_ranges);
        let kept: BTreeSet<&str> = before.map(|it| it.trim()).collect();
        for (index, range) in ranges.iter().enumerate() {
            let range = range.trim();
            if !kept.contains(range) {
                shared::addresses::cidr(errors, range, &path.index(index));
            }
        }
        return;
    }
    let annotation = |service: &Service| service.metadata.annotations.get(SOURCE_RANGES).cloned();
    let Some(ranges) = annotation(service) else {
        return;
    };
    let path = FieldPath::new("metadata")
        .child("annotations")
        .key(SOURCE_RANGES);
    if !balances {
        errors.push(FieldError::forbidden(&path, ONLY_LOAD_BALANCERS));
    }
    if old.and_then(annotation).as_ref() != Some(&ranges) && !ranges.trim().is_empty() {
        for range in ranges.split(',') {
            shared::addresses::cidr(errors, range.trim(), &path);
        }
    }
}

fn check_balancer(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let balances = spec.type_ == "LoadBalancer";
    match spec.allocate_load_balancer_node_ports {
        Some(_) if !balances => {
            let path = path.child("allocateLoadBalancerNodePorts");
            errors.push(FieldError::forbidden(&path, ONLY_LOAD_BALANCERS));
        }
        None if balances => {
            // Upstream's path.
            let path = FieldPath::new("allocateLoadBalancerNodePorts");
            errors.push(FieldError::required(&path, ""));
        }
        _ => {}
    }
    check_class(errors, spec, path);
}

/// Checks the class of a load balancer. Updates check it a second time.
pub(crate) fn check_class(errors: &mut Errors, spec: &ServiceSpec, path: &FieldPath) {
    let path = path.child("loadBalancerClass");
    match &spec.load_balancer_class {
        Some(class) if spec.type_ == "LoadBalancer" => {
            rules::text(errors, class, &path, validate_name::qualified_name);
        }
        Some(_) => errors.push(FieldError::forbidden(&path, ONLY_LOAD_BALANCERS)),
        None => {}
    }
}

fn check_type(errors: &mut Errors, spec: &ServiceSpec, headless: bool, path: &FieldPath) {
    match spec.type_.as_str() {
        "LoadBalancer" | "NodePort" if headless => {
            let detail = format!("may not be set to 'None' for {} services", spec.type_);
            let path = path.child("clusterIPs").index(0);
            errors.push(FieldError::invalid(&path, "None", detail));
        }
        "ExternalName" => {
            let detail = "may not be set for ExternalName services";
            for (name, is_set) in [
                ("clusterIPs", !spec.cluster_ips.is_empty()),
                ("ipFamilies", !spec.ip_families.is_empty()),
                ("ipFamilyPolicy", spec.ip_family_policy.is_some()),
            ] {
                if is_set {
                    errors.push(FieldError::forbidden(&path.child(name), detail));
                }
            }
            let name = &spec.external_name;
            let name = name.strip_suffix('.').unwrap_or(name);
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
    if spec.session_affinity != "ClientIP" {
        return;
    }
    let seconds = config
        .and_then(|it| it.client_ip.as_ref())
        .and_then(|it| it.timeout_seconds);
    if let Some(seconds) = seconds.filter(|it| !(1..=AFFINITY_SECONDS_MAX).contains(it)) {
        let detail = format!("must be greater than 0 and less than {AFFINITY_SECONDS_MAX}");
        let path = at.child("clientIP").child("timeoutSeconds");
        errors.push(FieldError::invalid(&path, seconds, detail));
    }
}

/// The properties of a port that must be unique, in the form that messages show.
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
    let at = |index| path.index(index).child("nodePort");
    let with_node_port = || {
        let ports = spec.ports.iter().enumerate();
        ports.filter(|(_, port)| port.node_port != 0)
    };
    if spec.type_ == "ClusterIP" {
        let detail = "may not be used when `type` is 'ClusterIP'";
        errors.extend(with_node_port().map(|it| FieldError::forbidden(&at(it.0), detail)));
    }
    for (index, port) in with_node_port() {
        if !node_ports.insert((&port.protocol, port.node_port)) {
            errors.push(FieldError::duplicate(&at(index), port.node_port));
        }
    }
    for (index, port) in spec.ports.iter().enumerate() {
        let ServicePort { port, protocol, .. } = port;
        if !ports.insert((protocol, *port)) {
            let shown = ShownPort {
                name: "",
                protocol,
                app_protocol: None,
                port: *port,
                target_port: 0,
                node_port: 0,
            };
            let shown = BadValue::json(&shown);
            errors.push(FieldError::duplicate(&path.index(index), shown));
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
        errors.push(FieldError::invalid(&at, BadValue::json(policy), detail));
    }
    let (port, at) = (
        spec.health_check_node_port,
        path.child("healthCheckNodePort"),
    );
    match (has_health_check(spec), port) {
        (true, 0) => errors.push(FieldError::required(&at, "")),
        (true, port) => rules::port_number(errors, port, &at),
        (false, 0) => {}
        (false, port) => {
            let detail = "may only be set when `type` is 'LoadBalancer' and \
                          `externalTrafficPolicy` is 'Local'";
            errors.push(FieldError::invalid(&at, port, detail));
        }
    }
    let at = path.child("internalTrafficPolicy");
    match spec.internal_traffic_policy.as_deref() {
        Some(policy) => rules::one_of(errors, policy, &["Cluster", "Local"], &at),
        None if matches!(&*spec.type_, "ClusterIP" | "NodePort" | "LoadBalancer") => {
            errors.push(FieldError::required(&at, ""));
        }
        None => {}
    }
    if let Some(distribution) = &spec.traffic_distribution {
        let supported = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        let at = path.child("trafficDistribution");
        rules::one_of_texts(errors, distribution, &supported, &at);
    }
}
