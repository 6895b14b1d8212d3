//! Annotations of objects within objects: those of templates.

use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeMap;

/// All keys and values together may have this many bytes.
const SIZE_MAX: usize = 256 * 1024;

/// Keys must be qualified names, and all together must not be too large.
pub(super) fn check(annotations: &BTreeMap<Str, Str>, path: &FieldPath) -> Vec<FieldError> {
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
