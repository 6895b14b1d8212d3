//! Validation of a volume spec, in a PersistentVolume or inline in a VolumeAttachment.

use crate::shared::rules::{self, Errors};
use crate::volume::claim_spec::check_modes;
use crate::volume::sources::OF_PERSISTENT_VOLUMES;
use crate::{pod_spec, volume};
use kubist_api::core::v1::PersistentVolumeSpec;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};

/// Checks the spec of the volume called `name`.
pub(crate) fn check(
    errors: &mut Errors,
    spec: &PersistentVolumeSpec,
    name: &str,
    path: &FieldPath,
) {
    check_access(errors, spec, path);
    check_capacity(errors, spec, &path.child("capacity"));
    if !spec.persistent_volume_reclaim_policy.is_empty() {
        let supported = ["Delete", "Recycle", "Retain"];
        let policy = &spec.persistent_volume_reclaim_policy;
        let path = path.child("persistentVolumeReclaimPolicy");
        rules::one_of(errors, policy, &supported, &path);
    }
    if let Some(affinity) = &spec.node_affinity {
        let path = path.child("nodeAffinity").child("required");
        if let Some(required) = &affinity.required {
            pod_spec::affinity::check_node_selector(errors, required, &path);
        } else {
            let detail = "must specify required node constraints";
            errors.push(FieldError::required(&path, detail));
        }
    }
    check_source(errors, spec, name, path);
    if !spec.storage_class_name.is_empty() {
        let path = path.child("storageClassName");
        let rule = validate_name::dns1123_subdomain;
        rules::text(errors, &spec.storage_class_name, &path, rule);
    }
    if let Some(mode) = &spec.volume_mode {
        let path = path.child("volumeMode");
        rules::one_of(errors, mode, &["Block", "Filesystem"], &path);
    }
    if let Some(class) = &spec.volume_attributes_class_name {
        let at = path.child("volumeAttributesClassName");
        if class.is_empty() {
            errors.push(FieldError::required(&at, "an empty string is disallowed"));
        } else {
            rules::text(errors, class, &at, validate_name::dns1123_subdomain);
        }
        if spec.csi.is_none() {
            let detail = "has to be specified when using volumeAttributesClassName";
            errors.push(FieldError::required(&path.child("csi"), detail));
        }
    }
}

/// Checks a volume that is inline in a VolumeAttachment.
pub(crate) fn check_inline(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    let not_here = |name: &str| {
        let detail = "may not be specified in the context of inline volumes";
        FieldError::forbidden(&path.child(name), detail)
    };
    if spec.claim_ref.is_some() {
        errors.push(not_here("claimRef"));
    }
    if !spec.capacity.is_empty() {
        errors.push(not_here("capacity"));
    }
    if spec.csi.is_none() {
        let detail = "has to be specified in the context of inline volumes";
        errors.push(FieldError::required(&path.child("csi"), detail));
    }
    check_access(errors, spec, path);
    if !matches!(&*spec.persistent_volume_reclaim_policy, "" | "Retain") {
        let path = path.child("persistentVolumeReclaimPolicy");
        let detail = "may only be Retain in the context of inline volumes";
        errors.push(FieldError::forbidden(&path, detail));
    }
    if spec.node_affinity.is_some() {
        errors.push(not_here("nodeAffinity"));
    }
    check_source(errors, spec, "", path);
    if !spec.storage_class_name.is_empty() {
        errors.push(not_here("storageClassName"));
    }
    if !matches!(spec.volume_mode.as_deref(), None | Some("Filesystem")) {
        let path = path.child("volumeMode");
        let detail =
            "may not specify volumeMode other than Filesystem in the context of inline volumes";
        errors.push(FieldError::forbidden(&path, detail));
    }
}

fn check_access(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        errors.push(FieldError::required(&modes, ""));
    }
    check_modes(errors, &spec.access_modes, &modes);
}

/// Checks that the capacity consists of storage only.
fn check_capacity(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    let capacity = &spec.capacity;
    if capacity.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    if capacity.len() != 1 || !capacity.contains_key("storage") {
        let shown = if capacity.is_empty() {
            BadValue::null()
        } else {
            BadValue::json(capacity)
        };
        errors.push(FieldError::not_supported(path, shown, &["storage"]));
    }
    for (name, amount) in capacity {
        let path = path.key(name);
        if amount.value() < 0 {
            let detail = "must be a valid resource quantity";
            errors.push(FieldError::invalid(&path, amount.value(), detail));
        }
        if amount.signum() <= 0 {
            let detail = "must be greater than zero";
            errors.push(FieldError::invalid(&path, amount.text(), detail));
        }
    }
}

fn check_source(errors: &mut Errors, spec: &PersistentVolumeSpec, name: &str, path: &FieldPath) {
    const NAME_AND_PORTAL_MAX: usize = 64;
    volume::source_validation::check(errors, spec, &OF_PERSISTENT_VOLUMES, path);
    let mut kinds = OF_PERSISTENT_VOLUMES.iter().map(|it| it.name);
    let first =
        kinds.find(|it| volume::source_validation::present(spec).any(|present| present == *it));
    if let Some(iscsi) = &spec.iscsi
        && first == Some("iscsi")
        && iscsi.initiator_name.is_some()
        && name.len() + 1 + iscsi.target_portal.len() > NAME_AND_PORTAL_MAX
    {
        let at = path.child("iscsi").child("targetportal");
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 \
                      characters if iscsi.initiatorName is specified.";
        errors.push(FieldError::invalid(&at, &iscsi.target_portal, detail));
    }
    if first == Some("local") && spec.node_affinity.is_none() {
        let detail = "Local volume requires node affinity";
        errors.push(FieldError::required(&path.child("nodeAffinity"), detail));
    }
    if let Some(directory) = &spec.host_path
        && spec.persistent_volume_reclaim_policy == "Recycle"
        && is_root(&directory.path)
    {
        let path = path.child("persistentVolumeReclaimPolicy");
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        errors.push(FieldError::forbidden(&path, detail));
    }
}

/// Reports whether a path resolves to the root.
fn is_root(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split('/') {
        depth = match part {
            "" | "." => depth,
            ".." => depth.saturating_sub(1),
            _ => depth + 1,
        };
    }
    path.starts_with('/') && depth == 0
}
