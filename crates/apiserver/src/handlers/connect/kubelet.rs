//! Where the kubelet of a node is.

use crate::proxy::Proxies;
use crate::proxy::backend::Backend;
use kubist_api::core::v1::Node;
use kubist_apimachinery::{Status, StatusReason};
use std::sync::Arc;

/// The port of a kubelet that does not say one.
const PORT: u16 = 10_250;

/// Returns the kubelet of a node; `unverified` if any certificate will do.
///
/// # Errors
/// The node has no address of the configured types.
pub(super) fn of(node: &Node, proxies: &Proxies, unverified: bool) -> Result<Backend, Status> {
    let addresses = &node.status.addresses;
    let mut types = proxies.kubelet_address_types.iter();
    let address = types.find_map(|wanted| addresses.iter().find(|it| *it.type_ == **wanted));
    let Some(address) = address else {
        let known: Vec<_> = addresses
            .iter()
            .map(|it| format!("{{{} {}}}", it.type_, it.address))
            .collect();
        let message = format!(
            "no preferred addresses found; known addresses: [{}]",
            known.join(" ")
        );
        return Err(Status::failure(500, StatusReason::Unknown, message));
    };
    let port = node.status.daemon_endpoints.kubelet_endpoint.port;
    let tls = if unverified {
        &proxies.unverified_kubelet_tls
    } else {
        &proxies.kubelet_tls
    };
    Ok(Backend {
        host: address.address.to_string(),
        port: u16::try_from(port)
            .ok()
            .filter(|it| *it > 0)
            .unwrap_or(PORT),
        tls: Some(Arc::clone(tls)),
        server_name: None,
        timeout: proxies.kubelet_timeout,
    })
}
