//! Exec, attach and port-forward: streams to a container or a Pod, by the kubelet of its node.

use super::{container, find, kubelet, node_of_pod, passing, typed};
use crate::handlers::call::Call;
use crate::proxy::forwarded::{BEARER_PROTOCOL, websocket_protocols};
use crate::proxy::go_path::{query, segment};
use crate::request::request_body::RequestBody;
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use kubist_api::core::v1::{Node, Pod};
use kubist_apimachinery::{GroupResource, Status};
use kubist_authorization::{Action, Attributes, ResourceAction};

/// The names of the standard streams, in requests and at kubelets.
const STREAMS: [(&str, &str); 4] = [
    ("stdin", "input"),
    ("stdout", "output"),
    ("stderr", "error"),
    ("tty", "tty"),
];

/// The protocols of a `WebSocket` that only newer kubelets know.
const NEW_PROTOCOLS: [&str; 2] = ["v5.channel.k8s.io", "SPDY/3.1+portforward.k8s.io"];
/// The feature that these declare.
const KNOWS_THEM: &str = "ExtendWebSocketsToKubelet";

pub(super) async fn handle(
    call: Call<'_>,
    subresource: &str,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let name = path.name.as_deref().unwrap_or_default();
    let namespace = path.namespace.as_deref().unwrap_or_default();
    permit_create(call, path).await?;
    let pod = find(call, "pods", namespace, name).await?;
    let pod = typed::<Pod>(&*pod)?;
    let asked = &call.request.query;
    let forwards = subresource == "portforward";
    let container = if forwards {
        None
    } else {
        let named = asked.first("container").unwrap_or_default();
        Some(container(pod, named)?)
    };
    let node = pod.spec.node_name.as_str();
    if node.is_empty() {
        let message = format!("pod {name} does not have a host assigned");
        return Err(Status::bad_request(message));
    }
    let node = node_of_pod(call, node).await?;
    let node = typed::<Node>(&*node)?;
    check_protocols(call, node)?;
    let backend = kubelet::of(node, &call.server.proxies, false)?;
    let mut pairs: Vec<(&str, String)> = Vec::new();
    if forwards {
        let ports: Vec<&str> = asked.all("ports").filter(|it| is_port(it)).collect();
        if !ports.is_empty() {
            pairs.push(("port", ports.join(",")));
        }
    } else {
        let on = STREAMS.iter().filter(|(name, _)| asked.flag(name));
        pairs.extend(on.map(|(_, name)| (*name, "1".to_owned())));
    }
    if subresource == "exec" {
        pairs.extend(asked.all("command").map(|it| ("command", it.to_owned())));
    }
    let verb = if forwards { "portForward" } else { subresource };
    let parts = [Some(namespace), Some(name), container];
    let parts: Vec<_> = parts.into_iter().flatten().map(segment).collect();
    let mut target = format!("/{verb}/{}", parts.join("/"));
    if !pairs.is_empty() {
        target = format!("{target}?{}", query(&pairs));
    }
    let route = passing::Route {
        backend,
        target,
        prefix: None,
        identity: None,
    };
    passing::pass(call, route, body).await
}

/// Refuses a WebSocket whose protocols the kubelet does not know, unless it says that it does, so
/// that the client falls back to others without a detour. Upstream translates them.
fn check_protocols(call: Call<'_>, node: &Node) -> Result<(), Status> {
    let offered = websocket_protocols(&call.request.headers);
    let is_new = |it: &&str| NEW_PROTOCOLS.contains(it);
    let declared = &node.status.declared_features;
    if offered.is_empty()
        || !offered
            .iter()
            .all(|it| is_new(it) || it.starts_with(BEARER_PROTOCOL))
        || declared.iter().any(|it| **it == *KNOWS_THEM)
    {
        return Ok(());
    }
    let message = format!(
        "unable to upgrade: the kubelet of node {:?} does not declare {KNOWS_THEM}, which protocol \
         {} needs",
        node.metadata.name, offered[0]
    );
    Err(Status::bad_request(message))
}

fn is_port(text: &str) -> bool {
    text.parse::<i32>().is_ok()
}

/// A WebSocket begins with GET, and yet may do as much as POST: as upstream, who may not create
/// may not get.
async fn permit_create(call: Call<'_>, path: &ResourcePath) -> Result<(), Status> {
    let authorization = &call.server.authorization;
    if call.request.method == "POST" || authorization.allows_all() {
        return Ok(());
    }
    let text = |it: &'_ Option<String>| it.clone().unwrap_or_default();
    let (namespace, name) = (text(&path.namespace), text(&path.name));
    let subresource = text(&path.subresource);
    let action = ResourceAction {
        version: &path.version,
        resource: &path.plural,
        subresource: &subresource,
        namespace: &namespace,
        name: &name,
        ..ResourceAction::default()
    };
    let decision = authorization
        .decide(Attributes {
            user: &call.cx.user,
            verb: "create",
            action: Action::Resource(action),
        })
        .await;
    if decision.is_allowed() {
        return Ok(());
    }
    let resource = GroupResource::new("", path.plural.as_str());
    Err(Status::forbidden(&resource, &name, decision.reason()))
}
