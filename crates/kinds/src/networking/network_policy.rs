//! NetworkPolicies.

use crate::shared::addresses::Kept;
use crate::shared::rules::{self, Errors};
use crate::shared::{self, address_warnings, fill};
use kubist_api::networking::v1::{
    IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec,
};
use kubist_apimachinery::{FieldError, FieldPath, IntOrString, validate_label_selector};
use kubist_registry::{Generation, KindStrategy, StrategyFacts};

#[derive(Debug)]
pub(crate) struct NetworkPolicies;

impl KindStrategy for NetworkPolicies {
    type Kind = NetworkPolicy;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::Spec,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut NetworkPolicy) {
        let spec = &mut object.spec;
        let ingress = spec.ingress.iter_mut().flat_map(|rule| &mut rule.ports);
        let egress = spec.egress.iter_mut().flat_map(|rule| &mut rule.ports);
        for port in ingress.chain(egress) {
            fill::option(&mut port.protocol, "TCP");
        }
        if spec.policy_types.is_empty() {
            spec.policy_types.push("Ingress".into());
            if !spec.egress.is_empty() {
                spec.policy_types.push("Egress".into());
            }
        }
    }
    fn warnings(&self, new: &NetworkPolicy, _: Option<&NetworkPolicy>) -> Vec<String> {
        let mut found = Vec::new();
        for (block, path) in blocks(&new.spec, &FieldPath::new("spec")) {
            address_warnings::cidr(&mut found, &block.cidr, &path.child("cidr"));
            for (index, it) in block.except.iter().enumerate() {
                address_warnings::cidr(&mut found, it, &path.child("except").index(index));
            }
        }
        found
    }
    fn validate(&self, new: &NetworkPolicy) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(
            &mut errors,
            &new.spec,
            &Kept::new(),
            &FieldPath::new("spec"),
        );
        errors
    }
    fn validate_update(&self, new: &NetworkPolicy, old: &NetworkPolicy) -> Vec<FieldError> {
        let (mut errors, kept) = (Vec::new(), ranges(&old.spec));
        check(&mut errors, &new.spec, &kept, &FieldPath::new("spec"));
        errors
    }
}

/// Returns all address ranges. An update may keep them, valid or not.
fn ranges(spec: &NetworkPolicySpec) -> Kept<'_> {
    let from = spec.ingress.iter().flat_map(|rule| &rule.from);
    let peers = from.chain(spec.egress.iter().flat_map(|rule| &rule.to));
    let blocks = peers.filter_map(|peer| peer.ip_block.as_deref());
    shared::addresses::kept(
        blocks.flat_map(|block| std::iter::once(&block.cidr).chain(&block.except)),
    )
}

fn check(errors: &mut Errors, spec: &NetworkPolicySpec, kept: &Kept<'_>, path: &FieldPath) {
    let at = path.child("podSelector");
    errors.extend(validate_label_selector(&spec.pod_selector, &at, false));
    for (index, rule) in spec.ingress.iter().enumerate() {
        let path = path.child("ingress").index(index);
        check_rule(
            errors,
            &rule.ports,
            (&rule.from, kept),
            &path.child("from"),
            &path,
        );
    }
    for (index, rule) in spec.egress.iter().enumerate() {
        let path = path.child("egress").index(index);
        check_rule(
            errors,
            &rule.ports,
            (&rule.to, kept),
            &path.child("to"),
            &path,
        );
    }
    let path = path.child("policyTypes");
    if spec.policy_types.len() > 2 {
        let detail = "may not specify more than two policyTypes";
        let shown = kubist_apimachinery::BadValue::json(&spec.policy_types);
        errors.push(FieldError::invalid(&path, shown, detail));
        return;
    }
    for (index, kind) in spec.policy_types.iter().enumerate() {
        rules::one_of(errors, kind, &["Ingress", "Egress"], &path.index(index));
    }
}

/// Returns all address ranges with their paths.
fn blocks<'a>(spec: &'a NetworkPolicySpec, path: &FieldPath) -> Vec<(&'a IPBlock, FieldPath)> {
    let mut found = Vec::new();
    let mut add = |peers: &'a [NetworkPolicyPeer], path: &FieldPath| {
        for (index, peer) in peers.iter().enumerate() {
            let block = peer.ip_block.as_deref();
            found.extend(block.map(|it| (it, path.index(index).child("ipBlock"))));
        }
    };
    for (index, rule) in spec.ingress.iter().enumerate() {
        add(
            &rule.from,
            &path.child("ingress").index(index).child("from"),
        );
    }
    for (index, rule) in spec.egress.iter().enumerate() {
        add(&rule.to, &path.child("egress").index(index).child("to"));
    }
    found
}

fn check_rule(
    errors: &mut Errors,
    ports: &[NetworkPolicyPort],
    (peers, kept): (&[NetworkPolicyPeer], &Kept<'_>),
    peers_path: &FieldPath,
    path: &FieldPath,
) {
    for (index, port) in ports.iter().enumerate() {
        check_port(errors, port, &path.child("ports").index(index));
    }
    for (index, peer) in peers.iter().enumerate() {
        check_peer(errors, peer, kept, &peers_path.index(index));
    }
}

fn check_port(errors: &mut Errors, port: &NetworkPolicyPort, path: &FieldPath) {
    if let Some(protocol) = &port.protocol {
        rules::one_of(
            errors,
            protocol,
            &["TCP", "UDP", "SCTP"],
            &path.child("protocol"),
        );
    }
    let end_path = path.child("endPort");
    match &port.port {
        Some(IntOrString::Int(number)) => {
            rules::port_number(errors, *number, &path.child("port"));
            if let Some(end) = port.end_port {
                if end < *number {
                    // Upstream reports the value of `port`.
                    let detail = "must be greater than or equal to `port`";
                    errors.push(FieldError::invalid(&end_path, *number, detail));
                }
                rules::port_number(errors, end, &end_path);
            }
        }
        Some(name @ IntOrString::String(_)) => {
            if let Some(end) = port.end_port {
                let detail = "may not be specified when `port` is non-numeric";
                errors.push(FieldError::invalid(&end_path, end, detail));
            }
            rules::port(errors, name, &path.child("port"));
        }
        None => {
            if let Some(end) = port.end_port {
                let detail = "may not be specified when `port` is not specified";
                errors.push(FieldError::invalid(&end_path, end, detail));
            }
        }
    }
}

fn check_peer(errors: &mut Errors, peer: &NetworkPolicyPeer, kept: &Kept<'_>, path: &FieldPath) {
    let mut count = 0;
    for (name, selector) in [
        ("podSelector", &peer.pod_selector),
        ("namespaceSelector", &peer.namespace_selector),
    ] {
        if let Some(selector) = selector {
            count += 1;
            errors.extend(validate_label_selector(selector, &path.child(name), false));
        }
    }
    if let Some(block) = &peer.ip_block {
        count += 1;
        check_block(errors, block, kept, &path.child("ipBlock"));
    }
    if count == 0 {
        errors.push(FieldError::required(path, "must specify a peer"));
    } else if count > 1 && peer.ip_block.is_some() {
        let detail = "may not specify both ipBlock and another peer";
        errors.push(FieldError::forbidden(path, detail));
    }
}

fn check_block(errors: &mut Errors, block: &IPBlock, kept: &Kept<'_>, path: &FieldPath) {
    let at = path.child("cidr");
    if !rules::required(errors, &block.cidr, &at) {
        return;
    }
    let Some(range) = shared::addresses::cidr_unless_kept(errors, &block.cidr, kept, &at) else {
        return;
    };
    for (index, part) in block.except.iter().enumerate() {
        let path = path.child("except").index(index);
        if let Some(inner) = shared::addresses::cidr_unless_kept(errors, part, kept, &path) {
            let within = shared::addresses::contains(range, inner.0) && inner.1 > range.1;
            if !within {
                let detail = "must be a strict subset of `cidr`";
                errors.push(FieldError::invalid(&path, part, detail));
            }
        }
    }
}
