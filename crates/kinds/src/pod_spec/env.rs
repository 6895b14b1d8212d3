//! Validation of environment variables.

use crate::pod_spec::any_container;
use crate::shared::downward_api::{ENV_FIELDS, check_field, check_resource};
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{EnvFromSource, EnvVar, EnvVarSource, FileKeySelector, PodSpec};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// Checks the variables of a container.
pub(crate) fn check(errors: &mut Errors, all: &[EnvVar], path: &FieldPath) {
    for (index, variable) in all.iter().enumerate() {
        let path = path.index(index);
        let at = path.child("name");
        if rules::required(errors, &variable.name, &at) {
            let rule = validate_name::relaxed_env_var_name;
            rules::text(errors, &variable.name, &at, rule);
        }
        if let Some(source) = &variable.value_from {
            check_source(errors, source, &variable.value, &path.child("valueFrom"));
        }
    }
}

/// Checks the `envFrom` sources. If an item has no single source, upstream reports the list, not
/// the item.
pub(crate) fn check_from(errors: &mut Errors, all: &[EnvFromSource], list: &FieldPath) {
    for (index, source) in all.iter().enumerate() {
        let path = list.index(index);
        if !source.prefix.is_empty() {
            let rule = validate_name::relaxed_env_var_name;
            rules::text(errors, &source.prefix, &path.child("prefix"), rule);
        }
        let map = source.config_map_ref.as_deref();
        let secret = source.secret_ref.as_deref();
        for (field, name) in [
            ("configMapRef", map.map(|it| &it.name)),
            ("secretRef", secret.map(|it| &it.name)),
        ] {
            let path = path.child(field).child("name");
            if let Some(name) = name
                && rules::required(errors, name, &path)
            {
                rules::text(errors, name, &path, validate_name::dns1123_subdomain);
            }
        }
        let detail = match (map, secret) {
            (None, None) => "must specify one of: `configMapRef` or `secretRef`",
            (Some(_), Some(_)) => "may not have more than one field specified at a time",
            _ => continue,
        };
        errors.push(FieldError::invalid(list, "", detail));
    }
}

/// Checks that files with variables are in `emptyDir` volumes.
pub(crate) fn check_files(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    for (container, path) in any_container::all(spec, path) {
        for (index, variable) in container.env.iter().enumerate() {
            let source = variable.value_from.as_deref();
            let Some(file) = source.and_then(|it| it.file_key_ref.as_deref()) else {
                continue;
            };
            let path = path.child("env").index(index).child("valueFrom");
            let path = path.child("fileKeyRef").child("volumeName");
            let name = &file.volume_name;
            // The last volume of a name counts.
            match spec.volumes.iter().rev().find(|it| it.name == *name) {
                None => errors.push(FieldError::not_found(&path, name)),
                Some(volume) if volume.empty_dir.is_none() => {
                    let detail = "referenced volume must be of type emptyDir";
                    errors.push(FieldError::invalid(&path, name, detail));
                }
                Some(_) => {}
            }
        }
    }
}

fn check_source(errors: &mut Errors, source: &EnvVarSource, value: &str, path: &FieldPath) {
    let mut count = 0;
    if let Some(field) = &source.field_ref {
        count += 1;
        check_field(errors, field, &ENV_FIELDS, &path.child("fieldRef"));
    }
    if let Some(resource) = &source.resource_field_ref {
        count += 1;
        check_resource(errors, resource, &path.child("resourceFieldRef"));
    }
    if let Some(map) = &source.config_map_key_ref {
        count += 1;
        let path = path.child("configMapKeyRef");
        check_key(errors, &map.name, &map.key, &path);
    }
    if let Some(secret) = &source.secret_key_ref {
        count += 1;
        let path = path.child("secretKeyRef");
        check_key(errors, &secret.name, &secret.key, &path);
    }
    if let Some(file) = &source.file_key_ref {
        count += 1;
        check_file(errors, file, &path.child("fileKeyRef"));
    }
    let problem = match count {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
             `secretKeyRef` or `fileKeyRef`"
        }
        _ if !value.is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(path, "", problem));
}

/// Checks a key of a ConfigMap or Secret.
fn check_key(errors: &mut Errors, name: &str, key: &str, path: &FieldPath) {
    let at = path.child("name");
    rules::text(errors, name, &at, validate_name::dns1123_subdomain);
    let at = path.child("key");
    if rules::required(errors, key, &at) {
        rules::text(errors, key, &at, validate_name::config_map_key);
    }
}

/// Checks a key of a file in a volume.
fn check_file(errors: &mut Errors, file: &FileKeySelector, path: &FieldPath) {
    let at = path.child("key");
    if rules::required(errors, &file.key, &at) {
        rules::text(errors, &file.key, &at, validate_name::relaxed_env_var_name);
    }
    let at = path.child("volumeName");
    if rules::required(errors, &file.volume_name, &at) {
        rules::text(errors, &file.volume_name, &at, validate_name::dns1123_label);
    }
    let at = path.child("path");
    if rules::required(errors, &file.path, &at) && file.path.split('/').any(|it| it == "..") {
        errors.push(FieldError::invalid(
            &at,
            &file.path,
            "must not contain '..'",
        ));
    }
}
