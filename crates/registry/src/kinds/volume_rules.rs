//! What the volumes of a Pod must satisfy.

use kubist_api::core::v1::{KeyToPath, ProjectedVolumeSource, Volume};
use kubist_apimachinery::wire::{Message, View};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeSet;

use super::env_rules;
use super::rules::{self, Errors};

/// The names of the volumes that containers may mount.
pub(super) type Volumes = BTreeSet<Str>;

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
const HOST_PATH_TYPES: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// Checks all volumes, and gives the names of those that are fine.
pub(super) fn check(errors: &mut Errors, all: &[Volume], path: &FieldPath) -> Volumes {
    let mut names = Volumes::new();
    for (index, volume) in all.iter().enumerate() {
        let path = path.index(index);
        let before = errors.len();
        check_sources(errors, volume, &path);
        let at = path.child("name");
        if rules::required(errors, &volume.name, &at) {
            rules::text(errors, &volume.name, &at, validate_name::dns1123_label);
        }
        if names.contains(&volume.name) {
            errors.push(FieldError::duplicate(&at, &volume.name));
        }
        if errors.len() == before {
            names.insert(volume.name.clone());
        }
    }
    names
}

/// There must be one source, which the schema knows as the fields other than the name.
fn check_sources(errors: &mut Errors, volume: &Volume, path: &FieldPath) {
    let sources = present_fields(volume)
        .into_iter()
        .filter(|&name| name != "name");
    for (index, source) in in_upstream_order(sources.collect()).into_iter().enumerate() {
        let path = path.child(source);
        if index > 0 {
            let detail = "may not specify more than 1 volume type";
            errors.push(FieldError::forbidden(&path, detail));
        } else {
            check_source(errors, volume, source, &path);
        }
    }
    if present_fields(volume).iter().all(|&name| name == "name") {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
}

/// Upstream looks at directories before anything else.
pub(super) fn in_upstream_order(mut names: Vec<&'static str>) -> Vec<&'static str> {
    const FIRST: [&str; 3] = ["emptyDir", "hostPath", "gitRepo"];
    names.sort_by_key(|name| {
        FIRST
            .iter()
            .position(|it| it == name)
            .unwrap_or(FIRST.len())
    });
    names
}

/// The JSON names of the optional messages that are there.
pub(super) fn present_fields(message: &dyn Message) -> Vec<&'static str> {
    let fields = message.schema().fields;
    let there = |index: &usize| matches!(message.view(*index), Some(View::OptMessage(Some(_))));
    (0..fields.len())
        .filter(there)
        .map(|index| fields[index].json)
        .collect()
}

fn check_source(errors: &mut Errors, volume: &Volume, source: &str, path: &FieldPath) {
    if let Some(directory) = &volume.host_path {
        host_path(errors, &directory.path, directory.type_.as_deref(), path);
    } else if let Some(size) = volume
        .empty_dir
        .as_ref()
        .and_then(|it| it.size_limit.as_ref())
        && size.signum() < 0
    {
        errors.push(FieldError::forbidden(
            &path.child("sizeLimit"),
            "SizeLimit field must be a valid resource quantity",
        ));
    } else if let Some(secret) = &volume.secret {
        rules::required(errors, &secret.secret_name, &path.child("secretName"));
        check_mode(errors, secret.default_mode, &path.child("defaultMode"));
        check_items(errors, &secret.items, &path.child("items"));
    } else if let Some(map) = &volume.config_map {
        rules::required(errors, &map.name, &path.child("name"));
        check_mode(errors, map.default_mode, &path.child("defaultMode"));
        check_items(errors, &map.items, &path.child("items"));
    } else if let Some(claim) = &volume.persistent_volume_claim {
        rules::required(errors, &claim.claim_name, &path.child("claimName"));
    } else if let Some(nfs) = &volume.nfs {
        rules::required(errors, &nfs.server, &path.child("server"));
        rules::required(errors, &nfs.path, &path.child("path"));
        if !nfs.path.starts_with('/') {
            let detail = "must be an absolute path";
            errors.push(FieldError::invalid(&path.child("path"), &nfs.path, detail));
        }
    } else if let Some(downward) = &volume.downward_api {
        check_mode(errors, downward.default_mode, &path.child("defaultMode"));
        check_downward(errors, &downward.items, path);
    } else if let Some(projected) = &volume.projected {
        check_projected(errors, projected, path);
    } else if let Some(csi) = &volume.csi {
        rules::required(errors, &csi.driver, &path.child("driver"));
    } else if source == "ephemeral" {
        let template = volume
            .ephemeral
            .as_ref()
            .and_then(|it| it.volume_claim_template.as_ref());
        if template.is_none() {
            errors.push(FieldError::required(&path.child("volumeClaimTemplate"), ""));
        }
    }
}

fn check_downward(
    errors: &mut Errors,
    items: &[kubist_api::core::v1::DownwardAPIVolumeFile],
    path: &FieldPath,
) {
    // Upstream does not say which of the items is wrong.
    for file in items {
        if rules::required(errors, &file.path, &path.child("path")) {
            relative_path(errors, &file.path, &path.child("path"));
        }
        match (&file.field_ref, &file.resource_field_ref) {
            (Some(field), None) => {
                let path = path.child("fieldRef");
                env_rules::check_field(errors, field, &env_rules::FILE_FIELDS, &path);
            }
            (None, Some(resource)) => {
                let path = path.child("resourceFieldRef");
                rules::required(
                    errors,
                    &resource.container_name,
                    &path.child("containerName"),
                );
                env_rules::check_resource(errors, resource, &path);
            }
            (None, None) => {
                let detail = "one of fieldRef and resourceFieldRef is required";
                errors.push(FieldError::required(path, detail));
            }
            (Some(_), Some(_)) => {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.push(FieldError::invalid(path, "resource", detail));
            }
        }
        check_mode(errors, file.mode, &path.child("mode"));
    }
}

/// A directory of the node.
pub(super) fn host_path(errors: &mut Errors, at: &str, kind: Option<&str>, path: &FieldPath) {
    if !rules::required(errors, at, &path.child("path")) {
        return;
    }
    no_parents(errors, at, &path.child("path"));
    if let Some(kind) = kind {
        rules::one_of(errors, kind, &HOST_PATH_TYPES, &path.child("type"));
    }
}

fn check_projected(errors: &mut Errors, projected: &ProjectedVolumeSource, path: &FieldPath) {
    check_mode(errors, projected.default_mode, &path.child("defaultMode"));
    for (index, source) in projected.sources.iter().enumerate() {
        let path = path.child("sources").index(index);
        if let Some(secret) = &source.secret {
            let path = path.child("secret");
            rules::required(errors, &secret.name, &path.child("name"));
            check_items(errors, &secret.items, &path.child("items"));
        }
        if let Some(map) = &source.config_map {
            let path = path.child("configMap");
            rules::required(errors, &map.name, &path.child("name"));
            check_items(errors, &map.items, &path.child("items"));
        }
        if let Some(downward) = &source.downward_api {
            check_downward(errors, &downward.items, &path.child("downwardAPI"));
        }
        if let Some(token) = &source.service_account_token {
            let path = path.child("serviceAccountToken");
            let seconds = token.expiration_seconds.unwrap_or_default();
            if seconds < 600 {
                let detail = "may not specify a duration less than 10 minutes";
                errors.push(FieldError::invalid(
                    &path.child("expirationSeconds"),
                    seconds,
                    detail,
                ));
            }
            rules::required(errors, &token.path, &path.child("path"));
        }
        if present_fields(source).len() > 1 {
            let detail = "may not specify more than 1 volume type per source";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
}

fn check_items(errors: &mut Errors, items: &[KeyToPath], path: &FieldPath) {
    for (index, item) in items.iter().enumerate() {
        let path = path.index(index);
        rules::required(errors, &item.key, &path.child("key"));
        if rules::required(errors, &item.path, &path.child("path")) {
            relative_path(errors, &item.path, &path.child("path"));
        }
        check_mode(errors, item.mode, &path.child("mode"));
    }
}

fn check_mode(errors: &mut Errors, mode: Option<i32>, path: &FieldPath) {
    if let Some(mode) = mode.filter(|it| !(0..=0o777).contains(it)) {
        errors.push(FieldError::invalid(path, mode, MODE));
    }
}

/// A path that stays below where it begins.
pub(super) fn relative_path(errors: &mut Errors, value: &str, path: &FieldPath) {
    if value.starts_with('/') {
        errors.push(FieldError::invalid(path, value, "must be a relative path"));
    }
    no_parents(errors, value, path);
}

fn no_parents(errors: &mut Errors, value: &str, path: &FieldPath) {
    if value.split('/').any(|part| part == "..") {
        errors.push(FieldError::invalid(path, value, "must not contain '..'"));
    }
}
