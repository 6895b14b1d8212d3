//! Validation of defaults: they are pruned, and valid.

use super::rule_checker::RuleChecker;
use super::surrounding::Surrounding;
use crate::embedded::{Malformed, coerce_value, validate_embedded_value};
use crate::go_value::bad_value;
use crate::place::{Place, Problems};
use crate::prune::prune_value;
use crate::schema::Schema;
use crate::steps::Steps;
use crate::validate::validate_default;
use kubist_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

/// Returns the errors of the defaults in a schema.
pub(super) fn check(
    schema: &Schema,
    is_pruned: bool,
    rules: Option<&mut RuleChecker<'_>>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut defaults = Defaults {
        is_pruned,
        rules,
        problems: Problems::default(),
        steps: Steps::default(),
    };
    let site = Site {
        root: schema,
        around: &Surrounding::default(),
        is_in_metadata: false,
    };
    defaults.check(schema, site, true, &Place::Root(path));
    defaults.problems.into_list()
}

/// Where a schema is.
#[derive(Clone, Copy)]
struct Site<'a> {
    /// The schema of the object around it.
    root: &'a Schema,
    around: &'a Surrounding,
    is_in_metadata: bool,
}

struct Defaults<'a, 'k> {
    is_pruned: bool,
    rules: Option<&'a mut RuleChecker<'k>>,
    problems: Problems,
    steps: Steps,
}

impl Defaults<'_, '_> {
    /// Checks the defaults in a schema. `is_root` reports whether it is the whole schema, whose
    /// values are resources even if it does not say so.
    fn check(&mut self, schema: &Schema, site: Site<'_>, is_root: bool, at: &Place<'_>) {
        let is_resource = is_root || schema.is_embedded_resource;
        let start = Surrounding::default();
        let site = if is_resource {
            Site {
                root: schema,
                around: &start,
                is_in_metadata: false,
            }
        } else {
            site
        };
        if let Some(default) = schema.default_value() {
            let path = at.path().child("default");
            let errors = if site.is_in_metadata {
                self.in_metadata(schema, default, site, &path)
            } else {
                self.outside_of_metadata(schema, default, is_resource, &path)
            };
            self.problems.extend(errors);
        }
        if self.rules.as_ref().is_some_and(|it| it.is_exhausted()) {
            return;
        }
        // Additional properties have no defaults.
        if let Some(items) = schema.items.as_deref() {
            let around = site.around.item();
            let site = Site {
                around: &around,
                ..site
            };
            self.check(items, site, false, &Place::Child(at, "items"));
        }
        let properties = Place::Child(at, "properties");
        for (name, property) in schema.properties() {
            let is_meta = matches!(name, "metadata" | "apiVersion" | "kind");
            let around = site.around.member(name);
            let site = Site {
                around: &around,
                is_in_metadata: site.is_in_metadata || is_resource && is_meta,
                ..site
            };
            self.check(property, site, false, &Place::Key(&properties, name));
        }
    }

    fn in_metadata(
        &mut self,
        schema: &Schema,
        default: &Value,
        site: Site<'_>,
        path: &FieldPath,
    ) -> Vec<FieldError> {
        let invalid = |why: String| {
            let detail = format!("must result in valid metadata: {why}");
            vec![FieldError::invalid(path, bad_value(default), detail)]
        };
        let Some(mut object) = site.around.around(default.clone()) else {
            return Vec::new();
        };
        for (name, value) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            object.entry(name).or_insert_with(|| value.into());
        }
        let mut object = Value::Object(object);
        let (root, at) = (site.root, &FieldPath::ROOT);
        if let Err(error) = coerce_value(&mut object, root, true, Malformed::Refuse, at) {
            return invalid(error.to_string());
        }
        let errors = validate_embedded_value(&object, root, true, at);
        if !errors.is_empty() {
            return invalid(joined(&errors));
        }
        self.valid(schema, default, false, path)
    }

    fn outside_of_metadata(
        &mut self,
        schema: &Schema,
        default: &Value,
        is_resource: bool,
        path: &FieldPath,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut coerced = default.clone();
        let result = coerce_value(&mut coerced, schema, is_resource, Malformed::Refuse, path);
        if self.is_pruned {
            let mut pruned = default.clone();
            prune_value(&mut pruned, Some(schema), is_resource, None);
            if pruned != *default {
                let detail = "must not have unknown fields";
                // Upstream coerces the default before the error is shown.
                errors.push(FieldError::invalid(path, bad_value(&coerced), detail));
            }
        }
        if let Err(error) = result {
            errors.push(error);
            return errors;
        }
        let of_metadata = validate_embedded_value(&coerced, schema, is_resource, path);
        if of_metadata.is_empty() {
            errors.extend(self.valid(schema, &coerced, is_resource, path));
        } else {
            errors.extend(of_metadata);
        }
        errors
    }

    fn valid(
        &mut self,
        schema: &Schema,
        default: &Value,
        is_resource: bool,
        path: &FieldPath,
    ) -> Vec<FieldError> {
        let errors = validate_default(default, schema, path, &mut self.steps);
        match &mut self.rules {
            Some(rules) if errors.is_empty() => {
                rules.check_default(schema, is_resource, default, path)
            }
            _ => errors,
        }
    }
}

/// Joins all messages, each once; several are in brackets.
fn joined(errors: &[FieldError]) -> String {
    let mut messages: Vec<String> = Vec::new();
    for error in errors {
        let message = error.to_string();
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    match messages.len() {
        0 | 1 => messages.pop().unwrap_or_default(),
        _ => format!("[{}]", messages.join(", ")),
    }
}
