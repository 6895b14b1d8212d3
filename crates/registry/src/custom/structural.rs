//! The condition `NonStructuralSchema` of a definition, as upstream's controller of that name sets
//! it. Pure.
//!
//! Validation refuses such definitions; stored ones may be older than it.

use super::names;
use crate::custom::compiled_schema::schema_of;
use kubist_api::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionStatus};
use kubist_apimachinery::{FieldError, FieldPath, Time};
use kubist_schema::{Schema, check_structural};

/// The condition.
const CONDITION: &str = "NonStructuralSchema";

/// Why a definition has the condition.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// The status of the condition: `True`, or `Unknown` if a schema cannot be read.
    status: &'static str,
    reason: &'static str,
    message: String,
}

impl Problem {
    /// Sets the condition, or removes it if there is no problem.
    pub(crate) fn set(
        problem: Option<&Self>,
        status: &mut CustomResourceDefinitionStatus,
        now: Time,
    ) {
        let Some(problem) = problem else {
            status.conditions.retain(|it| it.type_ != *CONDITION);
            return;
        };
        let why = (problem.reason, problem.message.as_str());
        names::set_to(status, CONDITION, problem.status, why, now);
    }

    /// Returns the problem of a whole definition, if it has one.
    pub(crate) fn of(definition: &CustomResourceDefinition) -> Option<Self> {
        let spec = FieldPath::new("spec");
        let mut errors = Vec::new();
        if definition.spec.preserve_unknown_fields {
            let path = spec.child("preserveUnknownFields");
            errors.push(FieldError::invalid(&path, true, "must be false"));
        }
        for (index, version) in definition.spec.versions.iter().enumerate() {
            let Some(schema) = schema_of(version) else {
                continue;
            };
            if let Err(error) = Schema::convert(schema) {
                let version = &version.name;
                return Some(Self {
                    status: "Unknown",
                    reason: "StructuralError",
                    message: format!(
                        "failed to check validation schema for version {version}: {error}"
                    ),
                });
            }
            let path = spec.child("versions").index(index);
            let path = path.child("schema").child("openAPIV3Schema");
            errors.extend(check_structural(schema, &path));
        }
        (!errors.is_empty()).then(|| Self {
            status: "True",
            reason: "Violations",
            message: FieldError::aggregate(&errors),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn conditions(schema: &Value, keeps_unknown: bool) -> CustomResourceDefinitionStatus {
        let definition = json!({"spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "preserveUnknownFields": keeps_unknown,
            "versions": [
                {"name": "v1", "served": true, "storage": true},
                {"name": "v2", "served": true, "storage": false,
                    "schema": {"openAPIV3Schema": schema}},
            ],
        }});
        let definition: CustomResourceDefinition =
            serde_json::from_value(definition).expect("it is a definition");
        let mut status = definition.status.clone();
        let problem = Problem::of(&definition);
        Problem::set(problem.as_ref(), &mut status, Time::from_unix(1));
        let mut later = status.clone();
        Problem::set(problem.as_ref(), &mut later, Time::from_unix(2));
        assert_eq!(later, status, "nothing moves");
        Problem::set(None, &mut later, Time::from_unix(2));
        assert!(later.conditions.is_empty(), "it ends with its cause");
        status
    }

    fn only(status: &CustomResourceDefinitionStatus) -> (&str, &str, &str) {
        let [condition] = status.conditions.as_slice() else {
            panic!("{status:?} has one");
        };
        assert_eq!(condition.type_, *CONDITION);
        (&condition.status, &condition.reason, &condition.message)
    }

    #[test]
    fn a_schema_that_is_not_structural_is_reported() {
        let untyped = json!({"type": "object", "properties": {"a": {}}});
        let path = "spec.versions[1].schema.openAPIV3Schema.properties[a].type";
        let of_type =
            format!("{path}: Required value: must not be empty for specified object fields");
        let found = conditions(&untyped, false);
        assert_eq!(only(&found), ("True", "Violations", &*of_type));
        let of_both =
            format!("[spec.preserveUnknownFields: Invalid value: true: must be false, {of_type}]");
        let found = conditions(&untyped, true);
        assert_eq!(only(&found), ("True", "Violations", &*of_both));
        let sound = json!({"type": "object"});
        assert!(conditions(&sound, false).conditions.is_empty());
    }

    #[test]
    fn a_schema_with_forbidden_keywords_cannot_be_checked() {
        let with_reference = json!({"type": "object", "$ref": "#/definitions/x"});
        let found = conditions(&with_reference, false);
        let (status, reason, message) = only(&found);
        assert_eq!((status, reason), ("Unknown", "StructuralError"));
        let head = "failed to check validation schema for version v2: ";
        assert!(message.starts_with(head), "{message}");
    }
}
