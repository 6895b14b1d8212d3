//! `Answer`: the response of a webhook, verified as upstream does.

use super::hook::ReviewVersion;
use kubist_api::admission::v1::{AdmissionResponse, AdmissionReview};
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use kubist_apimachinery::{Status, Str};
use serde::Deserialize;
use std::collections::BTreeMap;

const GROUP: &str = "admission.k8s.io";
const KIND: &str = "AdmissionReview";

/// The answer of a webhook.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) allowed: bool,
    pub(super) result: Option<Box<Status>>,
    pub(super) patch: Option<Patch>,
    pub(super) annotations: BTreeMap<Str, Str>,
    pub(super) warnings: Vec<Str>,
}

/// What a mutating webhook wants to change.
#[derive(Debug)]
pub(super) struct Patch {
    pub(super) bytes: Vec<u8>,
    /// Such as `JSONPatch`.
    pub(super) patch_type: String,
}

/// Why the body of an answer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It is no review.
    Undecodable(String),
    /// It is a review that does not answer the request.
    Invalid(String),
}

/// The kind of a document.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TypeMeta {
    kind: String,
    api_version: String,
}

impl Answer {
    /// Reads the answer to the review of this uid.
    pub(super) fn read(
        version: ReviewVersion,
        uid: &str,
        is_mutating: bool,
        body: &[u8],
    ) -> Result<Self, Unusable> {
        let meta: TypeMeta = serde_json::from_slice(body).map_err(|error| {
            Unusable::Undecodable(format!(
                "couldn't get version/kind; json parse error: {error}"
            ))
        })?;
        // Responses of both versions have the same fields.
        let review = AdmissionReview::from_json(body, &mut DecodeContext::new());
        let review = review.map_err(|error| Unusable::Undecodable(error.to_string()))?;
        let Some(response) = review.response else {
            return Err(invalid("webhook response was absent"));
        };
        match version {
            ReviewVersion::V1 => Self::of_v1(*response, &meta, uid, is_mutating),
            ReviewVersion::V1beta1 => Ok(Self::of_v1beta1(*response, is_mutating)),
        }
    }

    fn of_v1(
        response: AdmissionResponse,
        meta: &TypeMeta,
        uid: &str,
        is_mutating: bool,
    ) -> Result<Self, Unusable> {
        if response.uid != *uid {
            let (wanted, found) = (quote(uid), quote(&response.uid));
            return Err(invalid(format!(
                "expected response.uid={wanted}, got {found}"
            )));
        }
        let wanted = format!("{GROUP}/v1");
        if meta.api_version != wanted || meta.kind != KIND {
            let found = match meta.api_version.split_once('/') {
                Some(_) => meta.api_version.clone(),
                None => format!("/{}", meta.api_version),
            };
            return Err(invalid(format!(
                "expected webhook response of {wanted}, Kind={KIND}, got {found}, Kind={}",
                meta.kind
            )));
        }
        let (patch, patch_type) = (&response.patch, &response.patch_type);
        let problem = match (patch.is_empty(), patch_type.as_deref(), is_mutating) {
            (false, _, false) => "validating webhook may not return response.patch",
            (_, Some(_), false) => "validating webhook may not return response.patchType",
            (false, None, true) => "webhook returned response.patch but not response.patchType",
            (true, Some(_), true) => "webhook returned response.patchType but not response.patch",
            (false, Some(""), true) => "webhook returned invalid response.patchType of \"\"",
            _ => "",
        };
        if !problem.is_empty() {
            return Err(invalid(problem));
        }
        let patch_type = patch_type.as_deref().unwrap_or_default().to_owned();
        Ok(Self::of(response, patch_type))
    }

    fn of_v1beta1(mut response: AdmissionResponse, is_mutating: bool) -> Self {
        if !is_mutating {
            response.patch = Default::default();
        }
        Self::of(response, "JSONPatch".to_owned())
    }

    fn of(response: AdmissionResponse, patch_type: String) -> Self {
        let has_patch = !response.patch.is_empty();
        let patch = has_patch.then_some(Patch {
            bytes: response.patch.0,
            patch_type,
        });
        Self {
            allowed: response.allowed,
            result: response.status,
            patch,
            annotations: response.audit_annotations,
            warnings: response.warnings,
        }
    }
}

fn invalid(why: impl Into<String>) -> Unusable {
    Unusable::Invalid(why.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(response: &str, is_mutating: bool) -> Result<bool, String> {
        let body =
            format!(r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"{response}}}"#);
        read_body(&body, is_mutating)
    }

    fn read_body(body: &str, is_mutating: bool) -> Result<bool, String> {
        let answer = Answer::read(ReviewVersion::V1, "u", is_mutating, body.as_bytes());
        match answer {
            Ok(answer) => Ok(answer.allowed),
            Err(Unusable::Undecodable(why) | Unusable::Invalid(why)) => Err(why),
        }
    }

    #[test]
    fn an_answer_is_to_the_review_that_was_sent() {
        let allowed = r#","response":{"uid":"u","allowed":true}"#;
        assert_eq!(read(allowed, false), Ok(true));
        let other = r#","response":{"uid":"v","allowed":true}"#;
        let why = r#"expected response.uid="u", got "v""#;
        assert_eq!(read(other, false), Err(why.to_owned()));
        assert_eq!(
            read("", false),
            Err("webhook response was absent".to_owned())
        );
        let why = "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, \
                   got /, Kind=";
        let no_kind = r#"{"response":{"uid":"u","allowed":true}}"#;
        assert_eq!(read_body(no_kind, false), Err(why.to_owned()));
        assert!(read_body("<html>", false).is_err());
    }

    #[test]
    fn only_a_mutating_webhook_has_a_patch_and_names_its_type() {
        let patch = r#","response":{"uid":"u","allowed":true,"patch":"W10=""#;
        let typed = format!("{patch},\"patchType\":\"JSONPatch\"}}");
        assert_eq!(read(&typed, true), Ok(true));
        let why = "validating webhook may not return response.patch";
        assert_eq!(read(&typed, false), Err(why.to_owned()));
        let why = "webhook returned response.patch but not response.patchType";
        assert_eq!(read(&format!("{patch}}}"), true), Err(why.to_owned()));
    }
}
