//! What is behind a Service: one of its endpoints that is a Pod of its namespace.

use super::proxied::{Named, is_reachable};
use super::{find, typed};
use crate::handlers::call::Call;
use crate::proxy::backend::Backend;
use crate::webhook::is_slice_of;
use kubist_api::core::v1::{Endpoints, ObjectReference, Pod, Service};
use kubist_api::discovery::v1::EndpointSlice;
use kubist_apimachinery::{GroupResource, Resource as _, Status};

/// An address of a Service, and the Pod that has it.
struct Candidate<'a> {
    ip: &'a str,
    port: i32,
    target: Option<&'a ObjectReference>,
}

/// Returns one of the endpoints that a name leads to, chosen at random.
///
/// # Errors
/// 404 for a Service without Endpoints and slices, 503 if none of its endpoints has the port and is
/// a Pod, as upstream.
pub(super) async fn endpoint(
    call: Call<'_>,
    named: Named<'_>,
    namespace: &str,
) -> Result<Backend, Status> {
    let name = named.name;
    let port = port_name(call, named, namespace).await?;
    let lookup = call.server.registry.lookup();
    let endpoints = lookup.get("", "endpoints", namespace, name).await?;
    let slices = if endpoints.is_some() {
        Vec::new()
    } else {
        let (group, plural) = (EndpointSlice::GROUP, EndpointSlice::PLURAL);
        lookup.list(group, plural, namespace).await?
    };
    let mut candidates = Vec::new();
    let mut is_empty = false;
    if let Some(endpoints) = &endpoints {
        let endpoints = typed::<Endpoints>(&**endpoints)?;
        is_empty = endpoints.subsets.is_empty();
        of_endpoints(endpoints, &port, &mut candidates);
    }
    let mut is_sliced = false;
    for slice in &slices {
        let slice = typed::<EndpointSlice>(&**slice)?;
        if is_slice_of(slice, name) {
            is_sliced = true;
            of_slice(slice, &port, &mut candidates);
        }
    }
    if endpoints.is_none() && !is_sliced {
        // Upstream's error for a service without endpoints.
        return Err(Status::not_found(&GroupResource::new("", "services"), name));
    }
    let count = candidates.len() as u64;
    let first = call.server.chance.number().checked_rem(count).unwrap_or(0);
    let first = usize::try_from(first).unwrap_or_default();
    let (before, from) = candidates.split_at(first);
    for candidate in from.iter().chain(before) {
        if is_pod(call, candidate, namespace).await
            && let Ok(port) = u16::try_from(candidate.port)
        {
            return Ok(named.backend(call, candidate.ip, Some(port)));
        }
    }
    let text = if is_empty { name } else { named.text };
    let message = format!("no endpoints available for service {text:?}");
    Err(Status::service_unavailable(message))
}

/// Returns the name of the port: a number is one of the Service's ports.
async fn port_name(call: Call<'_>, named: Named<'_>, namespace: &str) -> Result<String, Status> {
    let Ok(number) = named.port.parse::<i64>() else {
        return Ok(named.port.to_owned());
    };
    let service = find(call, "services", namespace, named.name).await?;
    let mut ports = typed::<Service>(&*service)?.spec.ports.iter();
    let found = ports.find(|it| i64::from(it.port) == number);
    found.map(|it| it.name.to_string()).ok_or_else(|| {
        let name = named.name;
        let message = format!("no service port {number} found for service {name:?}");
        Status::service_unavailable(message)
    })
}

fn of_endpoints<'a>(endpoints: &'a Endpoints, port: &str, all: &mut Vec<Candidate<'a>>) {
    for subset in &endpoints.subsets {
        let ports = subset.ports.iter().filter(|it| *it.name == *port);
        for port in ports {
            all.extend(subset.addresses.iter().map(|it| Candidate {
                ip: &it.ip,
                port: port.port,
                target: it.target_ref.as_deref(),
            }));
        }
    }
}

fn of_slice<'a>(slice: &'a EndpointSlice, port: &str, all: &mut Vec<Candidate<'a>>) {
    let mut ports = slice.ports.iter();
    let found = ports.find(|it| it.name.as_deref().unwrap_or_default() == port);
    let Some(port) = found.and_then(|it| it.port) else {
        return;
    };
    let ready = slice
        .endpoints
        .iter()
        .filter(|it| it.conditions.ready != Some(false));
    for endpoint in ready {
        all.extend(endpoint.addresses.iter().map(|ip| Candidate {
            ip,
            port,
            target: endpoint.target_ref.as_deref(),
        }));
    }
}

/// Reports whether an endpoint is a Pod of the Service's namespace: nothing else is proxied to.
async fn is_pod(call: Call<'_>, candidate: &Candidate<'_>, namespace: &str) -> bool {
    let Some(target) = candidate.target.filter(|it| *it.namespace == *namespace) else {
        return false;
    };
    let Ok(pod) = find(call, "pods", namespace, &target.name).await else {
        return false;
    };
    let addresses = typed::<Pod>(&*pod).map(|it| &it.status.pod_ips);
    let has_it = addresses.is_ok_and(|all| all.iter().any(|it| *it.ip == *candidate.ip));
    has_it && is_reachable(candidate.ip)
}
