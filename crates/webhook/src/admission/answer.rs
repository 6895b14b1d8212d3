//! The answers: `Admitted`, `Mutated`, `Denied`.

use super::{Reviewed, set_patch};
use kubist_api::admission::v1::AdmissionResponse;
use kubist_apimachinery::{
    FieldError, GroupKind, STATUS_FAILURE, Status, StatusCause, StatusDetails, Str,
};
use std::collections::BTreeMap;
use std::fmt;

/// The most warnings, and the most bytes of each, that an API server passes on: longer ones are
/// cut there.
const WARNINGS_MAX: usize = 64;

/// The request may go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    warnings: Vec<Str>,
    annotations: BTreeMap<Str, Str>,
}

impl Admitted {
    /// Says yes, and nothing else.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a warning that the user sees. Short ones are best: API servers cut them to 256
    /// characters if there are many. At most 64 are sent.
    #[must_use]
    pub fn warn(mut self, warning: impl Into<Str>) -> Self {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning.into());
        }
        self
    }

    /// Adds an annotation to the audit log. The API server puts the webhook's name before the key.
    #[must_use]
    pub fn audit(mut self, key: impl Into<Str>, value: impl Into<Str>) -> Self {
        self.annotations.insert(key.into(), value.into());
        self
    }
}

/// The request may go on with a changed object.
#[derive(Clone, Debug)]
pub struct Mutated<K> {
    pub(super) object: K,
    pub(super) admitted: Admitted,
}

impl<K> Mutated<K> {
    /// Says yes with the object as it should be; it may be unchanged.
    pub fn new(object: K) -> Self {
        Self {
            object,
            admitted: Admitted::new(),
        }
    }

    /// Adds a warning; see [`Admitted::warn`].
    #[must_use]
    pub fn warn(mut self, warning: impl Into<Str>) -> Self {
        self.admitted = self.admitted.warn(warning);
        self
    }

    /// Adds an annotation to the audit log; see [`Admitted::audit`].
    #[must_use]
    pub fn audit(mut self, key: impl Into<Str>, value: impl Into<Str>) -> Self {
        self.admitted = self.admitted.audit(key, value);
        self
    }
}

/// The request is refused. The user sees `admission webhook "NAME" denied the request: MESSAGE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Denied {
    status: Box<Status>,
    warnings: Vec<Str>,
}

impl Denied {
    /// Refuses with a message, as forbidden (403).
    pub fn new(message: impl fmt::Display) -> Self {
        Self::with(403, "Forbidden", message)
    }

    /// Refuses because of fields, as the API server's own validation does (422): each error is a
    /// cause with its field.
    ///
    /// ```
    /// # use kubist_apimachinery::{FieldError, FieldPath};
    /// # use kubist_webhook::Denied;
    /// let path = FieldPath::new("spec").child("size");
    /// let errors = [FieldError::invalid(&path, 9, "too big")];
    /// let denied = Denied::invalid("example.com", "Fig", "f", &errors);
    /// # drop(denied);
    /// ```
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let kind = GroupKind {
            group: group.into(),
            kind: kind.into(),
        };
        Self::from(Status::invalid(&kind, name, errors))
    }

    /// Refuses because the request makes no sense (400).
    pub fn bad_request(message: impl fmt::Display) -> Self {
        Self::with(400, "BadRequest", message)
    }

    /// Refuses because the webhook failed (500).
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::with(500, "InternalError", message)
    }

    /// Refuses because the webhook took too long (504).
    pub(crate) fn timeout(message: impl fmt::Display) -> Self {
        Self::with(504, "Timeout", message)
    }

    fn with(code: i32, reason: &str, message: impl fmt::Display) -> Self {
        Self::from(Status {
            status: STATUS_FAILURE.into(),
            code,
            reason: reason.into(),
            message: message.to_string().into(),
            ..Status::default()
        })
    }

    /// Names a field as a cause, by its path as in `spec.image`, with what is wrong about it.
    #[must_use]
    pub fn field(mut self, path: impl Into<Str>, message: impl Into<Str>) -> Self {
        let details: &mut StatusDetails = self.status.details.get_or_insert_default();
        details.causes.push(StatusCause {
            reason: "FieldValueInvalid".into(),
            message: message.into(),
            field: path.into(),
        });
        self
    }

    /// Adds a warning; see [`Admitted::warn`].
    #[must_use]
    pub fn warn(mut self, warning: impl Into<Str>) -> Self {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning.into());
        }
        self
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.status.message
    }

    /// Returns the HTTP status code.
    pub fn code(&self) -> i32 {
        self.status.code
    }
}

/// Refuses with any Status.
impl From<Status> for Denied {
    fn from(status: Status) -> Self {
        Self {
            status: Box::new(status),
            warnings: Vec::new(),
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.status.message)
    }
}

impl std::error::Error for Denied {}

pub(super) fn response(uid: Str, reviewed: Result<Reviewed, Denied>) -> AdmissionResponse {
    let mut response = AdmissionResponse {
        uid,
        ..AdmissionResponse::default()
    };
    match reviewed {
        Ok(Reviewed { admitted, patch }) => {
            response.allowed = true;
            response.warnings = admitted.warnings;
            response.audit_annotations = admitted.annotations;
            set_patch(&mut response, patch);
        }
        Err(Denied { status, warnings }) => {
            response.status = Some(status);
            response.warnings = warnings;
        }
    }
    response
}
