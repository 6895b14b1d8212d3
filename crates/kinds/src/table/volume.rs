//! Rows of volumes, claims and storage kinds.

use super::age::age;
use super::cells;
use super::listing::{joined, text_or};
use crate::volume::claim_spec::BETA_CLASS;
use kubist_api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kubist_api::storage::v1::{
    CSIDriver, CSINode, StorageClass, VolumeAttachment, VolumeAttributesClass,
};
use kubist_apimachinery::{ObjectMeta, Quantity, Str, Time};
use serde_json::Value;
use std::collections::BTreeMap;

/// The annotations that mark the default storage class.
const DEFAULT_CLASS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];
const DEFAULT_ATTRIBUTES_CLASS: &str = "volumeattributesclass.kubernetes.io/is-default-class";
/// The access modes in display order, with their short names.
const MODES: [(&str, &str); 4] = [
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
];

fn modes(modes: &[Str]) -> String {
    let present = MODES
        .iter()
        .filter(|(long, _)| modes.iter().any(|it| it == long));
    joined(present.map(|(_, short)| short), ",")
}

fn storage(amounts: &BTreeMap<Str, Quantity>) -> String {
    amounts
        .get("storage")
        .map_or_else(|| "0".to_owned(), ToString::to_string)
}

fn class<'a>(meta: &'a ObjectMeta, field: &'a str) -> &'a str {
    meta.annotations.get(BETA_CLASS).map_or(field, |it| &**it)
}

fn phase<'a>(meta: &ObjectMeta, phase: &'a str) -> &'a str {
    if meta.is_terminating() {
        "Terminating"
    } else {
        phase
    }
}

pub(super) fn volume(object: &PersistentVolume, now: Time) -> Vec<Value> {
    let (spec, status) = (&object.spec, &object.status);
    let claim = spec
        .claim_ref
        .as_deref()
        .map(|it| format!("{}/{}", it.namespace, it.name));
    cells![
        &*object.metadata.name,
        storage(&spec.capacity),
        modes(&spec.access_modes),
        &*spec.persistent_volume_reclaim_policy,
        phase(&object.metadata, &status.phase),
        claim.unwrap_or_default(),
        class(&object.metadata, &spec.storage_class_name),
        spec.volume_attributes_class_name
            .as_deref()
            .unwrap_or("<unset>"),
        &*status.reason,
        age(&object.metadata, now),
        spec.volume_mode.as_deref().unwrap_or("<unset>"),
    ]
}

pub(super) fn claim(object: &PersistentVolumeClaim, now: Time) -> Vec<Value> {
    let (spec, status) = (&object.spec, &object.status);
    let bound = !spec.volume_name.is_empty();
    let of_bound = |text: String| if bound { text } else { String::new() };
    cells![
        &*object.metadata.name,
        phase(&object.metadata, &status.phase),
        &*spec.volume_name,
        of_bound(storage(&status.capacity)),
        of_bound(modes(&status.access_modes)),
        class(
            &object.metadata,
            spec.storage_class_name.as_deref().unwrap_or_default()
        ),
        spec.volume_attributes_class_name
            .as_deref()
            .unwrap_or("<unset>"),
        age(&object.metadata, now),
        spec.volume_mode.as_deref().unwrap_or("<unset>"),
    ]
}

/// Returns the name, marked if the class is the default.
fn name(meta: &ObjectMeta, marks: &[&str]) -> String {
    let marked = |mark: &&str| meta.annotations.get(*mark).is_some_and(|it| it == "true");
    if marks.iter().any(marked) {
        format!("{} (default)", meta.name)
    } else {
        meta.name.to_string()
    }
}

pub(super) fn storage_class(object: &StorageClass, now: Time) -> Vec<Value> {
    cells![
        name(&object.metadata, &DEFAULT_CLASS),
        &*object.provisioner,
        object.reclaim_policy.as_deref().unwrap_or("Delete"),
        object.volume_binding_mode.as_deref().unwrap_or("Immediate"),
        object.allow_volume_expansion.unwrap_or_default(),
        age(&object.metadata, now),
    ]
}

pub(super) fn attributes_class(object: &VolumeAttributesClass, now: Time) -> Vec<Value> {
    cells![
        name(&object.metadata, &[DEFAULT_ATTRIBUTES_CLASS]),
        &*object.driver_name,
        age(&object.metadata, now),
    ]
}

pub(super) fn csi_driver(object: &CSIDriver, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let audiences = joined(spec.token_requests.iter().map(|it| &*it.audience), ",");
    let tokens = if spec.token_requests.is_empty() {
        "<unset>"
    } else {
        &audiences
    };
    cells![
        &*object.metadata.name,
        spec.attach_required.unwrap_or(true),
        spec.pod_info_on_mount.unwrap_or_default(),
        spec.storage_capacity.unwrap_or_default(),
        tokens,
        spec.requires_republish.unwrap_or_default(),
        text_or(&joined(&spec.volume_lifecycle_modes, ","), "<none>"),
        age(&object.metadata, now),
    ]
}

pub(super) fn csi_node(object: &CSINode, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        object.spec.drivers.len(),
        age(&object.metadata, now)
    ]
}

pub(super) fn attachment(object: &VolumeAttachment, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    cells![
        &*object.metadata.name,
        &*spec.attacher,
        spec.source
            .persistent_volume_name
            .as_deref()
            .unwrap_or_default(),
        &*spec.node_name,
        object.status.attached,
        age(&object.metadata, now),
    ]
}
