//! What environment variables must satisfy, and fields of Pods that may be referred to.

use kubist_api::core::v1::{EnvVar, EnvVarSource, ObjectFieldSelector, ResourceFieldSelector};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

use super::rules::{self, Errors};
use super::volume_rules::Volumes;

/// The fields that a variable may show.
const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// The fields that a file may show.
pub(super) const FILE_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];
/// The fields that can be referred to at all, beside those of variables.
const OTHER_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.hostNetwork",
];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// Checks the variables of a container.
pub(super) fn check(errors: &mut Errors, all: &[EnvVar], volumes: &Volumes, path: &FieldPath) {
    for (index, variable) in all.iter().enumerate() {
        let path = path.index(index);
        if rules::required(errors, &variable.name, &path.child("name")) {
            let path = path.child("name");
            rules::text(
                errors,
                &variable.name,
                &path,
                validate_name::relaxed_env_var_name,
            );
        }
        if let Some(source) = &variable.value_from {
            let path = path.child("valueFrom");
            check_source(errors, source, &variable.value, volumes, &path);
        }
    }
}

fn check_source(
    errors: &mut Errors,
    source: &EnvVarSource,
    value: &str,
    volumes: &Volumes,
    path: &FieldPath,
) {
    let mut count = 0;
    if let Some(field) = &source.field_ref {
        count += 1;
        check_field(errors, field, &ENV_FIELDS, &path.child("fieldRef"));
    }
    if let Some(resource) = &source.resource_field_ref {
        count += 1;
        check_resource(errors, resource, &path.child("resourceFieldRef"));
    }
    let map = source
        .config_map_key_ref
        .as_ref()
        .map(|it| ("configMapKeyRef", &it.name, &it.key));
    let secret = source
        .secret_key_ref
        .as_ref()
        .map(|it| ("secretKeyRef", &it.name, &it.key));
    for (field, name, key) in map.into_iter().chain(secret) {
        count += 1;
        let path = path.child(field);
        if rules::required(errors, name, &path.child("name")) {
            rules::text(
                errors,
                name,
                &path.child("name"),
                validate_name::dns1123_subdomain,
            );
        }
        if rules::required(errors, key, &path.child("key")) {
            rules::text(
                errors,
                key,
                &path.child("key"),
                validate_name::config_map_key,
            );
        }
    }
    if let Some(file) = &source.file_key_ref {
        count += 1;
        let path = path.child("fileKeyRef");
        if rules::required(errors, &file.volume_name, &path.child("volumeName"))
            && !volumes.contains(&file.volume_name)
        {
            errors.push(FieldError::not_found(
                &path.child("volumeName"),
                &file.volume_name,
            ));
        }
        rules::required(errors, &file.path, &path.child("path"));
        rules::required(errors, &file.key, &path.child("key"));
    }
    let problem = match count {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or \
             `secretKeyRef`"
        }
        _ if !value.is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(path, "", problem));
}

/// A reference to a field of the Pod; `allowed` of the fields may be used here.
pub(super) fn check_field(
    errors: &mut Errors,
    field: &ObjectFieldSelector,
    allowed: &[&str],
    path: &FieldPath,
) {
    if !rules::required(errors, &field.api_version, &path.child("apiVersion"))
        || !rules::required(errors, &field.field_path, &path.child("fieldPath"))
    {
        return;
    }
    let path = path.child("fieldPath");
    if let Some((map, key)) = subscript(&field.field_path) {
        match map {
            "metadata.annotations" => {
                rules::text(
                    errors,
                    &key.to_lowercase(),
                    &path,
                    validate_name::qualified_name,
                );
            }
            "metadata.labels" => rules::text(errors, key, &path, validate_name::qualified_name),
            other => {
                let detail = "does not support subscript";
                errors.push(FieldError::invalid(&path, other, detail));
            }
        }
        return;
    }
    let name = field.field_path.as_str();
    let known =
        ENV_FIELDS.contains(&name) || OTHER_FIELDS.contains(&name) || name == "status.phase";
    if !known {
        let detail = format!("error converting fieldPath: field label not supported: {name}");
        errors.push(FieldError::invalid(&path, name, detail));
    } else if !allowed.contains(&name) {
        errors.push(FieldError::not_supported(&path, name, allowed));
    }
}

/// `map['key']` as its parts.
fn subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['")
}

/// A reference to what a container may use.
pub(super) fn check_resource(errors: &mut Errors, field: &ResourceFieldSelector, path: &FieldPath) {
    let path = path.child("resource");
    if !rules::required(errors, &field.resource, &path) {
        return;
    }
    let huge = ["limits.hugepages-", "requests.hugepages-"];
    if !huge.iter().any(|it| field.resource.starts_with(it)) {
        rules::one_of(errors, &field.resource, &RESOURCES, &path);
    }
}
