//! Answers that are made instead of the server's: the same `Status`, in the same form.

use super::call::{Call, Verb};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use kubist::apimachinery::wire::to_json;
use kubist::apimachinery::{GroupResource, Status};
use kubist::transport::{Endpoint, TransportError};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The body of an answer.
pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, TransportError>;

/// Returns a body of these bytes.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> AnswerBody {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// Returns the response with this status.
pub(crate) fn response(status: &Status) -> Response<AnswerBody> {
    let mut response = Response::new(whole(to_json(status)));
    let code = u16::try_from(status.code).ok();
    let code = code.and_then(|it| StatusCode::from_u16(it).ok());
    *response.status_mut() = code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(after) = status.retry_after().filter(|it| !it.is_zero()) {
        headers.insert(RETRY_AFTER, HeaderValue::from(after.as_secs()));
    }
    response
}

/// The connection broke.
pub(crate) fn broken() -> TransportError {
    let cause = io::Error::new(io::ErrorKind::ConnectionReset, "cut by a fault of the test");
    TransportError::Closed(Arc::new(cause))
}

/// Nothing listens.
pub(crate) fn refused() -> TransportError {
    let cause = io::Error::new(
        io::ErrorKind::ConnectionRefused,
        "the server is down by a fault of the test",
    );
    TransportError::Connect {
        endpoint: Endpoint {
            host: "in-process".into(),
            port: 80,
        },
        source: Arc::new(cause),
    }
}

fn resource_of(call: &Call) -> GroupResource {
    GroupResource::new(call.group.as_str(), call.resource.as_str())
}

/// 409: somebody else has written the object meanwhile.
pub(crate) fn conflict(call: &Call) -> Status {
    let resource = resource_of(call);
    match call.verb {
        Verb::Create => Status::already_exists(&resource, &call.name),
        _ => Status::modified(&resource, &call.name),
    }
}

/// 429, as flow control answers. 0 s is sent as 1 s: upstream sends no less.
pub(crate) fn too_many_requests(after: Duration) -> Status {
    let seconds = i32::try_from(after.as_secs().max(1)).unwrap_or(i32::MAX);
    Status::too_many_requests("Too many requests, please try again later.", seconds)
}

/// 500, as for an error of storage.
pub(crate) fn internal_error() -> Status {
    Status::internal_error("etcdserver: request failed")
}

/// 503, as of a server that starts.
pub(crate) fn unavailable() -> Status {
    Status::service_unavailable("apiserver is shutting down")
}

/// 504: the deadline of the request passed. The write may have been done.
pub(crate) fn timeout() -> Status {
    Status::timeout("request did not complete within the allotted timeout", 0)
}

/// 410: the version is no longer in the history.
pub(crate) fn gone() -> Status {
    Status::expired("The resourceVersion for the provided watch is too old.")
}

/// 422 of a server without streaming lists.
pub(crate) fn no_streaming_list(call: &Call) -> Status {
    let mut status = Status::invalid(
        &kubist::apimachinery::GroupKind {
            group: "meta.k8s.io".into(),
            kind: "ListOptions".into(),
        },
        "",
        &[],
    );
    status.message = format!(
        "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents \
         is forbidden for watch of {} unless the WatchList feature gate is enabled",
        call.resource
    )
    .into();
    status
}
