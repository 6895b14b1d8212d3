//! `Status`: the result of a request in the API.
//!
//! Every failed request returns one, and it is also a Rust error. The constructors
//! (`status/response.rs`) use upstream's codes, reasons and messages exactly. The predicates work
//! like client-go's: by reason first, and by code if the reason is unknown. Reasons are stored as
//! text and read as enums.

mod generic;
mod response;

use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm, KindFacts};
use crate::{CauseType, LIST_META, ListMeta, Retry, StatusReason, Str, message, schema};
use std::fmt;
use std::time::Duration;

pub use generic::GenericResponse;

/// The result of a request, usually a failure.
///
/// ```
/// use kubist_apimachinery::{GroupResource, Status, StatusReason};
/// let status = Status::not_found(&GroupResource::new("apps", "deployments"), "web");
/// assert_eq!(status.message, "deployments.apps \"web\" not found");
/// assert_eq!(status.reason(), StatusReason::NotFound);
/// assert!(status.is_not_found());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct Status {
    /// List metadata; only `continue` is used, by [`Status::continue_expired`].
    pub metadata: ListMeta,
    /// `Success` or `Failure`.
    pub status: Str,
    /// The message for people.
    pub message: Str,
    /// The reason, as one word; see [`Status::reason`].
    pub reason: Str,
    /// The details: the object, the causes and a retry time.
    pub details: Option<Box<StatusDetails>>,
    /// The HTTP status code.
    pub code: i32,
}

/// The details of a failed request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct StatusDetails {
    /// The name of the object, or the operation that timed out.
    pub name: Str,
    /// The API group.
    pub group: Str,
    /// The kind; in most errors the plural name of the resource.
    pub kind: Str,
    /// The object's uid.
    pub uid: Str,
    /// The individual causes.
    pub causes: Vec<StatusCause>,
    /// The seconds after which to retry; 0 if not set.
    pub retry_after_seconds: i32,
}

/// A cause of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct StatusCause {
    /// The type, as one word; see [`StatusCause::cause_type`].
    pub reason: Str,
    /// The message for people.
    pub message: Str,
    /// The path of the field.
    pub field: Str,
}

/// The `status` of a request that failed.
pub const STATUS_FAILURE: &str = "Failure";
/// The `status` of a request that succeeded.
pub const STATUS_SUCCESS: &str = "Success";

schema!(pub STATUS_CAUSE = "StatusCause", "io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause",
    JsonForm::Object, None, [
    Field::new("reason", 1, FieldType::Str, F::OMIT_EMPTY),
    Field::new("message", 2, FieldType::Str, F::OMIT_EMPTY),
    Field::new("field", 3, FieldType::Str, F::OMIT_EMPTY),
]);

message!(StatusCause, STATUS_CAUSE, [0 reason, 1 message, 2 field]);

schema!(pub STATUS_DETAILS = "StatusDetails",
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails", JsonForm::Object, None, [
    Field::new("name", 1, FieldType::Str, F::OMIT_EMPTY),
    Field::new("group", 2, FieldType::Str, F::OMIT_EMPTY),
    Field::new("kind", 3, FieldType::Str, F::OMIT_EMPTY),
    Field::new("uid", 6, FieldType::Str, F::OMIT_EMPTY),
    Field::new("causes", 4, FieldType::MessageList(&STATUS_CAUSE), F::OMIT_EMPTY),
    Field::new("retryAfterSeconds", 5, FieldType::I32, F::OMIT_EMPTY),
]);

message!(StatusDetails, STATUS_DETAILS, [
    0 name, 1 group, 2 kind, 3 uid, 4 causes, 5 retry_after_seconds,
]);

const FACTS: KindFacts = KindFacts {
    group: "",
    version: "v1",
    kind: "Status",
    api_version: "v1",
};

schema!(pub STATUS = "Status", "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
    JsonForm::Object, Some(FACTS), [
    Field::new("metadata", 1, FieldType::Message(&LIST_META), F::OMIT_EMPTY),
    Field::new("status", 2, FieldType::Str, F::OMIT_EMPTY),
    Field::new("message", 3, FieldType::Str, F::OMIT_EMPTY),
    Field::new("reason", 4, FieldType::Str, F::OMIT_EMPTY),
    Field::new("details", 5, FieldType::Message(&STATUS_DETAILS), F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("code", 6, FieldType::I32, F::OMIT_EMPTY),
]);

message!(Status, STATUS, [0 metadata, 1 status, 2 message, 3 reason, 4 details, 5 code]);

impl Status {
    /// Creates a failure.
    pub fn failure(code: i32, reason: StatusReason, message: impl Into<Str>) -> Self {
        Self {
            metadata: ListMeta::default(),
            status: STATUS_FAILURE.into(),
            message: message.into(),
            reason: reason.into(),
            details: None,
            code,
        }
    }

    /// Creates a success, as returned by a delete.
    pub fn success() -> Self {
        Self {
            status: STATUS_SUCCESS.into(),
            ..Self::default()
        }
    }

    /// Sets the details.
    #[must_use]
    pub fn with_details(mut self, details: StatusDetails) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Returns the reason.
    pub fn reason(&self) -> StatusReason {
        StatusReason::from(&self.reason)
    }

    /// Returns the causes; none if there are no details.
    pub fn causes(&self) -> &[StatusCause] {
        self.details
            .as_deref()
            .map_or(&[], |details| &details.causes)
    }

    /// Reports whether one of the causes has this type.
    pub fn has_cause(&self, cause_type: &CauseType) -> bool {
        self.causes()
            .iter()
            .any(|cause| cause.reason == *cause_type.as_str())
    }

    /// Reports a 404.
    pub fn is_not_found(&self) -> bool {
        self.is(StatusReason::NotFound, 404)
    }

    /// Reports that an object with this name already exists. (A 409 without a known reason is a
    /// conflict.)
    pub fn is_already_exists(&self) -> bool {
        self.reason() == StatusReason::AlreadyExists
    }

    /// Reports a 409 other than [`Status::is_already_exists`].
    pub fn is_conflict(&self) -> bool {
        self.is(StatusReason::Conflict, 409)
    }

    /// Reports a 422.
    pub fn is_invalid(&self) -> bool {
        self.is(StatusReason::Invalid, 422)
    }

    /// Reports a 410 of either reason: the requested version is no longer available.
    pub fn is_gone(&self) -> bool {
        self.is(StatusReason::Gone, 410) || self.reason() == StatusReason::Expired
    }

    /// Reports a 400.
    pub fn is_bad_request(&self) -> bool {
        self.is(StatusReason::BadRequest, 400)
    }

    /// Reports a 401.
    pub fn is_unauthorized(&self) -> bool {
        self.is(StatusReason::Unauthorized, 401)
    }

    /// Reports a 403.
    pub fn is_forbidden(&self) -> bool {
        self.is(StatusReason::Forbidden, 403)
    }

    /// Reports a 405.
    pub fn is_method_not_allowed(&self) -> bool {
        self.is(StatusReason::MethodNotAllowed, 405)
    }

    /// Reports a 406.
    pub fn is_not_acceptable(&self) -> bool {
        self.is(StatusReason::NotAcceptable, 406)
    }

    /// Reports a 413.
    pub fn is_request_entity_too_large(&self) -> bool {
        self.is(StatusReason::RequestEntityTooLarge, 413)
    }

    /// Reports a 415.
    pub fn is_unsupported_media_type(&self) -> bool {
        self.is(StatusReason::UnsupportedMediaType, 415)
    }

    /// Reports a 504.
    pub fn is_timeout(&self) -> bool {
        self.is(StatusReason::Timeout, 504)
    }

    /// Reports that the server did not finish in time and suggests a retry.
    pub fn is_server_timeout(&self) -> bool {
        self.reason() == StatusReason::ServerTimeout
    }

    /// Reports a 500 without another known reason.
    pub fn is_internal_error(&self) -> bool {
        self.is(StatusReason::InternalError, 500)
    }

    /// Reports a 503.
    pub fn is_service_unavailable(&self) -> bool {
        self.is(StatusReason::ServiceUnavailable, 503)
    }

    /// Reports a 429, whatever the reason is.
    pub fn is_too_many_requests(&self) -> bool {
        self.reason() == StatusReason::TooManyRequests || self.code == 429
    }

    /// Reports that the requested version is ahead of the server.
    pub fn is_too_large_resource_version(&self) -> bool {
        self.is_timeout()
            && (self.has_cause(&CauseType::ResourceVersionTooLarge)
                // Servers before 1.17 sent no type.
                || self.causes().iter().any(|it| it.message == "Too large resource version"))
    }

    /// Returns the time after which the server suggests a retry, if any.
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.details.as_deref()?.retry_after_seconds;
        let suggested = seconds > 0 || self.is_server_timeout();
        suggested.then(|| Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))
    }

    /// Returns whether and when to retry.
    pub fn retry(&self) -> Retry {
        if self.is_gone() {
            return Retry::Relist;
        }
        match self.retry_after() {
            Some(delay) if !delay.is_zero() => Retry::After(delay),
            _ if self.code >= 500 || self.is_too_many_requests() => Retry::Backoff,
            _ => Retry::Never,
        }
    }

    fn is(&self, reason: StatusReason, code: i32) -> bool {
        let own = self.reason();
        own == reason || (!own.is_known() && self.code == code)
    }

    fn details_mut(&mut self) -> &mut StatusDetails {
        self.details.get_or_insert_default()
    }
}

impl StatusCause {
    /// Returns the type.
    pub fn cause_type(&self) -> CauseType {
        CauseType::from(&self.reason)
    }
}

/// Returns the message.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl std::error::Error for Status {}

#[cfg(test)]
mod tests;
