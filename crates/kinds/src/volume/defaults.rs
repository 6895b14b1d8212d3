//! Upstream's defaults for Pod volumes and PersistentVolumes.

use crate::shared::{fill, image};
use kubist_api::core::v1::{
    AzureDiskVolumeSource, DownwardAPIVolumeFile, PersistentVolume, PersistentVolumeClaim,
    PersistentVolumeClaimSpec, PersistentVolumeSpec, ProjectedVolumeSource, Volume,
};
use kubist_apimachinery::Str;

/// The default permissions of files from ConfigMaps and similar sources: 0644.
const FILE_MODE: i32 = 0o644;
/// The default lifetime of projected service account tokens, in seconds.
const TOKEN_SECONDS: i64 = 3600;

/// Fills in one volume of a Pod.
pub(crate) fn default_volume(volume: &mut Volume) {
    if !has_source(volume) {
        volume.empty_dir = Some(Box::default());
    }
    if let Some(secret) = &mut volume.secret {
        secret.default_mode.get_or_insert(FILE_MODE);
    }
    if let Some(map) = &mut volume.config_map {
        map.default_mode.get_or_insert(FILE_MODE);
    }
    if let Some(downward) = &mut volume.downward_api {
        downward.default_mode.get_or_insert(FILE_MODE);
        default_downward_files(&mut downward.items);
    }
    if let Some(projected) = &mut volume.projected {
        default_projected(projected);
    }
    if let Some(path) = &mut volume.host_path {
        fill::option(&mut path.type_, "");
    }
    if let Some(iscsi) = &mut volume.iscsi {
        fill::text(&mut iscsi.iscsi_interface, "default");
    }
    if let Some(rbd) = &mut volume.rbd {
        default_rbd(&mut rbd.pool, &mut rbd.user, &mut rbd.keyring);
    }
    if let Some(disk) = &mut volume.azure_disk {
        default_azure_disk(disk);
    }
    if let Some(scale_io) = &mut volume.scale_io {
        default_scale_io(&mut scale_io.storage_mode, &mut scale_io.fs_type);
    }
    if let Some(claim) = volume
        .ephemeral
        .as_mut()
        .and_then(|it| it.volume_claim_template.as_mut())
    {
        default_claim_spec(&mut claim.spec);
    }
    if let Some(source) = &mut volume.image {
        fill::text(
            &mut source.pull_policy,
            image::pull_policy(&source.reference),
        );
    }
}

/// Fills in a PersistentVolume.
pub(crate) fn default_persistent_volume(volume: &mut PersistentVolume) {
    fill::text(&mut volume.status.phase, "Pending");
    let spec = &mut volume.spec;
    fill::text(&mut spec.persistent_volume_reclaim_policy, "Retain");
    fill::option(&mut spec.volume_mode, "Filesystem");
    default_persistent_spec(spec);
}

/// Fills in a PersistentVolume spec, also one inline in a VolumeAttachment.
pub(crate) fn default_persistent_spec(spec: &mut PersistentVolumeSpec) {
    fill::round(&mut spec.capacity);
    if let Some(path) = &mut spec.host_path {
        fill::option(&mut path.type_, "");
    }
    if let Some(iscsi) = &mut spec.iscsi {
        fill::text(&mut iscsi.iscsi_interface, "default");
    }
    if let Some(rbd) = &mut spec.rbd {
        default_rbd(&mut rbd.pool, &mut rbd.user, &mut rbd.keyring);
    }
    if let Some(disk) = &mut spec.azure_disk {
        default_azure_disk(disk);
    }
    if let Some(scale_io) = &mut spec.scale_io {
        default_scale_io(&mut scale_io.storage_mode, &mut scale_io.fs_type);
    }
}

/// Fills in the spec of a claim.
pub(crate) fn default_claim_spec(spec: &mut PersistentVolumeClaimSpec) {
    fill::option(&mut spec.volume_mode, "Filesystem");
    fill::round(&mut spec.resources.limits);
    fill::round(&mut spec.resources.requests);
}

/// Fills in a claim.
pub(crate) fn default_claim(claim: &mut PersistentVolumeClaim) {
    default_claim_spec(&mut claim.spec);
    fill::text(&mut claim.status.phase, "Pending");
    fill::round(&mut claim.status.capacity);
    fill::round(&mut claim.status.allocated_resources);
}

fn has_source(volume: &Volume) -> bool {
    let name = Volume {
        name: volume.name.clone(),
        ..Volume::default()
    };
    *volume != name
}

fn default_projected(projected: &mut ProjectedVolumeSource) {
    projected.default_mode.get_or_insert(FILE_MODE);
    for source in &mut projected.sources {
        if let Some(token) = &mut source.service_account_token {
            token.expiration_seconds.get_or_insert(TOKEN_SECONDS);
        }
        if let Some(downward) = &mut source.downward_api {
            default_downward_files(&mut downward.items);
        }
    }
}

fn default_downward_files(files: &mut [DownwardAPIVolumeFile]) {
    for field in files.iter_mut().filter_map(|file| file.field_ref.as_mut()) {
        fill::text(&mut field.api_version, "v1");
    }
}

fn default_rbd(pool: &mut Str, user: &mut Str, keyring: &mut Str) {
    fill::text(pool, "rbd");
    fill::text(user, "admin");
    fill::text(keyring, "/etc/ceph/keyring");
}

fn default_azure_disk(disk: &mut AzureDiskVolumeSource) {
    fill::option(&mut disk.caching_mode, "ReadWrite");
    fill::option(&mut disk.kind, "Shared");
    fill::option(&mut disk.fs_type, "ext4");
    disk.read_only.get_or_insert(false);
}

fn default_scale_io(storage_mode: &mut Str, fs_type: &mut Str) {
    fill::text(storage_mode, "ThinProvisioned");
    fill::text(fs_type, "xfs");
}
