//! The log of a container, from the kubelet of its node.

use super::{container, find, kubelet, log_options, node_of_pod, typed};
use crate::handlers::call::Call;
use crate::proxy::backend::Backend;
use crate::proxy::go_path::{query, segment};
use crate::proxy::{Failure, forwarded};
use crate::request::request_body::RequestBody;
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, StatusCode};
use kubist_api::core::v1::{Node, Pod};
use kubist_apimachinery::{GenericResponse, GroupResource, Status, StatusReason};

/// Bytes that are read of a kubelet's error.
const ERROR_BYTES_MAX: usize = 50_000;

pub(super) async fn handle(call: Call<'_>, path: &ResourcePath) -> Result<ApiResponse, Status> {
    let name = path.name.as_deref().unwrap_or_default();
    let namespace = path.namespace.as_deref().unwrap_or_default();
    let options = log_options::parse(&call.request.query, name)?;
    let pod = find(call, "pods", namespace, name).await?;
    let pod = typed::<Pod>(&*pod)?;
    let named = call.request.query.first("container").unwrap_or_default();
    let container = container(pod, named)?;
    let node = pod.spec.node_name.as_str();
    if node.is_empty() {
        // There is no log output yet.
        return Ok(ApiResponse::bare(StatusCode::NO_CONTENT));
    }
    let node = node_of_pod(call, node).await?;
    let node = typed::<Node>(&*node)?;
    let proxies = &call.server.proxies;
    let backend = kubelet::of(node, proxies, options.unverified)?;
    let path = [namespace, name, container].map(segment).join("/");
    let mut target = format!("/containerLogs/{path}");
    if !options.query.is_empty() {
        target = format!("{target}?{}", query(&options.query));
    }
    let request = request(&backend, &target)?;
    let exchange = proxies.send(&call.cx.user.name, &backend, request).await;
    let exchange = exchange.map_err(|failure| unreachable(&backend, &target, failure))?;
    if !(200..=206).contains(&exchange.status.as_u16()) {
        let code = exchange.status.as_u16();
        if (300..400).contains(&code) {
            let why = Failure::Exchange("redirects forbidden".to_owned());
            return Err(unreachable(&backend, &target, why));
        }
        let body = exchange.beginning(ERROR_BYTES_MAX).await;
        let body = body.map_err(|error| Status::internal_error(error.to_string()))?;
        return Err(refused(code, &String::from_utf8_lossy(&body), name));
    }
    let mut response = proxies.pass_on(exchange, options.follows);
    // As upstream, a log is text whatever the kubelet says.
    response.code = StatusCode::OK;
    let length = response.headers.remove(CONTENT_LENGTH);
    response.headers = HeaderMap::new();
    response
        .headers
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    if let Some(length) = length {
        response.headers.insert(CONTENT_LENGTH, length);
    }
    Ok(response)
}

fn request(backend: &Backend, target: &str) -> Result<Request<RequestBody>, Status> {
    let request = Request::builder()
        .method(Method::GET)
        .uri(target)
        .body(RequestBody::default());
    let mut request = request.map_err(|error| Status::internal_error(error.to_string()))?;
    forwarded::add_host(request.headers_mut(), &backend.authority());
    Ok(request)
}

/// The error of a kubelet that did not answer, in upstream's words.
fn unreachable(backend: &Backend, target: &str, failure: Failure) -> Status {
    if matches!(failure, Failure::Full) {
        return super::passing::full();
    }
    let (scheme, host) = (backend.scheme(), backend.authority());
    let message = format!("Get \"{scheme}://{host}{target}\": {failure}");
    Status::failure(500, StatusReason::Unknown, message)
}

/// The error of a kubelet that answered with another code.
fn refused(code: u16, body: &str, name: &str) -> Status {
    match code {
        500 => Status::internal_error(body),
        400 => Status::bad_request(body),
        code => Status::generic(&GenericResponse {
            code: i32::from(code),
            resource: GroupResource::new("", "pods/log"),
            name,
            server_message: body,
            ..GenericResponse::default()
        }),
    }
}
