//! ControllerRevisions: immutable snapshots of controller state.

use crate::shared::{metadata_checks, rules};
use kubist_api::apps::v1::ControllerRevision;
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use kubist_registry::KindStrategy;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct ControllerRevisions;

impl KindStrategy for ControllerRevisions {
    type Kind = ControllerRevision;

    fn validate(&self, new: &ControllerRevision) -> Vec<FieldError> {
        let mut errors = number(new);
        let path = FieldPath::new("data");
        let detail = match serde_json::from_slice(&new.data.raw.0) {
            Ok(Value::Object(_)) => return errors,
            Ok(Value::Null) => "data is mandatory",
            Err(_) if new.data.raw.0.is_empty() => "data is mandatory",
            Ok(_) => "data must be a valid JSON object",
            Err(error) => {
                let detail = format!("error parsing data: {error}");
                errors.push(FieldError::invalid(&path, "<value omitted>", detail));
                return errors;
            }
        };
        errors.push(FieldError::required(&path, detail));
        errors
    }
    fn validate_update(
        &self,
        new: &ControllerRevision,
        old: &ControllerRevision,
    ) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        errors.extend(number(new));
        if new.data != old.data {
            let value: Value = serde_json::from_slice(&new.data.raw.0).unwrap_or_default();
            let path = FieldPath::new("data");
            let shown = BadValue::json(&value);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
        errors
    }
}

fn number(revision: &ControllerRevision) -> Vec<FieldError> {
    let mut errors = Vec::new();
    rules::non_negative(&mut errors, revision.revision, &FieldPath::new("revision"));
    errors
}
