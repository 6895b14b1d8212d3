//! Proxies to nodes, Pods and Services, by their names with a scheme and a port if need be.

use super::passing::{self, Route};
use super::{find, kubelet, options, service, typed};
use crate::handlers::call::Call;
use crate::proxy::DIAL_TIMEOUT;
use crate::proxy::backend::Backend;
use crate::proxy::forwarded::is_upgrade;
use crate::proxy::go_path;
use crate::request::request_body::RequestBody;
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use crate::response::errors::not_found;
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use kubist_api::ResourceFacts;
use kubist_api::core::v1::{Node, Pod};
use kubist_apimachinery::Status;
use std::net::IpAddr;
use std::sync::Arc;

/// The ports of a scheme.
const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

/// A name with a scheme and a port, each of which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    scheme: &'a str,
    pub(super) name: &'a str,
    pub(super) port: &'a str,
    /// All of it.
    pub(super) text: &'a str,
}

impl<'a> Named<'a> {
    /// Parses `name`, `name:port` and `scheme:name:port`.
    fn parse(text: &'a str) -> Option<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let (scheme, name, port) = match parts[..] {
            [name] => ("", name, ""),
            [name, port] => ("", name, port),
            [scheme, name, port] => (scheme, name, port),
            _ => return None,
        };
        let valid = !name.is_empty() && matches!(scheme, "" | "http" | "https");
        valid.then_some(Self {
            scheme,
            name,
            port,
            text,
        })
    }

    /// Returns a backend on this address; without a port, on that of its scheme.
    pub(super) fn backend(&self, call: Call<'_>, host: &str, port: Option<u16>) -> Backend {
        let has_tls = self.scheme == "https";
        let default = if has_tls { HTTPS_PORT } else { HTTP_PORT };
        Backend {
            host: host.to_owned(),
            port: port.unwrap_or(default),
            tls: has_tls.then(|| Arc::clone(&call.server.proxies.plain_tls)),
            server_name: None,
            timeout: DIAL_TIMEOUT,
        }
    }
}

pub(super) async fn handle(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let text = path.name.as_deref().unwrap_or_default();
    if text.is_empty() {
        return Err(not_found());
    }
    let kind = facts.singular;
    let named = Named::parse(text)
        .ok_or_else(|| Status::bad_request(format!("invalid {kind} request {text:?}")))?;
    let namespace = path.namespace.as_deref().unwrap_or_default();
    let backend = match facts.plural {
        "nodes" => node(call, named).await?,
        "pods" => pod(call, named, namespace).await?,
        _ => service::endpoint(call, named, namespace).await?,
    };
    let request = call.request;
    let path = go_path::clean(&options::proxied_path(&request.path, text));
    let query = request.target().split_once('?').map(|(_, query)| query);
    let reads = matches!(request.method.as_str(), "GET" | "HEAD");
    if path.is_empty() && reads && !is_upgrade(&request.headers) {
        return Ok(to_root(&request.path, query));
    }
    let target = if path.is_empty() {
        "/".to_owned()
    } else {
        path.clone()
    };
    let target = match query {
        Some(query) => format!("{target}?{query}"),
        None => target,
    };
    let whole = request.path.as_str();
    let below = options::proxied_path(whole, text);
    let prefix = whole.strip_suffix(&*below).unwrap_or(whole).to_owned();
    let route = Route {
        backend,
        target,
        prefix: Some(prefix),
        identity: None,
    };
    passing::pass(call, route, body).await
}

/// A proxy's own path leads to the root of what is behind it, so that relative links work.
fn to_root(path: &str, query: Option<&str>) -> ApiResponse {
    let mut response = ApiResponse::bare(StatusCode::MOVED_PERMANENTLY);
    let query = query.map_or_else(String::new, |it| format!("?{it}"));
    if let Ok(location) = HeaderValue::from_str(&format!("{path}/{query}")) {
        response.headers.insert(LOCATION, location);
    }
    response
}

/// Returns what is at a port of a node: its kubelet, unless another one is named.
async fn node(call: Call<'_>, named: Named<'_>) -> Result<Backend, Status> {
    let node = find(call, "nodes", "", named.name).await?;
    let kubelet = kubelet::of(typed::<Node>(&*node)?, &call.server.proxies, false)?;
    check_host(&kubelet.host).await?;
    if named.port.is_empty() || *named.port == kubelet.port.to_string() {
        return Ok(kubelet);
    }
    let port = port(named.port)?;
    Ok(named.backend(call, &kubelet.host, Some(port)))
}

/// Returns what is at a port of a Pod: the first port of its containers, unless one is named.
async fn pod(call: Call<'_>, named: Named<'_>, namespace: &str) -> Result<Backend, Status> {
    let pod = find(call, "pods", namespace, named.name).await?;
    let pod = typed::<Pod>(&*pod)?;
    let address = pod.status.pod_ips.first();
    let address = address.filter(|it| is_reachable(&it.ip));
    let address = address.ok_or_else(not_allowed)?;
    let port = match named.port {
        "" => {
            let mut ports = pod.spec.containers.iter().flat_map(|it| &it.ports);
            let first = ports.next().map(|it| it.container_port);
            first.and_then(|it| u16::try_from(it).ok())
        }
        named => Some(port(named)?),
    };
    Ok(named.backend(call, &address.ip, port))
}

fn port(text: &str) -> Result<u16, Status> {
    let why =
        || format!("error trying to reach service: dial tcp: lookup tcp/{text}: unknown port");
    text.parse().map_err(|_| Status::service_unavailable(why()))
}

fn not_allowed() -> Status {
    Status::bad_request("address not allowed")
}

/// Checks that all addresses of a host may be proxied to.
async fn check_host(host: &str) -> Result<(), Status> {
    if host.parse::<IpAddr>().is_ok() {
        return if is_reachable(host) {
            Ok(())
        } else {
            Err(not_allowed())
        };
    }
    let found = tokio::net::lookup_host((host, 0)).await;
    let found = found.map_err(|_| Status::bad_request(format!("lookup {host}: no such host")))?;
    for address in found {
        if !is_reachable(&address.ip().to_string()) {
            return Err(not_allowed());
        }
    }
    Ok(())
}

/// Reports whether an address is that of one host, elsewhere: what Go calls global unicast.
pub(super) fn is_reachable(address: &str) -> bool {
    let address = address.parse::<IpAddr>().ok();
    address.is_some_and(|address| {
        let address = address.to_canonical();
        let is_local = match address {
            IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
            IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
        };
        !(is_local || address.is_unspecified() || address.is_loopback() || address.is_multicast())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_leads_to_addresses_of_one_host_elsewhere() {
        for (address, expected) in [
            ("10.1.2.3", true),
            ("2001:db8::1", true),
            ("127.0.0.1", false),
            ("::ffff:127.0.0.1", false),
            ("169.254.1.1", false),
            ("fe80::1", false),
            ("224.0.0.1", false),
            ("", false),
            ("x", false),
        ] {
            assert_eq!(is_reachable(address), expected, "{address}");
        }
    }

    #[test]
    fn a_proxied_name_may_have_a_scheme_and_a_port() {
        let parsed = |text| Named::parse(text).map(|it| (it.scheme, it.name, it.port));
        for (text, expected) in [
            ("web", Some(("", "web", ""))),
            ("web:80", Some(("", "web", "80"))),
            ("https:web:80", Some(("https", "web", "80"))),
            ("http:web:", Some(("http", "web", ""))),
            ("ftp:web:80", None),
            (":80", None),
            ("a:b:c:d", None),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }
}
