//! What to do about a failed request, in a few words.

use crate::error::ApiError;
use kubist_cache::FetchError;

/// What a 404 says, in the words of client-go, if not the object is missing but its resource.
const NO_RESOURCE: &str = "the server could not find the requested resource";

/// What a 403 says if it is the authorizer's.
const CANNOT: &str = " cannot ";

impl ApiError {
    /// Returns advice for the user in brackets, with a leading space, or an empty string. Logs of
    /// controllers and informers include it; the text of the error is the server's alone.
    ///
    /// ```
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::Api;
    /// # async fn example(pods: Api<Pod>) {
    /// if let Err(error) = pods.get("web-0").await {
    ///     eprintln!("{error}{}", error.advice());
    /// }
    /// # }
    /// ```
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Status(_) if !self.field_conflicts().is_empty() => {
                " (another manager owns these fields: leave them out, or take them with force)"
            }
            Self::Status(_) if self.is_conflict() => {
                " (it was changed since it was read: read it again, as Api::edit and \
                 retry_on_conflict do)"
            }
            Self::Status(_) if self.is_already_exists() => {
                " (Api::apply and Api::edit change what exists)"
            }
            // Admission has its reasons, which the message says; authorization names the verb.
            Self::Status(status) if self.is_forbidden() && !status.message.contains(CANNOT) => "",
            Self::Status(_) if self.is_forbidden() => {
                " (a role that is bound to the caller must allow it; `kubectl auth can-i` tells \
                 what is allowed)"
            }
            Self::Status(status) if self.is_not_found() => {
                if status.message.starts_with(NO_RESOURCE) {
                    " (check group, version and plural, or install the definition)"
                } else {
                    ""
                }
            }
            Self::Status(_) if self.is_invalid() || self.is_bad_request() => "",
            Self::Written { .. } | Self::Request(_) => "",
            other => FetchError::from(other.clone()).advice(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::Status;

    fn advice(code: i32, reason: &str, message: &str) -> &'static str {
        let status = Status {
            code,
            reason: reason.into(),
            message: message.into(),
            ..Status::default()
        };
        ApiError::Status(Box::new(status)).advice()
    }

    #[test]
    fn advice_says_what_to_do_about_each_refusal() {
        for (code, reason, message, word) in [
            (401, "Unauthorized", "", "credentials"),
            (
                403,
                "Forbidden",
                "User \"bob\" cannot list resource \"pods\"",
                "role",
            ),
            (404, "NotFound", NO_RESOURCE, "install the definition"),
            (409, "Conflict", "web", "Api::edit"),
            (409, "AlreadyExists", "web", "Api::apply"),
        ] {
            let advice = advice(code, reason, message);
            assert!(
                advice.starts_with(" (") && advice.contains(word),
                "{reason}: {advice}"
            );
        }
        // The message says it all.
        let silent = [
            (404, "NotFound"),
            (422, "Invalid"),
            (400, "BadRequest"),
            (403, "Forbidden"),
        ];
        for (code, reason) in silent {
            assert_eq!(advice(code, reason, "web"), "", "{reason}");
        }
    }
}
