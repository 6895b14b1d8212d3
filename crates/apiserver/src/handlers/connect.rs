//! Subresources that connect to a Node, Pod or Service: logs, exec, attach, port-forward and
//! proxies.
//!
//! These find out who is to be connected to, and refuse what upstream refuses: missing objects,
//! unknown containers, Pods without a node, addresses that are not for others. `proxy` connects.

mod kubelet;
mod log_options;
mod logs;
mod options;
pub(super) mod passing;
mod proxied;
mod service;
mod streams;

use crate::handlers::call::Call;
use crate::request::request_body::RequestBody;
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use crate::response::errors::{method_not_allowed, not_found};
use kubist_api::core::v1::Pod;
use kubist_api::{ResourceFacts, SubresourceFacts, find_kind};
use kubist_apimachinery::{AnyObject, GroupResource, KubeObject, Status};
use kubist_registry::admission;
use std::any::Any;
use std::fmt::Write as _;
use std::sync::Arc;

/// The connecting subresources of all resources.
const NAMES: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

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
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let method = call.request.method.as_str();
    let verb = match method {
        "GET" | "HEAD" => "get",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        // Upstream proxies this method, too, and lists no verb for it.
        "OPTIONS" if subresource.name == "proxy" => "get",
        _ => "",
    };
    if !subresource.verbs.contains(&verb) {
        return Err(method_not_allowed(method));
    }
    if subresource.name == "log" {
        return logs::handle(call, path).await;
    }
    admit(call, facts, subresource, path).await?;
    match subresource.name {
        "proxy" => proxied::handle(call, facts, path, body).await,
        name => streams::handle(call, name, path, body).await,
    }
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
    let options = options::of(subresource.kind, call.request, name);
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

/// Returns the container that a request is about, which may be left out if there is one.
///
/// # Errors
/// 400 if it must be named, or if the Pod does not have it.
fn container<'a>(pod: &'a Pod, named: &'a str) -> Result<&'a str, Status> {
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
    if named.is_empty() {
        if let [only] = main[..] {
            return Ok(only);
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
    if [main, init, ephemeral].concat().contains(&named) {
        return Ok(named);
    }
    let message = format!("container {named} is not valid for pod {name}");
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

/// Views an object as one of a kind that its resource has.
fn typed<K: KubeObject>(object: &dyn AnyObject) -> Result<&K, Status> {
    let any: &dyn Any = object;
    let wrong = || Status::internal_error(format!("the object is not a {}", K::KIND));
    any.downcast_ref().ok_or_else(wrong)
}

/// Looks up the node of a Pod. Upstream reports a missing one under the Pod's resource.
async fn node_of_pod(call: Call<'_>, node: &str) -> Result<Arc<dyn AnyObject>, Status> {
    find(call, "nodes", "", node).await.map_err(|status| {
        if status.is_not_found() {
            Status::not_found(&GroupResource::new("", "pods"), node)
        } else {
            status
        }
    })
}
