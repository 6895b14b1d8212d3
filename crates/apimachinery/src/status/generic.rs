//! Statuses for HTTP responses without a Status in the body.
//!
//! Servers use it for unknown paths, clients for responses of proxies.

use super::{Status, StatusCause, StatusDetails};
use crate::go_text::quote;
use crate::{CauseType, StatusReason};
use crate::{GroupResource, Str};

/// An HTTP response without a Status.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct GenericResponse<'a> {
    /// The HTTP status code.
    pub code: i32,
    /// The HTTP method.
    pub method: &'a str,
    /// The requested resource; default if it is unknown.
    pub resource: GroupResource,
    /// The object's name; may be empty.
    pub name: &'a str,
    /// The text of the body.
    pub server_message: &'a str,
    /// The `Retry-After` header in seconds; 0 if there was none.
    pub retry_after_seconds: i32,
    /// Whether the body is not an API server's; it is then included as a cause.
    pub is_unexpected: bool,
}

impl Status {
    /// Returns the Status for an HTTP response without one.
    pub fn generic(response: &GenericResponse<'_>) -> Self {
        let (reason, mut message) = reason_and_message(response);
        let GenericResponse { resource, name, .. } = response;
        if !resource.group.is_empty() || !resource.resource.is_empty() {
            let verb = response.method.to_lowercase();
            let space = if name.is_empty() { "" } else { " " };
            message = format!("{message} ({verb} {resource}{space}{name})");
        }
        let cause = StatusCause {
            reason: CauseType::UnexpectedServerResponse.into(),
            message: response.server_message.into(),
            field: Str::default(),
        };
        Self::failure(response.code, reason, message).with_details(StatusDetails {
            name: (*name).into(),
            group: resource.group.clone(),
            kind: resource.resource.clone(),
            uid: Str::default(),
            causes: if response.is_unexpected {
                vec![cause]
            } else {
                Vec::new()
            },
            retry_after_seconds: response.retry_after_seconds,
        })
    }
}

fn reason_and_message(response: &GenericResponse<'_>) -> (StatusReason, String) {
    use StatusReason as R;
    let given = response.server_message;
    let (reason, message) = match response.code {
        409 if response.method == "POST" => (R::AlreadyExists, "the server reported a conflict"),
        409 => (R::Conflict, "the server reported a conflict"),
        404 => (
            R::NotFound,
            "the server could not find the requested resource",
        ),
        400 => (
            R::BadRequest,
            "the server rejected our request for an unknown reason",
        ),
        401 => (
            R::Unauthorized,
            "the server has asked for the client to provide credentials",
        ),
        403 => (R::Forbidden, given),
        406 if given.is_empty() || given == "unknown" => (
            R::NotAcceptable,
            "the server was unable to respond with a content type that the client supports",
        ),
        406 => (R::NotAcceptable, given),
        415 => (R::UnsupportedMediaType, given),
        405 => (
            R::MethodNotAllowed,
            "the server does not allow this method on the requested resource",
        ),
        422 => (
            R::Invalid,
            "the server rejected our request due to an error in our request",
        ),
        503 => (
            R::ServiceUnavailable,
            "the server is currently unable to handle the request",
        ),
        504 => (
            R::Timeout,
            "the server was unable to return a response in the time allotted, but may still be \
             processing the request",
        ),
        429 => (
            R::TooManyRequests,
            "the server has received too many requests and has asked us to try again later",
        ),
        code if code >= 500 => {
            let given = quote(given);
            let message = format!(
                "an error on the server ({given}) has prevented the request from succeeding"
            );
            return (R::InternalError, message);
        }
        code => {
            let message = format!(
                "the server responded with the status code {code} but did not return more \
                 information"
            );
            return (R::Unknown, message);
        }
    };
    (reason, message.to_owned())
}
