//! `Verdicts`: what a validating policy says about a request, and the refusal of it.

use kubist_apimachinery::{Status, StatusCause, Str};
use kubist_registry::admission::Attributes;
use std::time::Duration;

/// What a policy says about a request, with one set of parameters.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    /// One for each validation.
    pub(super) decisions: Vec<Decision>,
    pub(super) annotations: Vec<Annotation>,
    /// What the validations cost.
    pub(super) cost: u64,
    /// How long each validation took; none where all failed together.
    pub(super) took: Vec<Duration>,
}

/// What one validation says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Admit,
    /// It failed, which the policy ignores.
    FailedOpen(String),
    /// The request violates it, or it failed.
    Deny {
        message: String,
        /// The reason of the status; empty for `Invalid`.
        reason: Str,
    },
}

/// What an audit annotation says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Annotation {
    Publish {
        key: Str,
        value: String,
    },
    /// It failed, and so does the request.
    Failed(String),
}

/// A refusal: what a policy says, with its names.
#[derive(Clone, Debug)]
pub(super) struct Denial {
    pub(super) policy: Str,
    /// None if the policy itself cannot be used.
    pub(super) binding: Option<Str>,
    pub(super) message: String,
    pub(super) reason: Str,
}

impl Denial {
    /// Returns the answer to the client, as upstream.
    pub(super) fn status(&self, attributes: &Attributes<'_>) -> Status {
        let Self {
            policy, message, ..
        } = self;
        let message = match &self.binding {
            Some(binding) => format!(
                "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: \
                 {message}"
            ),
            None => format!("ValidatingAdmissionPolicy '{policy}' denied request: {message}"),
        };
        let mut status = attributes.forbidden(&message);
        let reason = match self.reason.as_str() {
            "" => "Invalid",
            reason => reason,
        };
        status.code = match reason {
            "Forbidden" => 403,
            "Unauthorized" => 401,
            "RequestEntityTooLarge" => 413,
            _ => 422,
        };
        status.reason = reason.into();
        let details = status.details.get_or_insert_default();
        details.causes.push(StatusCause {
            message: message.into(),
            ..StatusCause::default()
        });
        status
    }
}
