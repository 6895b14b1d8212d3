//! `FieldConflict`: a field that another manager owns, from the Status of an apply.

use crate::error::ApiError;
use kubist_apimachinery::{Status, StatusCause, Str};
use std::fmt;

/// A field that an apply would change and that another manager owns; see
/// [`ApiError::field_conflicts`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldConflict {
    /// The manager that owns the field.
    pub manager: Str,
    /// The subresource through which it wrote the field; empty for the object itself.
    pub subresource: Str,
    /// The API version in which it wrote the field; empty if it applied it.
    pub api_version: Str,
    /// The field, in upstream's notation: `.spec.containers[name="web"].image`.
    pub field: Str,
}

impl fmt::Display for FieldConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} belongs to {:?}", self.field, &*self.manager)
    }
}

impl ApiError {
    /// Returns the fields that kept an apply from being done because other managers own them. The
    /// way out is to apply without them, or to take them with `force`. Empty for every other error,
    /// and for conflicts of resource versions.
    ///
    /// ```
    /// # use kubist_api::apps::v1::Deployment;
    /// # use kubist_apimachinery::PatchOptions;
    /// # use kubist_client::{Api, ApiError};
    /// # async fn example(
    /// #     deployments: Api<Deployment>, wanted: Deployment,
    /// # ) -> Result<(), ApiError> {
    /// let mine = PatchOptions::managed_by("example.com/scaler");
    /// match deployments.apply(&wanted, &mine).await {
    ///     Err(error) if !error.field_conflicts().is_empty() => {
    ///         for conflict in error.field_conflicts() {
    ///             println!("{} is owned by {}", conflict.field, conflict.manager);
    ///         }
    ///     }
    ///     other => drop(other?),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn field_conflicts(&self) -> Vec<FieldConflict> {
        let causes = self.status().filter(|it| it.is_conflict());
        let causes = causes.and_then(|it: &Status| it.details.as_ref());
        let causes = causes.map(|it| &*it.causes).unwrap_or_default();
        causes.iter().filter_map(conflict).collect()
    }
}

/// Reads a message such as `conflict with "kubectl" with subresource "status" using apps/v1`.
/// Upstream may add the time after it.
fn conflict(cause: &StatusCause) -> Option<FieldConflict> {
    if cause.reason != "FieldManagerConflict" {
        return None;
    }
    let mut found = FieldConflict {
        field: cause.field.clone(),
        ..FieldConflict::default()
    };
    let rest = cause
        .message
        .strip_prefix("conflict with ")
        .unwrap_or_default();
    let (manager, mut rest) = quoted(rest).unwrap_or_default();
    found.manager = manager.into();
    if let Some((subresource, after)) = rest.strip_prefix(" with subresource ").and_then(quoted) {
        found.subresource = subresource.into();
        rest = after;
    }
    if let Some(version) = rest.strip_prefix(" using ") {
        found.api_version = version.split(' ').next().unwrap_or_default().into();
    }
    Some(found)
}

/// Splits a text that begins with a quoted one, as Go and JSON quote it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let value = stream.next()?.ok()?;
    let end = stream.byte_offset();
    Some((value, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, wanted: (&str, &str, &str)) {
        let found = conflict(&StatusCause {
            reason: "FieldManagerConflict".into(),
            message: message.into(),
            field: ".spec".into(),
        });
        let found = found.expect("it is one");
        let parts = (&*found.manager, &*found.subresource, &*found.api_version);
        assert_eq!((parts, &*found.field), (wanted, ".spec"));
    }

    #[test]
    fn managers_are_read_from_every_form_of_the_message() {
        check("conflict with \"m\"", ("m", "", ""));
        check(
            "conflict with \"a \\\"b\\\"\" using apps/v1",
            ("a \"b\"", "", "apps/v1"),
        );
        let scale = "conflict with \"hpa\" with subresource \"scale\" using autoscaling/v1";
        check(scale, ("hpa", "scale", "autoscaling/v1"));
        check(
            "conflict with \"m\" using v1 at 2026-01-02T03:04:05Z",
            ("m", "", "v1"),
        );
        check("other words", ("", "", ""));
    }
}
