//! Which volumes are allowed.

use crate::pod_security::subject::Subject;
use crate::pod_security::wording::{Violation, plural, quoted};
use kubist_api::core::v1::Volume;
use std::collections::BTreeSet;

pub(super) fn host_paths(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let volumes = subject.spec.volumes.iter();
    let bad = volumes.filter(|it| it.host_path.is_some());
    let names: Vec<&str> = bad.map(|it| it.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let word = plural("volume", "volumes", names.len());
    let detail = format!("{word} {}", quoted(names));
    Some(Violation::new("hostPath volumes", detail))
}

pub(super) fn restricted(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let (mut names, mut kinds) = (Vec::new(), BTreeSet::new());
    for volume in subject.spec.volumes.iter().filter(|it| !is_allowed(it)) {
        names.push(volume.name.as_str());
        kinds.insert(kind_of(volume));
    }
    if names.is_empty() {
        return None;
    }
    let count = names.len();
    let detail = format!(
        "{} {} {} {} {}",
        plural("volume", "volumes", count),
        quoted(names),
        plural("uses", "use", count),
        plural(
            "restricted volume type",
            "restricted volume types",
            kinds.len()
        ),
        quoted(kinds)
    );
    Some(Violation::new("restricted volume types", detail))
}

fn is_allowed(volume: &Volume) -> bool {
    volume.config_map.is_some()
        || volume.csi.is_some()
        || volume.downward_api.is_some()
        || volume.empty_dir.is_some()
        || volume.ephemeral.is_some()
        || volume.image.is_some()
        || volume.persistent_volume_claim.is_some()
        || volume.projected.is_some()
        || volume.secret.is_some()
}

/// Returns the name of the source of a volume that is not allowed.
fn kind_of(volume: &Volume) -> &'static str {
    let all = [
        (volume.host_path.is_some(), "hostPath"),
        (volume.gce_persistent_disk.is_some(), "gcePersistentDisk"),
        (
            volume.aws_elastic_block_store.is_some(),
            "awsElasticBlockStore",
        ),
        (volume.git_repo.is_some(), "gitRepo"),
        (volume.nfs.is_some(), "nfs"),
        (volume.iscsi.is_some(), "iscsi"),
        (volume.glusterfs.is_some(), "glusterfs"),
        (volume.rbd.is_some(), "rbd"),
        (volume.flex_volume.is_some(), "flexVolume"),
        (volume.cinder.is_some(), "cinder"),
        (volume.cephfs.is_some(), "cephfs"),
        (volume.flocker.is_some(), "flocker"),
        (volume.fc.is_some(), "fc"),
        (volume.azure_file.is_some(), "azureFile"),
        (volume.vsphere_volume.is_some(), "vsphereVolume"),
        (volume.quobyte.is_some(), "quobyte"),
        (volume.azure_disk.is_some(), "azureDisk"),
        (
            volume.photon_persistent_disk.is_some(),
            "photonPersistentDisk",
        ),
        (volume.portworx_volume.is_some(), "portworxVolume"),
        (volume.scale_io.is_some(), "scaleIO"),
        (volume.storageos.is_some(), "storageos"),
    ];
    let found = all.into_iter().find(|(is_it, _)| *is_it);
    found.map_or("unknown", |(_, kind)| kind)
}
