//! Validation of the metadata of an embedded resource.

use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, ManagedFieldsEntry, ObjectMeta, OwnerReference, Str, go_text,
    validate_labels, validate_name,
};
use std::collections::BTreeMap;

/// The maximum size of all annotations together, in bytes.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;
const MANAGER_LENGTH_MAX: usize = 128;
const SUBRESOURCE_LENGTH_MAX: usize = 256;

/// Returns the errors of metadata. The name is any path segment, and a namespace is optional.
pub(super) fn validate(meta: &ObjectMeta, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut add = |name: &str, value: &Str, problems: Vec<String>| {
        let path = path.child(name);
        let problems = problems.into_iter();
        errors.extend(problems.map(|it| FieldError::invalid(&path, value, it)));
    };
    let generate_name = &meta.generate_name;
    add(
        "generateName",
        generate_name,
        path_segment(generate_name, true),
    );
    add("name", &meta.name, path_segment(&meta.name, false));
    if !meta.namespace.is_empty() {
        let namespace = &meta.namespace;
        add(
            "namespace",
            namespace,
            validate_name::dns1123_label(namespace),
        );
    }
    if meta.generation < 0 {
        let detail = "must be greater than or equal to 0";
        let path = path.child("generation");
        errors.push(FieldError::invalid(&path, meta.generation, detail));
    }
    errors.extend(validate_labels(&meta.labels, &path.child("labels")));
    annotations(&mut errors, &meta.annotations, &path.child("annotations"));
    owners(
        &mut errors,
        &meta.owner_references,
        &path.child("ownerReferences"),
    );
    finalizers(&mut errors, &meta.finalizers, &path.child("finalizers"));
    let path = path.child("managedFields");
    for (index, entry) in meta.managed_fields.iter().enumerate() {
        managed_fields(&mut errors, entry, &path.index(index));
    }
    errors
}

fn path_segment(name: &str, is_prefix: bool) -> Vec<String> {
    if !is_prefix && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let forbidden = ["/", "%"].into_iter().filter(|it| name.contains(it));
    forbidden
        .map(|it| format!("may not contain '{it}'"))
        .collect()
}

fn annotations(errors: &mut Vec<FieldError>, annotations: &BTreeMap<Str, Str>, path: &FieldPath) {
    let mut bytes = 0;
    for (key, value) in annotations {
        bytes += key.len() + value.len();
        for problem in validate_name::qualified_name(&key.to_lowercase()) {
            errors.push(FieldError::invalid(path, key, problem));
        }
    }
    if bytes > ANNOTATIONS_BYTES_MAX {
        errors.push(FieldError::too_long(path, ANNOTATIONS_BYTES_MAX));
    }
}

fn owners(errors: &mut Vec<FieldError>, owners: &[OwnerReference], path: &FieldPath) {
    let mut controller: Option<&OwnerReference> = None;
    for owner in owners {
        // Upstream's paths have no index.
        let version = match owner.api_version.split_once('/') {
            Some((_, version)) if version.contains('/') => "",
            Some((_, version)) => version,
            None => owner.api_version.as_str(),
        };
        if version.is_empty() {
            let (path, detail) = (path.child("apiVersion"), "version must not be empty");
            errors.push(FieldError::invalid(&path, &owner.api_version, detail));
        }
        for (name, value) in [
            ("kind", &owner.kind),
            ("name", &owner.name),
            ("uid", &owner.uid),
        ] {
            if value.is_empty() {
                let path = path.child(name);
                errors.push(FieldError::invalid(&path, value, "must not be empty"));
            }
        }
        if owner.api_version == "v1" && owner.kind == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::invalid(path, BadValue::json(owner), detail));
        }
        if owner.controller != Some(true) {
            continue;
        }
        let Some(first) = controller else {
            controller = Some(owner);
            continue;
        };
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references \
             for {}/{} and {}/{}",
            first.kind, first.name, owner.kind, owner.name
        );
        errors.push(FieldError::invalid(path, BadValue::json(owners), detail));
    }
}

fn finalizers(errors: &mut Vec<FieldError>, finalizers: &[Str], path: &FieldPath) {
    for finalizer in finalizers {
        for problem in validate_name::qualified_name(finalizer) {
            errors.push(FieldError::invalid(path, finalizer, problem));
        }
    }
    let has = |name: &str| finalizers.iter().any(|it| *it == name);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(
            path,
            BadValue::json(finalizers),
            detail,
        ));
    }
}

fn managed_fields(errors: &mut Vec<FieldError>, entry: &ManagedFieldsEntry, path: &FieldPath) {
    if !matches!(entry.operation.as_str(), "Apply" | "Update") {
        let (path, detail) = (path.child("operation"), "must be `Apply` or `Update`");
        let value = BadValue::json(&entry.operation);
        errors.push(FieldError::invalid(&path, value, detail));
    }
    if !matches!(entry.fields_type.as_str(), "" | "FieldsV1") {
        let (path, detail) = (path.child("fieldsType"), "must be `FieldsV1`");
        errors.push(FieldError::invalid(&path, &entry.fields_type, detail));
    }
    let manager = path.child("manager");
    if entry.manager.len() > MANAGER_LENGTH_MAX {
        errors.push(FieldError::too_long(&manager, MANAGER_LENGTH_MAX));
    }
    for (at, c) in entry.manager.char_indices() {
        if !go_text::is_print(c) {
            let detail = format!(
                "invalid character U+{:04X} (at position {at})",
                u32::from(c)
            );
            errors.push(FieldError::invalid(&manager, &entry.manager, detail));
        }
    }
    if entry.subresource.len() > SUBRESOURCE_LENGTH_MAX {
        let path = path.child("subresource");
        errors.push(FieldError::too_long(&path, SUBRESOURCE_LENGTH_MAX));
    }
}
