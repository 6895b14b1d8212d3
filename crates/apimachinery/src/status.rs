//! `Status`: how a request ended, as the API says it.
//!
//! What every failed request answers, on the wire and, because it is a Rust error, in programs.
//! The constructors (`status/response.rs`) have upstream's codes, reasons and messages to the
//! letter; the predicates answer as client-go's do: by reason first, by code if the reason is not
//! a known one. Reasons are stored as words and read as enums.

mod generic;
mod response;

use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm, KindFacts};
use crate::{CauseType, LIST_META, ListMeta, Retry, StatusReason, Str, message, schema};
use std::fmt;
use std::time::Duration;

pub use generic::GenericResponse;

/// The end of a request.
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
    /// Only `continue` is ever set, by [`Status::continue_expired`].
    pub metadata: ListMeta,
    /// `Success` or `Failure`.
    pub status: Str,
    /// What happened, for people.
    pub message: Str,
    /// Why, as one word; see [`Status::reason`].
    pub reason: Str,
    /// What it was about.
    pub details: Option<Box<StatusDetails>>,
    /// The HTTP status code.
    pub code: i32,
}

/// What a failed request was about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct StatusDetails {
    /// The object's name, or the operation that timed out.
    pub name: Str,
    /// The API group.
    pub group: Str,
    /// The kind; most errors have the plural name of the resource here.
    pub kind: Str,
    /// The object's uid.
    pub uid: Str,
    /// Each single mistake.
    pub causes: Vec<StatusCause>,
    /// When to try again; 0 if the server says nothing.
    pub retry_after_seconds: i32,
}

/// One mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct StatusCause {
    /// What it is about, as one word; see [`StatusCause::cause_type`].
    pub reason: Str,
    /// For people.
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
    /// A failure.
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

    /// A success, as a delete answers it.
    pub fn success() -> Self {
        Self {
            status: STATUS_SUCCESS.into(),
            ..Self::default()
        }
    }

    /// With details.
    #[must_use]
    pub fn with_details(mut self, details: StatusDetails) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Why it failed.
    pub fn reason(&self) -> StatusReason {
        StatusReason::from(&self.reason)
    }

    /// The causes; none if there are no details.
    pub fn causes(&self) -> &[StatusCause] {
        self.details
            .as_deref()
            .map_or(&[], |details| &details.causes)
    }

    /// Whether one of the causes is of this type.
    pub fn has_cause(&self, cause_type: &CauseType) -> bool {
        self.causes()
            .iter()
            .any(|cause| cause.reason == *cause_type.as_str())
    }

    /// 404.
    pub fn is_not_found(&self) -> bool {
        self.is(StatusReason::NotFound, 404)
    }

    /// An object of this name is there already. (A 409 without known reason is a conflict.)
    pub fn is_already_exists(&self) -> bool {
        self.reason() == StatusReason::AlreadyExists
    }

    /// 409, but not [`Status::is_already_exists`].
    pub fn is_conflict(&self) -> bool {
        self.is(StatusReason::Conflict, 409)
    }

    /// 422.
    pub fn is_invalid(&self) -> bool {
        self.is(StatusReason::Invalid, 422)
    }

    /// 410 of either reason: the version asked for is no longer there.
    pub fn is_gone(&self) -> bool {
        self.is(StatusReason::Gone, 410) || self.reason() == StatusReason::Expired
    }

    /// 400.
    pub fn is_bad_request(&self) -> bool {
        self.is(StatusReason::BadRequest, 400)
    }

    /// 401.
    pub fn is_unauthorized(&self) -> bool {
        self.is(StatusReason::Unauthorized, 401)
    }

    /// 403.
    pub fn is_forbidden(&self) -> bool {
        self.is(StatusReason::Forbidden, 403)
    }

    /// 405.
    pub fn is_method_not_allowed(&self) -> bool {
        self.is(StatusReason::MethodNotAllowed, 405)
    }

    /// 406.
    pub fn is_not_acceptable(&self) -> bool {
        self.is(StatusReason::NotAcceptable, 406)
    }

    /// 413.
    pub fn is_request_entity_too_large(&self) -> bool {
        self.is(StatusReason::RequestEntityTooLarge, 413)
    }

    /// 415.
    pub fn is_unsupported_media_type(&self) -> bool {
        self.is(StatusReason::UnsupportedMediaType, 415)
    }

    /// 504.
    pub fn is_timeout(&self) -> bool {
        self.is(StatusReason::Timeout, 504)
    }

    /// The server could not finish in time and suggests another try.
    pub fn is_server_timeout(&self) -> bool {
        self.reason() == StatusReason::ServerTimeout
    }

    /// 500 for no known reason.
    pub fn is_internal_error(&self) -> bool {
        self.is(StatusReason::InternalError, 500)
    }

    /// 503.
    pub fn is_service_unavailable(&self) -> bool {
        self.is(StatusReason::ServiceUnavailable, 503)
    }

    /// 429, whatever the reason says.
    pub fn is_too_many_requests(&self) -> bool {
        self.reason() == StatusReason::TooManyRequests || self.code == 429
    }

    /// The version asked for is ahead of the server.
    pub fn is_too_large_resource_version(&self) -> bool {
        self.is_timeout()
            && (self.has_cause(&CauseType::ResourceVersionTooLarge)
                // Servers before 1.17 sent no type.
                || self.causes().iter().any(|it| it.message == "Too large resource version"))
    }

    /// The time after which the server suggests another try, if it suggests one.
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.details.as_deref()?.retry_after_seconds;
        let suggested = seconds > 0 || self.is_server_timeout();
        suggested.then(|| Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))
    }

    /// What the caller should do next.
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
    /// What it is about.
    pub fn cause_type(&self) -> CauseType {
        CauseType::from(&self.reason)
    }
}

/// The message.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl std::error::Error for Status {}

#[cfg(test)]
mod tests;
