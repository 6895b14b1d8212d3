//! Validation of the names in a definition.

use crate::shared::rules::{self, Errors};
use kubist_api::apiextensions::v1::CustomResourceDefinitionNames;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// Checks that all required names are set.
pub(crate) fn required(
    errors: &mut Errors,
    names: &CustomResourceDefinitionNames,
    path: &FieldPath,
) {
    for (field, name) in [
        ("plural", &names.plural),
        ("singular", &names.singular),
        ("kind", &names.kind),
        ("listKind", &names.list_kind),
    ] {
        rules::required(errors, name, &path.child(field));
    }
}

/// Checks the names that are set.
pub(crate) fn check(errors: &mut Errors, names: &CustomResourceDefinitionNames, path: &FieldPath) {
    for (field, name) in [("plural", &names.plural), ("singular", &names.singular)] {
        if !name.is_empty() {
            label(errors, name, &path.child(field));
        }
    }
    for (field, name) in [("kind", &names.kind), ("listKind", &names.list_kind)] {
        let problems = validate_name::dns1035_label(&name.to_lowercase());
        if !name.is_empty() && !problems.is_empty() {
            let detail = format!(
                "may have mixed case, but should otherwise match: {}",
                problems.join(",")
            );
            errors.push(FieldError::invalid(&path.child(field), name, detail));
        }
    }
    for (index, name) in names.short_names.iter().enumerate() {
        label(errors, name, &path.child("shortNames").index(index));
    }
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let detail = "kind and listKind may not be the same";
        let path = path.child("listKind");
        errors.push(FieldError::invalid(&path, &names.list_kind, detail));
    }
    for (index, name) in names.categories.iter().enumerate() {
        label(errors, name, &path.child("categories").index(index));
    }
}

fn label(errors: &mut Errors, name: &str, path: &FieldPath) {
    rules::joined(errors, name, path, validate_name::dns1035_label);
}
