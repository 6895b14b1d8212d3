//! Validation of annotations in nested objects, such as templates.

use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeMap;

/// The maximum total size of all keys and values in bytes.
const SIZE_MAX: usize = 256 * 1024;

/// Checks that keys are qualified names, and that the total size is within the limit.
pub(crate) fn check(annotations: &BTreeMap<Str, Str>, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in annotations {
        let problems = validate_name::qualified_name(&key.to_lowercase());
        errors.extend(
            problems
                .into_iter()
                .map(|it| FieldError::invalid(path, key, it)),
        );
        size += key.len() + value.len();
    }
    if size > SIZE_MAX {
        errors.push(FieldError::too_long(path, SIZE_MAX));
    }
    errors
}

/// Like [`check`], but requires a domain in each key.
pub(crate) fn check_prefixed(
    errors: &mut Vec<FieldError>,
    annotations: &BTreeMap<Str, Str>,
    path: &FieldPath,
) {
    for key in annotations.keys().map(|key| key.to_lowercase()) {
        if key.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let mut problems = validate_name::qualified_name(&key);
        if problems.is_empty() && !key.contains('/') {
            problems.push("must be a domain-prefixed key (such as \"acme.io/foo\")".to_owned());
        }
        let wrong = |it| FieldError::invalid(path, &key, it);
        errors.extend(problems.into_iter().map(wrong));
    }
    let size = |(key, value): (&Str, &Str)| key.len() + value.len();
    if annotations.iter().map(size).sum::<usize>() > SIZE_MAX {
        errors.push(FieldError::too_long(path, SIZE_MAX));
    }
}
