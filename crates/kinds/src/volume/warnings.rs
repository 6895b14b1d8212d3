//! Warnings about volumes and claims: deprecated features, and byte amounts that are not whole
//! numbers.

use crate::shared::node_label_warnings;
use crate::shared::resources::warn_of_fraction;
use crate::volume::claim_spec::BETA_CLASS;
use kubist_api::core::v1::{PersistentVolume, PersistentVolumeClaimSpec, PersistentVolumeSpec};
use kubist_apimachinery::{FieldPath, ObjectMeta};

/// The annotation for mount options that preceded the field.
const MOUNT_OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";

/// Describes a removed feature: the versions in which it was deprecated and removed.
pub(crate) fn removed_feature(deprecated: &str, removed: &str) -> String {
    format!("deprecated in v{deprecated}, non-functional in v{removed}+")
}

/// Returns the warnings for a volume.
pub(crate) fn of_volume(volume: &PersistentVolume) -> Vec<String> {
    let mut found = Vec::new();
    let spec = &volume.spec;
    annotation(
        &mut found,
        &volume.metadata,
        BETA_CLASS,
        "v1.8; use \"storageClassName\"",
    );
    annotation(
        &mut found,
        &volume.metadata,
        MOUNT_OPTIONS,
        "v1.31; use \"mountOptions\"",
    );
    let path = FieldPath::new("spec");
    if spec.persistent_volume_reclaim_policy == "Recycle" {
        let path = path.child("persistentVolumeReclaimPolicy");
        found.push(format!(
            "{path}: The Recycle reclaim policy is deprecated. Instead, the recommended approach \
             is to use dynamic provisioning."
        ));
    }
    let affinity = spec.node_affinity.as_deref();
    let required = affinity.and_then(|it| it.required.as_deref());
    let at = path
        .child("nodeAffinity")
        .child("required")
        .child("nodeSelectorTerms");
    let terms = required.into_iter().flat_map(|it| &it.node_selector_terms);
    for (index, term) in terms.enumerate() {
        node_label_warnings::term(&mut found, term, false, &at.index(index));
    }
    source(&mut found, spec, &path);
    found
}

fn source(found: &mut Vec<String>, spec: &PersistentVolumeSpec, path: &FieldPath) {
    for (name, is_used, deprecated, since) in [
        ("cephfs", spec.cephfs.is_some(), "1.28", "1.31"),
        (
            "photonPersistentDisk",
            spec.photon_persistent_disk.is_some(),
            "1.11",
            "1.16",
        ),
        ("scaleIO", spec.scale_io.is_some(), "1.16", "1.22"),
        ("storageOS", spec.storageos.is_some(), "1.22", "1.25"),
        ("glusterfs", spec.glusterfs.is_some(), "1.25", "1.26"),
        ("rbd", spec.rbd.is_some(), "1.28", "1.31"),
    ] {
        if is_used {
            found.push(format!(
                "{}: {}",
                path.child(name),
                removed_feature(deprecated, since)
            ));
        }
    }
}

/// Returns the warnings for the metadata of a claim.
pub(crate) fn of_claim_metadata(meta: &ObjectMeta) -> Vec<String> {
    let mut found = Vec::new();
    annotation(
        &mut found,
        meta,
        BETA_CLASS,
        "v1.8; use \"storageClassName\"",
    );
    found
}

fn annotation(found: &mut Vec<String>, meta: &ObjectMeta, key: &str, message: &str) {
    if meta.annotations.contains_key(key) {
        let path = FieldPath::new("metadata").child("annotations").key(key);
        found.push(format!(
            "{path}: deprecated since {message} attribute instead"
        ));
    }
}

/// Adds the warnings for a claim spec; `path` is that of the spec.
pub(crate) fn of_claim(
    found: &mut Vec<String>,
    spec: &PersistentVolumeClaimSpec,
    path: &FieldPath,
) {
    let path = path.child("resources");
    let resources = &spec.resources;
    for (name, amounts) in [
        ("requests", &resources.requests),
        ("limits", &resources.limits),
    ] {
        warn_of_fraction(found, amounts, "storage", &path.child(name));
    }
}
