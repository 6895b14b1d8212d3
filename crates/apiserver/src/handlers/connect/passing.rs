//! Passes a request on to a backend, and its answer or its upgrade back.

use crate::handlers::call::Call;
use crate::proxy::Failure;
use crate::proxy::backend::Backend;
use crate::proxy::exchange::Exchange;
use crate::proxy::forwarded::{add_host, forwarded, is_upgrade};
use crate::proxy::identity::is_identity;
use crate::proxy::location::Rewriting;
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use http::{Method, Request, StatusCode};
use kubist_apimachinery::{Status, StatusReason};

/// The header with the path that the client asked for.
const X_FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
/// What upstream removes from the answers of others.
const CORS: [HeaderName; 4] = [
    ACCESS_CONTROL_ALLOW_CREDENTIALS,
    ACCESS_CONTROL_ALLOW_HEADERS,
    ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN,
];

/// Where a request leads.
pub(crate) struct Route {
    pub(crate) backend: Backend,
    /// Path and query at the backend.
    pub(crate) target: String,
    /// The path of the proxy on this server, which the backend's paths are below. `None`: the
    /// request must be an upgrade.
    pub(crate) prefix: Option<String>,
    /// Who sends the request, for a backend that believes this server.
    pub(crate) identity: Option<HeaderMap>,
}

/// Passes a request on.
///
/// # Errors
/// The backend cannot be reached, or does not answer as HTTP wants.
pub(crate) async fn pass(
    call: Call<'_>,
    route: Route,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let upgrades = is_upgrade(&call.request.headers);
    if !upgrades && route.prefix.is_none() {
        return Err(Status::bad_request("Upgrade request required"));
    }
    let mut request = request(call, &route, body)?;
    let proxies = &call.server.proxies;
    if upgrades {
        let sent = proxies
            .send(&call.cx.user.name, &route.backend, request)
            .await;
        let exchange = sent.map_err(|failure| not_upgraded(&failure))?;
        return upgraded(call, exchange, body).await;
    }
    let prefix = route.prefix.as_deref().unwrap_or_default();
    let path = route.target.split('?').next().unwrap_or_default();
    if let Ok(uri) = HeaderValue::from_str(&format!("{prefix}{path}")) {
        request.headers_mut().insert(X_FORWARDED_URI, uri);
    }
    let asked_host = call.request.host().unwrap_or_default();
    let sent = proxies
        .send(&call.cx.user.name, &route.backend, request)
        .await;
    let exchange = sent.map_err(|failure| match failure {
        Failure::Full => full(),
        why => Status::service_unavailable(format!("error trying to reach service: {why}")),
    })?;
    if exchange.status == StatusCode::SWITCHING_PROTOCOLS {
        let why = "error trying to reach service: it switched protocols without being asked to";
        return Err(Status::service_unavailable(why));
    }
    let mut response = proxies.pass_on(exchange, false);
    for name in &CORS {
        response.headers.remove(name);
    }
    let location = response.headers.get(LOCATION);
    if let Some(location) = location.and_then(|it| it.to_str().ok()) {
        let rewriting = Rewriting {
            hosts: [&route.backend.authority(), asked_host],
            prefix,
        };
        if let Ok(location) = HeaderValue::from_str(&rewriting.rewritten(location)) {
            response.headers.insert(LOCATION, location);
        }
    }
    // As upstream, what the backend says of caches is added to what this server says.
    let own = HeaderValue::from_static("no-cache, private");
    response.headers.append(CACHE_CONTROL, own);
    Ok(response)
}

/// The error of a request while too many connections are open.
pub(super) fn full() -> Status {
    let why = "too many connections to other servers, please try again later";
    Status::too_many_requests(why, 1)
}

fn request(
    call: Call<'_>,
    route: &Route,
    body: &mut RequestBody,
) -> Result<Request<RequestBody>, Status> {
    let broken = |why: &dyn std::fmt::Display| Status::bad_request(why.to_string());
    let method = Method::from_bytes(call.request.method.as_bytes());
    let request = Request::builder()
        .method(method.map_err(|error| broken(&error))?)
        .uri(&route.target)
        .body(body.take());
    let mut request = request.map_err(|error| broken(&error))?;
    let of_proxies = call.server.authenticator.proxy_headers();
    let mut headers = forwarded(&call.request.headers, of_proxies, call.source);
    if let Some(identity) = &route.identity {
        // Nobody but this server says it.
        let names = headers.keys().filter(|it| is_identity(it));
        let names: Vec<_> = names.cloned().collect();
        for name in names {
            headers.remove(name);
        }
        headers.extend(identity.clone());
    }
    *request.headers_mut() = headers;
    let host = call.request.host();
    let own = route.backend.authority();
    add_host(request.headers_mut(), host.unwrap_or(&own));
    Ok(request)
}

async fn upgraded(
    call: Call<'_>,
    exchange: Exchange,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let code = exchange.status.as_u16();
    let proxies = &call.server.proxies;
    if exchange.status != StatusCode::SWITCHING_PROTOCOLS {
        if code < 400 {
            let message = format!("invalid upgrade response: status code {code}");
            return Err(Status::failure(500, StatusReason::Unknown, message));
        }
        return Ok(proxies.pass_on(exchange, false));
    }
    let Some(client) = body.take_upgrade() else {
        let message = "request connection cannot be hijacked: it is not one of HTTP/1.1";
        return Err(Status::failure(500, StatusReason::Unknown, message));
    };
    let tunnel = proxies.tunnel(exchange, client).await;
    tunnel.map_err(|failure| not_upgraded(&failure))
}

fn not_upgraded(failure: &Failure) -> Status {
    let message = match failure {
        Failure::Full => return full(),
        Failure::Connect(why) => format!("error dialing backend: {why}"),
        Failure::Exchange(why) => why.clone(),
    };
    Status::failure(500, StatusReason::Unknown, message)
}
