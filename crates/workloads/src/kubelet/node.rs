//! The simulated nodes.

use kubist_api::core::v1::{Node, NodeAddress, NodeCondition, NodeSystemInfo};
use kubist_apimachinery::{Quantity, Str, Time};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Returns the name of a node, counted from 1.
pub(super) fn name(number: u32) -> String {
    format!("node-{number}")
}

/// Declares that the kubelet speaks the newest protocols of WebSockets itself.
const SPEAKS_WEBSOCKETS: &str = "ExtendWebSocketsToKubelet";

/// Returns a node that is ready and has capacity for everything; `kubelet` is where its kubelet
/// answers.
pub(super) fn node(number: u32, kubelet: Option<SocketAddr>, now: Time) -> Node {
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
    if let Some(kubelet) = kubelet {
        // Nobody can resolve the node's name.
        node.status.addresses = vec![address("InternalIP", kubelet.ip().to_string().into())];
        let endpoint = &mut node.status.daemon_endpoints.kubelet_endpoint;
        endpoint.port = kubelet.port().into();
        node.status.declared_features = vec![SPEAKS_WEBSOCKETS.into()];
    } else {
        let ip = format!("10.0.0.{}", number % 254 + 1);
        node.status.addresses = vec![address("InternalIP", ip.into()), address("Hostname", name)];
    }
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
        message: "simulated node".into(),
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
        let node = node(2, None, Time::from_unix(1));
        assert_eq!(node.metadata.name, "node-2");
        assert_eq!(node.status.capacity.len(), 3);
        let ready = node.status.conditions.iter().find(|it| it.type_ == "Ready");
        assert!(ready.is_some_and(|it| it.status == "True"));
    }

    #[test]
    fn a_node_says_where_its_kubelet_is() {
        let kubelet = "127.0.0.1:4711".parse().ok();
        let status = node(1, kubelet, Time::from_unix(1)).status;
        assert_eq!(status.addresses.len(), 1);
        assert_eq!(status.addresses[0].address, "127.0.0.1");
        assert_eq!(status.daemon_endpoints.kubelet_endpoint.port, 4711);
        assert_eq!(status.declared_features, [SPEAKS_WEBSOCKETS]);
    }
}
