//! The simulated nodes.

use kubist_api::core::v1::{Node, NodeAddress, NodeCondition, NodeSystemInfo};
use kubist_apimachinery::{Quantity, Str, Time};
use std::collections::BTreeMap;

/// Returns the name of a node, counted from 1.
pub(super) fn name(number: u32) -> String {
    format!("node-{number}")
}

/// Returns a node that is ready and has capacity for everything.
pub(super) fn node(number: u32, now: Time) -> Node {
    let name = Str::from(name(number));
    let mut node = Node::default();
    let labels = [
        ("kubernetes.io/hostname", name.clone()),
        ("kubernetes.io/os", "linux".into()),
        ("kubernetes.io/arch", "amd64".into()),
    ];
    node.metadata.labels = labels.map(|(key, value)| (Str::from(key), value)).into();
    node.metadata.name = name.clone();
    node.status.capacity = capacity();
    node.status.allocatable = capacity();
    let address = |type_: &str, address: Str| NodeAddress {
        type_: type_.into(),
        address,
    };
    node.status.addresses = vec![
        address("InternalIP", format!("10.0.0.{}", number % 254 + 1).into()),
        address("Hostname", name),
    ];
    node.status.conditions = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID"),
        ("Ready", "True", "KubeletReady"),
    ]
    .map(|(type_, status, reason)| NodeCondition {
        type_: type_.into(),
        status: status.into(),
        last_heartbeat_time: Some(now),
        last_transition_time: Some(now),
        reason: reason.into(),
        message: "simulated node without a kubelet".into(),
    })
    .into();
    node.status.node_info = NodeSystemInfo {
        kubelet_version: "v0.0.0-kubist".into(),
        operating_system: "linux".into(),
        architecture: "amd64".into(),
        ..NodeSystemInfo::default()
    };
    node
}

fn capacity() -> BTreeMap<Str, Quantity> {
    let resources = [("cpu", "64"), ("memory", "256Gi"), ("pods", "1000")];
    let parsed = resources.into_iter().filter_map(|(name, amount)| {
        let amount = amount.parse().ok()?;
        Some((Str::from(name), amount))
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_ready_and_has_room() {
        let node = node(2, Time::from_unix(1));
        assert_eq!(node.metadata.name, "node-2");
        assert_eq!(node.status.capacity.len(), 3);
        let ready = node.status.conditions.iter().find(|it| it.type_ == "Ready");
        assert!(ready.is_some_and(|it| it.status == "True"));
    }
}
