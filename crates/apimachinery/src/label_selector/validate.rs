//! Validation of labels and selectors in objects, for the causes of a 422.

use crate::validate_name::{label_value, qualified_name};
use crate::{FieldError, FieldPath, LabelSelector, LabelSelectorRequirement, Str};
use std::collections::BTreeMap;

/// Validates labels. All messages name the map, as upstream's do.
pub fn validate_labels(labels: &BTreeMap<Str, Str>, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in labels {
        let invalid = |text, message| FieldError::invalid(path, text, message);
        errors.extend(
            qualified_name(key)
                .into_iter()
                .map(|message| invalid(key, message)),
        );
        errors.extend(
            label_value(value)
                .into_iter()
                .map(|message| invalid(value, message)),
        );
    }
    errors
}

/// Validates a selector. `allow_invalid_values` skips the values of expressions, for updates of
/// objects that already had such values.
pub fn validate_label_selector(
    selector: &LabelSelector,
    path: &FieldPath,
    allow_invalid_values: bool,
) -> Vec<FieldError> {
    let mut errors = validate_labels(&selector.match_labels, &path.child("matchLabels"));
    let path = path.child("matchExpressions");
    for (index, expression) in selector.match_expressions.iter().enumerate() {
        validate_expression(
            expression,
            &path.index(index),
            allow_invalid_values,
            &mut errors,
        );
    }
    errors
}

fn validate_expression(
    expression: &LabelSelectorRequirement,
    path: &FieldPath,
    allow_invalid_values: bool,
    errors: &mut Vec<FieldError>,
) {
    let values = path.child("values");
    match expression.operator.as_str() {
        "In" | "NotIn" if expression.values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(&values, detail));
        }
        "Exists" | "DoesNotExist" if !expression.values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(&values, detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => {
            let path = path.child("operator");
            errors.push(FieldError::invalid(
                &path,
                other,
                "not a valid selector operator",
            ));
        }
    }
    for message in qualified_name(&expression.key) {
        errors.push(FieldError::invalid(
            &path.child("key"),
            &expression.key,
            message,
        ));
    }
    if allow_invalid_values {
        return;
    }
    for (index, value) in expression.values.iter().enumerate() {
        for message in label_value(value) {
            errors.push(FieldError::invalid(&values.index(index), value, message));
        }
    }
}
