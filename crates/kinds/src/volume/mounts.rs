//! Validation of volume mounts and devices of containers.

use crate::shared::rules::{self, Errors};
use crate::volume::source_validation::{descending_path, no_parents};
use crate::volume::validation::Volumes;
use kubist_api::core::v1::{Container, VolumeDevice, VolumeMount};
use kubist_apimachinery::{FieldError, FieldPath, Str};
use std::collections::{BTreeMap, BTreeSet};

/// The mount path of each volume in a container. If a volume is mounted twice, the last path
/// counts.
type PathsByName<'a> = BTreeMap<&'a Str, &'a Str>;

/// Checks the mounts and the devices of a container.
pub(crate) fn check(
    errors: &mut Errors,
    container: &Container,
    volumes: &Volumes,
    path: &FieldPath,
) {
    let mounts = container.volume_mounts.iter();
    let mounts: PathsByName<'_> = mounts.map(|it| (&it.name, &it.mount_path)).collect();
    let devices = container.volume_devices.iter();
    let devices: PathsByName<'_> = devices.map(|it| (&it.name, &it.device_path)).collect();
    check_mounts(
        errors,
        container,
        volumes,
        &devices,
        &path.child("volumeMounts"),
    );
    let all = &container.volume_devices;
    check_devices(errors, all, volumes, &mounts, &path.child("volumeDevices"));
}

fn check_mounts(
    errors: &mut Errors,
    container: &Container,
    volumes: &Volumes,
    devices: &PathsByName<'_>,
    list: &FieldPath,
) {
    let mut places = BTreeSet::new();
    for (index, mount) in container.volume_mounts.iter().enumerate() {
        let path = list.index(index);
        let (name, place) = (path.child("name"), path.child("mountPath"));
        rules::required(errors, &mount.name, &name);
        if !volumes.contains(&mount.name) {
            errors.push(FieldError::not_found(&name, &mount.name));
        }
        rules::required(errors, &mount.mount_path, &place);
        let mut wrong = |at: &FieldPath, value: &Str, detail: &str| {
            errors.push(FieldError::invalid(at, value, detail));
        };
        if !places.insert(&mount.mount_path) {
            wrong(&place, &mount.mount_path, "must be unique");
        }
        if devices.contains_key(&mount.name) {
            wrong(
                &name,
                &mount.name,
                "must not already exist in volumeDevices",
            );
        }
        if devices.values().any(|it| **it == mount.mount_path) {
            let detail = "must not already exist as a path in volumeDevices";
            wrong(&place, &mount.mount_path, detail);
        }
        if !mount.sub_path_expr.is_empty() && !mount.sub_path.is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            wrong(&path.child("subPathExpr"), &mount.sub_path_expr, detail);
        }
        check_mount(errors, container, mount, list);
    }
}

/// Upstream's paths for these errors have no index.
fn check_mount(errors: &mut Errors, container: &Container, mount: &VolumeMount, path: &FieldPath) {
    let parts = [
        ("subPath", &mount.sub_path),
        ("subPathExpr", &mount.sub_path_expr),
    ];
    for (field, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
        rules::text(errors, part, &path.child(field), descending_path);
    }
    let propagation = mount.mount_propagation.as_deref();
    if let Some(propagation) = propagation {
        let path = path.child("mountPropagation");
        let supported = ["Bidirectional", "HostToContainer", "None"];
        rules::one_of(errors, propagation, &supported, &path);
        let context = container.security_context.as_ref();
        let privileged = context.is_some_and(|it| it.privileged == Some(true));
        if propagation == "Bidirectional" && !privileged {
            let detail =
                "Bidirectional mount propagation is available only to privileged containers";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
    let path = path.child("recursiveReadOnly");
    match mount.recursive_read_only.as_deref() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !mount.read_only {
                let detail = "may only be specified when readOnly is true";
                errors.push(FieldError::forbidden(&path, detail));
            }
            if propagation.is_some_and(|it| it != "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.push(FieldError::forbidden(&path, detail));
            }
        }
        Some(other) => {
            let supported = ["Disabled", "Enabled", "IfPossible"];
            errors.push(FieldError::not_supported(&path, other, &supported));
        }
    }
}

fn check_devices(
    errors: &mut Errors,
    devices: &[VolumeDevice],
    volumes: &Volumes,
    mounts: &PathsByName<'_>,
    list: &FieldPath,
) {
    let (mut names, mut places) = (BTreeSet::new(), BTreeSet::new());
    for (index, device) in devices.iter().enumerate() {
        let path = list.index(index);
        let (name, place) = (path.child("name"), path.child("devicePath"));
        rules::required(errors, &device.name, &name);
        if !device.name.is_empty() && !names.insert(&device.name) {
            errors.push(FieldError::invalid(&name, &device.name, "must be unique"));
        }
        match volumes.is_claim(&device.name) {
            Some(true) => {}
            Some(false) => {
                let detail = "can only use volume source type of PersistentVolumeClaim or \
                              Ephemeral for block mode";
                errors.push(FieldError::invalid(&name, &device.name, detail));
            }
            None => errors.push(FieldError::not_found(&name, &device.name)),
        }
        rules::required(errors, &device.device_path, &place);
        let mut wrong = |at: &FieldPath, value: &Str, detail: &str| {
            errors.push(FieldError::invalid(at, value, detail));
        };
        if places.contains(&device.device_path) {
            wrong(&place, &device.device_path, "must be unique");
        }
        if no_parents(&device.device_path).is_empty() {
            places.insert(&device.device_path);
        } else {
            wrong(
                &place,
                &device.device_path,
                "can not contain backsteps ('..')",
            );
        }
        if mounts.contains_key(&device.name) {
            wrong(
                &name,
                &device.name,
                "must not already exist in volumeMounts",
            );
        }
        if mounts.values().any(|it| **it == device.device_path) {
            let detail = "must not already exist as a path in volumeMounts";
            wrong(&place, &device.device_path, detail);
        }
    }
}
