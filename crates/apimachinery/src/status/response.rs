//! Constructors of Status for every kind of failure, with upstream's codes, reasons and messages.

use super::{Status, StatusCause, StatusDetails};
use crate::field_error::{aggregate, reported};
use crate::go_text::quote;
use crate::{CauseType, StatusReason};
use crate::{FieldError, GroupKind, GroupResource, Str};
use std::fmt;

impl Status {
    /// 404: the object does not exist.
    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} not found", quote(name));
        Self::failure(404, StatusReason::NotFound, message).about(resource, name)
    }

    /// 409: the object already exists.
    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} already exists", quote(name));
        Self::failure(409, StatusReason::AlreadyExists, message).about(resource, name)
    }

    /// 409: every generated name was taken. `name` is the last one.
    pub fn generate_name_conflict(
        resource: &GroupResource,
        name: &str,
        retry_after_seconds: i32,
    ) -> Self {
        let message = format!(
            "{resource} {} already exists, the server was not able to generate a unique name for \
             the object",
            quote(name)
        );
        let status = Self::failure(409, StatusReason::AlreadyExists, message);
        status.about(resource, name).after(retry_after_seconds)
    }

    /// 409: the request conflicts with the current state of the object.
    pub fn conflict(resource: &GroupResource, name: &str, why: impl fmt::Display) -> Self {
        let name_text = quote(name);
        let message = format!("Operation cannot be fulfilled on {resource} {name_text}: {why}");
        Self::failure(409, StatusReason::Conflict, message).about(resource, name)
    }

    /// 409: the request is based on an outdated resource version.
    pub fn modified(resource: &GroupResource, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version \
                   and try again";
        Self::conflict(resource, name, why)
    }

    /// 409: other field managers own applied fields.
    pub fn apply_conflict(causes: Vec<StatusCause>, message: impl Into<Str>) -> Self {
        let status = Self::failure(409, StatusReason::Conflict, message);
        status.with_details(StatusDetails {
            causes,
            ..StatusDetails::default()
        })
    }

    /// 422: the object is invalid. If there are many errors, the first are reported, up to about 1
    /// MiB.
    pub fn invalid(kind: &GroupKind, name: &str, errors: &[FieldError]) -> Self {
        let mut message = format!("{kind} {} is invalid", quote(name));
        if !errors.is_empty() {
            message.extend([": ", &aggregate(errors)]);
        }
        let causes = reported(errors).iter().map(StatusCause::from).collect();
        Self::failure(422, StatusReason::Invalid, message).with_details(StatusDetails {
            name: name.into(),
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            causes,
            ..StatusDetails::default()
        })
    }

    /// 400: the request is malformed.
    pub fn bad_request(message: impl Into<Str>) -> Self {
        Self::failure(400, StatusReason::BadRequest, message)
    }

    /// 401: no or wrong credentials. The default message is `Unauthorized`.
    pub fn unauthorized() -> Self {
        Self::failure(401, StatusReason::Unauthorized, "Unauthorized")
    }

    /// 403: the user may not do this. An empty `name` means all objects.
    pub fn forbidden(resource: &GroupResource, name: &str, why: impl fmt::Display) -> Self {
        let message = match (resource.resource.as_str(), name) {
            ("", _) if resource.group.is_empty() => format!("forbidden: {why}"),
            (_, "") => format!("{resource} is forbidden: {why}"),
            _ => format!("{resource} {} is forbidden: {why}", quote(name)),
        };
        Self::failure(403, StatusReason::Forbidden, message).about(resource, name)
    }

    /// 410: the object is permanently gone.
    pub fn gone(message: impl Into<Str>) -> Self {
        Self::failure(410, StatusReason::Gone, message)
    }

    /// 410: the resource version or continue token has expired.
    pub fn expired(message: impl Into<Str>) -> Self {
        Self::failure(410, StatusReason::Expired, message)
    }

    /// 410: a watch from `requested` is not possible; history begins at `oldest`.
    pub fn too_old_resource_version(requested: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {requested} ({oldest})"))
    }

    /// 410: the continue token has expired. `continue_` is a token for the following items at the
    /// current version.
    pub fn continue_expired(continue_: impl Into<Str>) -> Self {
        let mut status = Self::expired(
            "The provided continue parameter is too old to display a consistent list result. You \
             can start a new list without the continue parameter, or use the continue token in \
             this response to retrieve the remainder of the results. Continuing with the provided \
             token results in an inconsistent list - objects that were created, modified, or \
             deleted between the time the first chunk was returned and now may show up in the \
             list.",
        );
        status.metadata.continue_ = continue_.into();
        status
    }

    /// 504: the request timed out.
    pub fn timeout(message: impl fmt::Display, retry_after_seconds: i32) -> Self {
        let message = format!("Timeout: {message}");
        let status = Self::failure(504, StatusReason::Timeout, message);
        status
            .with_details(StatusDetails::default())
            .after(retry_after_seconds)
    }

    /// 504: the requested version is ahead of the server.
    pub fn too_large_resource_version(requested: u64, current: u64, retry_after: i32) -> Self {
        let text = format!("Too large resource version: {requested}, current: {current}");
        let mut status = Self::timeout(text, retry_after);
        status.details_mut().causes.push(StatusCause {
            reason: CauseType::ResourceVersionTooLarge.into(),
            message: "Too large resource version".into(),
            field: Str::default(),
        });
        status
    }

    /// 500: the server did not finish in time.
    pub fn server_timeout(resource: &GroupResource, operation: &str, retry_after: i32) -> Self {
        let message = format!(
            "The {operation} operation against {resource} could not be completed at this time, \
             please try again."
        );
        let status = Self::failure(500, StatusReason::ServerTimeout, message);
        status.about(resource, operation).after(retry_after)
    }

    /// 500: another error.
    pub fn internal_error(why: impl fmt::Display) -> Self {
        let message = format!("Internal error occurred: {why}");
        let cause = StatusCause {
            message: why.to_string().into(),
            ..StatusCause::default()
        };
        let details = StatusDetails {
            causes: vec![cause],
            ..StatusDetails::default()
        };
        Self::failure(500, StatusReason::InternalError, message).with_details(details)
    }

    /// 500 without a reason: an error that upstream does not map to a Status.
    pub fn unmapped_error(message: impl Into<Str>) -> Self {
        Self::failure(500, StatusReason::Unknown, message)
    }

    /// 503: the server is not ready.
    pub fn service_unavailable(message: impl Into<Str>) -> Self {
        Self::failure(503, StatusReason::ServiceUnavailable, message)
    }

    /// 405: the resource does not support this verb.
    pub fn method_not_supported(resource: &GroupResource, action: &str) -> Self {
        let kind = quote(&resource.to_string());
        let message = format!("{action} is not supported on resources of kind {kind}");
        Self::failure(405, StatusReason::MethodNotAllowed, message).about(resource, "")
    }

    /// 406: none of the accepted media types is available.
    pub fn not_acceptable(available: &[&str]) -> Self {
        let types = available.join(", ");
        let message = format!("only the following media types are accepted: {types}");
        Self::failure(406, StatusReason::NotAcceptable, message)
    }

    /// 415: the media type of the body is not supported.
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let types = accepted.join(", ");
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: \
             {types}"
        );
        Self::failure(415, StatusReason::UnsupportedMediaType, message)
    }

    /// 413: the body is too large.
    pub fn request_entity_too_large(message: impl fmt::Display) -> Self {
        let message = format!("Request entity too large: {message}");
        Self::failure(413, StatusReason::RequestEntityTooLarge, message)
    }

    /// 413: the body has more than `limit` bytes.
    pub fn body_too_large(limit: usize) -> Self {
        Self::request_entity_too_large(format_args!("limit is {limit}"))
    }

    /// 429: too many requests; retry later.
    pub fn too_many_requests(message: impl Into<Str>, retry_after_seconds: i32) -> Self {
        let status = Self::failure(429, StatusReason::TooManyRequests, message);
        status
            .with_details(StatusDetails::default())
            .after(retry_after_seconds)
    }

    fn about(self, resource: &GroupResource, name: &str) -> Self {
        self.with_details(StatusDetails {
            name: name.into(),
            group: resource.group.clone(),
            kind: resource.resource.clone(),
            ..StatusDetails::default()
        })
    }

    fn after(mut self, seconds: i32) -> Self {
        self.details_mut().retry_after_seconds = seconds;
        self
    }
}

impl From<&FieldError> for StatusCause {
    fn from(error: &FieldError) -> Self {
        Self {
            reason: error.kind.cause_type().into(),
            message: error.body().into(),
            field: error.field.clone(),
        }
    }
}
