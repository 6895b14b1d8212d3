//! Rows of Nodes.

use super::age::age;
use super::cells;
use super::listing::{joined, text_or};
use kubist_api::core::v1::Node;
use kubist_apimachinery::Time;
use serde_json::Value;
use std::collections::BTreeSet;

/// The prefix of labels whose key ends with a role.
const ROLE_PREFIX: &str = "node-role.kubernetes.io/";
/// The label whose value is a role.
const ROLE_LABEL: &str = "kubernetes.io/role";

pub(super) fn node(object: &Node, now: Time) -> Vec<Value> {
    let system = &object.status.node_info;
    cells![
        &*object.metadata.name,
        status(object),
        roles(object),
        age(&object.metadata, now),
        &*system.kubelet_version,
        address(object, "InternalIP"),
        address(object, "ExternalIP"),
        text_or(&system.os_image, "<unknown>"),
        text_or(&system.kernel_version, "<unknown>"),
        text_or(&system.container_runtime_version, "<unknown>"),
    ]
}

fn status(node: &Node) -> String {
    let ready = node
        .status
        .conditions
        .iter()
        .rfind(|it| it.type_ == "Ready");
    let word = match ready {
        None => "Unknown",
        Some(ready) if ready.status == "True" => "Ready",
        Some(_) => "NotReady",
    };
    let cordoned = if node.spec.unschedulable {
        ",SchedulingDisabled"
    } else {
        ""
    };
    format!("{word}{cordoned}")
}

fn roles(node: &Node) -> String {
    let role = |(label, value)| role(label, value);
    let labels = node
        .metadata
        .labels
        .iter()
        .map(|(label, value)| (&**label, &**value));
    let roles: BTreeSet<&str> = labels.filter_map(role).collect();
    text_or(&joined(roles, ","), "<none>").to_owned()
}

fn role<'a>(label: &'a str, value: &'a str) -> Option<&'a str> {
    let role = match label.strip_prefix(ROLE_PREFIX) {
        None if label == ROLE_LABEL => Some(value),
        role => role,
    };
    role.filter(|it| !it.is_empty())
}

fn address<'a>(node: &'a Node, kind: &str) -> &'a str {
    let found = node.status.addresses.iter().find(|it| it.type_ == kind);
    found.map_or("<none>", |it| &*it.address)
}
