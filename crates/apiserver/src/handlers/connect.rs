//! Subresources that connect to a Node, Pod or Service: logs, exec, attach, port-forward and
//! proxies.
//!
//! No kubelets stand behind this server, and it opens no connections to them. Errors that do not
//! need a connection are upstream's: missing objects, unknown containers, Pods without a node. All
//! else gets upstream's error for unreachable nodes.

use crate::handlers::call::Call;
use crate::handlers::{connect_options, log_options};
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use crate::response::errors::{method_not_allowed, not_found};
use http::StatusCode;
use kubist_api::core::v1::Pod;
use kubist_api::{ResourceFacts, SubresourceFacts, find_kind};
use kubist_apimachinery::{AnyObject, GroupResource, Status};
use kubist_registry::admission;
use std::any::Any;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

/// The connecting subresources of all resources.
const NAMES: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
/// The error in place of a connection.
const OUT_OF_REACH: &str = "error dialing backend: this server does not connect to nodes";

/// Returns the connecting subresource that a path names, if any.
pub(super) fn subresource(
    facts: &'static ResourceFacts,
    path: &ResourcePath,
) -> Option<&'static SubresourceFacts> {
    let name = path.subresource.as_deref()?;
    let found = facts.subresources.iter().find(|it| it.name == name)?;
    // A proxy path continues with a path on the other side; the others end here.
    let fits = found.name == "proxy" || !path.more;
    (NAMES.contains(&found.name) && fits).then_some(found)
}

pub(super) async fn handle(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    subresource: &'static SubresourceFacts,
    path: &ResourcePath,
) -> Result<ApiResponse, Status> {
    let method = call.request.method.as_str();
    let verb = match method {
        "GET" | "HEAD" => "get",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "",
    };
    if !subresource.verbs.contains(&verb) {
        return Err(method_not_allowed(method));
    }
    let name = path.name.as_deref().unwrap_or_default();
    let namespace = path.namespace.as_deref().unwrap_or_default();
    let name = match subresource.name {
        "proxy" => proxied(name),
        _ => name,
    };
    if subresource.name == "log" {
        log_options::check(&call.request.query, name)?;
    } else {
        admit(call, facts, subresource, path).await?;
    }
    let object = find(call, facts.plural, namespace, name).await?;
    if facts.plural == "services" {
        return Err(service_proxy_error(call, namespace, name).await?);
    }
    let any: &dyn Any = &*object;
    let Some(pod) = any.downcast_ref::<Pod>() else {
        return Err(Status::internal_error(OUT_OF_REACH));
    };
    if matches!(subresource.name, "attach" | "exec" | "log") {
        let container = call.request.query.first("container").unwrap_or_default();
        check_container(pod, container)?;
    }
    if subresource.name == "proxy" && !is_reachable(pod) {
        return Err(Status::bad_request("address not allowed"));
    }
    let node = pod.spec.node_name.as_str();
    match (node, subresource.name) {
        // There is no log output yet.
        ("", "log") => return Ok(ApiResponse::bare(StatusCode::NO_CONTENT)),
        ("", _) => {
            let message = format!("pod {name} does not have a host assigned");
            return Err(Status::bad_request(message));
        }
        _ => {}
    }
    let found = find(call, "nodes", "", node).await;
    found.map_err(|status| {
        if status.is_not_found() {
            // Upstream reports the node under the Pod's resource.
            Status::not_found(&GroupResource::new("", facts.plural), node)
        } else {
            status
        }
    })?;
    Err(Status::internal_error(OUT_OF_REACH))
}

/// Asks admission about a connection.
async fn admit(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    subresource: &'static SubresourceFacts,
    path: &ResourcePath,
) -> Result<(), Status> {
    let name = path.name.as_deref().unwrap_or_default();
    let kind = find_kind(subresource.group, subresource.version, subresource.kind);
    let options = connect_options::of(subresource.kind, call.request, name);
    let (Some(kind), Some(options)) = (kind, options) else {
        return Ok(());
    };
    let target = admission::Target {
        operation: admission::Operation::Connect,
        resource: facts,
        subresource: subresource.name,
        kind,
        namespace: path.namespace.as_deref().unwrap_or_default(),
        name,
        dry_run: false,
    };
    let registry = &call.server.registry;
    registry.admit_connection(call.cx, target, &*options).await
}

/// Returns the error of a service proxy request.
async fn service_proxy_error(
    call: Call<'_>,
    namespace: &str,
    name: &str,
) -> Result<Status, Status> {
    let lookup = call.server.registry.lookup();
    let endpoints = lookup.get("", "endpoints", namespace, name).await?;
    if endpoints.is_none() {
        // Upstream's error for a service without endpoints.
        return Ok(Status::not_found(&GroupResource::new("", "services"), name));
    }
    let message = format!("no endpoints available for service {name:?}");
    Ok(Status::service_unavailable(message))
}

/// Reports whether a Pod has an address that may be proxied to.
fn is_reachable(pod: &Pod) -> bool {
    let address = pod.status.pod_ips.first();
    let address = address.and_then(|it| it.ip.parse::<IpAddr>().ok());
    address.is_some_and(|address| {
        let is_local = match address {
            IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
            IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
        };
        !(is_local || address.is_unspecified() || address.is_loopback() || address.is_multicast())
    })
}

/// Returns the name in `[scheme:]name[:port]`.
fn proxied(name: &str) -> &str {
    let parts: Vec<&str> = name.split(':').collect();
    match parts[..] {
        [_, name, _] | [name, _] => name,
        _ => name,
    }
}

/// Checks that a container is named if necessary, and that the Pod has it.
fn check_container(pod: &Pod, container: &str) -> Result<(), Status> {
    let spec = &pod.spec;
    let main: Vec<&str> = spec.containers.iter().map(|it| it.name.as_str()).collect();
    let init: Vec<&str> = spec
        .init_containers
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    let ephemeral = spec.ephemeral_containers.iter().map(|it| it.name.as_str());
    let ephemeral: Vec<&str> = ephemeral.collect();
    let name = &pod.metadata.name;
    if container.is_empty() {
        if main.len() == 1 {
            return Ok(());
        }
        let mut message = format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            main.join(" ")
        );
        for (kind, names) in [("init", &init), ("ephemeral", &ephemeral)] {
            if !names.is_empty() {
                let names = names.join(" ");
                // Writing to a string cannot fail.
                let _ = write!(message, " or one of the {kind} containers: [{names}]");
            }
        }
        return Err(Status::bad_request(message));
    }
    if [main, init, ephemeral].concat().contains(&container) {
        return Ok(());
    }
    let message = format!("container {container} is not valid for pod {name}");
    Err(Status::bad_request(message))
}

/// Looks up an object of the core group; 404 without an object for an empty name.
async fn find(
    call: Call<'_>,
    plural: &str,
    namespace: &str,
    name: &str,
) -> Result<Arc<dyn AnyObject>, Status> {
    if name.is_empty() {
        return Err(not_found());
    }
    call.core_object(plural, namespace, name).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::PodIP;

    #[test]
    fn a_proxy_leads_to_addresses_of_one_host_elsewhere() {
        for (address, expected) in [
            ("10.1.2.3", true),
            ("2001:db8::1", true),
            ("127.0.0.1", false),
            ("169.254.1.1", false),
            ("fe80::1", false),
            ("224.0.0.1", false),
            ("x", false),
        ] {
            let mut pod = Pod::default();
            assert!(!is_reachable(&pod));
            pod.status.pod_ips.push(PodIP { ip: address.into() });
            assert_eq!(is_reachable(&pod), expected, "{address}");
        }
    }

    #[test]
    fn a_proxied_name_may_have_a_scheme_and_a_port() {
        for name in ["web", "web:80", "https:web:80", "http:web:"] {
            assert_eq!(proxied(name), "web", "{name}");
        }
    }
}
