//! Kinds that need no code: what moves their generation, what their names look like.

use crate::{Generation, NameRule, PlainStrategy, Strategy};
use std::sync::Arc;

/// Resources whose generation counts changes of the spec: group and plural.
const WITH_GENERATION: [(&str, &str); 25] = [
    ("", "pods"),
    ("", "replicationcontrollers"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apps", "daemonsets"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    (
        "flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations",
    ),
    ("networking.k8s.io", "ingressclasses"),
    ("networking.k8s.io", "ingresses"),
    ("networking.k8s.io", "networkpolicies"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "resourceslices"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("storage.k8s.io", "csidrivers"),
];

/// The strategy of a resource that has none of its own.
pub(crate) fn strategy(group: &str, plural: &str) -> Arc<dyn Strategy> {
    let generation = if (group, plural) == ("apps", "deployments") {
        Generation::SpecAndAnnotations
    } else if WITH_GENERATION.contains(&(group, plural)) {
        Generation::Spec
    } else {
        Generation::None
    };
    let name_rule = match (group, plural) {
        ("", "namespaces") => NameRule::DnsLabel,
        ("", "services") => NameRule::Dns1035Label,
        ("rbac.authorization.k8s.io", _) => NameRule::PathSegment,
        _ => NameRule::DnsSubdomain,
    };
    let fields: &[&str] = match (group, plural) {
        ("", "nodes") => &["spec.unschedulable"],
        ("", "secrets") => &["type"],
        ("", "namespaces") => &["status.phase"],
        ("", "replicationcontrollers") | ("apps", "replicasets") => &["status.replicas"],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        _ => &[],
    };
    Arc::new(PlainStrategy {
        generation,
        name_rule,
        fields,
    })
}
