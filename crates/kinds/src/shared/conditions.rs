//! Validation of standard conditions in statuses.

use crate::shared::rules::{self, Errors};
use kubist_apimachinery::{Condition, FieldError, FieldPath, validate_name};

const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
/// The maximum size of a reason in bytes.
const REASON_BYTES_MAX: usize = 1_024;
/// The maximum size of a message in bytes.
const MESSAGE_BYTES_MAX: usize = 32 << 10;
const NO_REASON: &str = "a condition reason must start with alphabetic character, optionally \
                         followed by a string of alphanumeric characters or '_,:', and must end \
                         with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or \
                         'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for \
                         validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// Checks conditions. Each type may occur once.
pub(crate) fn check(errors: &mut Errors, conditions: &[Condition], path: &FieldPath) {
    let repeated = rules::repeats(conditions.iter().map(|it| &it.type_));
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let kind = path.child("type");
        if repeated[index] {
            errors.push(FieldError::duplicate(&kind, &condition.type_));
        }
        let rule = validate_name::qualified_name;
        rules::text(errors, &condition.type_, &kind, rule);
        check_one(errors, condition, &path);
    }
}

fn check_one(errors: &mut Errors, condition: &Condition, path: &FieldPath) {
    rules::one_of(errors, &condition.status, &STATUSES, &path.child("status"));
    if condition.observed_generation < 0 {
        let path = path.child("observedGeneration");
        let detail = "must be greater than or equal to zero";
        errors.push(FieldError::invalid(
            &path,
            condition.observed_generation,
            detail,
        ));
    }
    if condition.last_transition_time.is_none() {
        errors.push(FieldError::required(&path.child("lastTransitionTime"), ""));
    }
    let at = path.child("reason");
    let reason = &condition.reason;
    if rules::required(errors, reason, &at) {
        if !is_reason(reason) {
            errors.push(FieldError::invalid(&at, reason, NO_REASON));
        }
        if reason.len() > REASON_BYTES_MAX {
            errors.push(FieldError::too_long(&at, REASON_BYTES_MAX));
        }
    }
    if condition.message.len() > MESSAGE_BYTES_MAX {
        let path = path.child("message");
        errors.push(FieldError::too_long(&path, MESSAGE_BYTES_MAX));
    }
}

fn is_reason(text: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.ends_with(is_word)
        && text
            .chars()
            .all(|it| is_word(it) || matches!(it, ',' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_words_between_commas_and_colons() {
        for reason in [
            "MyName",
            "MY_NAME",
            "ReasonA,ReasonB",
            "ReasonA:ReasonB",
            "a",
        ] {
            assert!(is_reason(reason), "{reason}");
        }
        for text in ["1a", "a:", "_a", "a b", "a-b"] {
            assert!(!is_reason(text), "{text}");
        }
    }
}
