//! Validation of tolerations.

use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{PodSpec, Toleration};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};

/// Checks tolerations of Pods and runtime classes. Numeric comparison belongs to an upstream gate
/// that is off by default; `may_compare` permits it where the stored object already uses it.
pub(crate) fn check(errors: &mut Errors, all: &[Toleration], may_compare: bool, path: &FieldPath) {
    for (index, toleration) in all.iter().enumerate() {
        let path = path.index(index);
        let (key, operator) = (&toleration.key, &toleration.operator);
        if !key.is_empty() {
            rules::text(
                errors,
                key,
                &path.child("key"),
                validate_name::qualified_name,
            );
        }
        let at = path.child("operator");
        if key.is_empty() && operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all \
                          values and all keys\"";
            errors.push(FieldError::invalid(&at, BadValue::json(operator), detail));
        }
        let at = path.child("effect");
        if toleration.toleration_seconds.is_some() && toleration.effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            let effect = BadValue::json(&toleration.effect);
            errors.push(FieldError::invalid(&at, effect, detail));
        }
        check_value(errors, toleration, may_compare, &path);
        if !toleration.effect.is_empty() {
            let supported = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            rules::one_of(errors, &toleration.effect, &supported, &at);
        }
    }
}

fn check_value(errors: &mut Errors, toleration: &Toleration, may_compare: bool, path: &FieldPath) {
    let (value, at) = (&toleration.value, path.child("operator"));
    match toleration.operator.as_str() {
        "" | "Equal" => {
            let problems = validate_name::label_value(value);
            if !problems.is_empty() {
                errors.push(FieldError::invalid(&at, value, problems.join(";")));
            }
        }
        "Exists" => {
            if !value.is_empty() {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.push(FieldError::invalid(&at, value, detail));
            }
        }
        "Lt" | "Gt" if may_compare => check_number(errors, value, &path.child("value")),
        other @ ("Lt" | "Gt") => {
            let supported = ["Equal", "Exists", "Lt", "Gt"];
            errors.push(FieldError::not_supported(&at, other, &supported));
        }
        other => rules::one_of(errors, other, &["Equal", "Exists"], &at),
    }
}

/// Checks that a number has no plus sign and no leading zeros.
fn check_number(errors: &mut Errors, value: &str, path: &FieldPath) {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let canonical = value == "0" || digits.starts_with(|it: char| ('1'..='9').contains(&it));
    if !canonical || !digits.bytes().all(|it| it.is_ascii_digit()) {
        let detail = if value.is_empty() {
            "must be non-empty"
        } else {
            "must be a valid decimal integer in canonical form"
        };
        errors.push(FieldError::invalid(path, value, detail));
    }
    if value.parse::<i64>().is_err() {
        let why = if canonical {
            "value out of range"
        } else {
            "invalid syntax"
        };
        let detail = format!("strconv.ParseInt: parsing {value:?}: {why}");
        errors.push(FieldError::invalid(path, value, detail));
    }
}

/// Reports whether a spec uses numeric comparison.
pub(crate) fn compares(spec: &PodSpec) -> bool {
    let mut all = spec.tolerations.iter();
    all.any(|it| matches!(it.operator.as_str(), "Lt" | "Gt"))
}
