//! PersistentVolumes.

pub(crate) mod validation;

use crate::shared::rules::{self, Errors};
use crate::shared::{go_struct, metadata_checks, text_diff};
use crate::volume;
use crate::volume::defaults::default_persistent_volume;
use crate::volume::sources::OF_PERSISTENT_VOLUMES;
use kubist_api::core::v1::{
    PersistentVolume, PersistentVolumeSpec, PersistentVolumeStatus, VolumeNodeAffinity,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, RequestContext, StatusKeeps, Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct PersistentVolumes;

impl KindStrategy for PersistentVolumes {
    type Kind = PersistentVolume;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Own,
        status_keeps: StatusKeeps::Nothing,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(PersistentVolumesStatus))
    }
    fn apply_defaults(&self, object: &mut PersistentVolume) {
        default_persistent_volume(object);
    }
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut PersistentVolume) {
        new.status = PersistentVolumeStatus::default();
        new.status.phase = "Pending".into();
        new.status.last_phase_transition_time = Some(cx.now());
    }
    fn warnings(&self, new: &PersistentVolume, _: Option<&PersistentVolume>) -> Vec<String> {
        volume::warnings::of_volume(new)
    }
    fn validate(&self, new: &PersistentVolume) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        validation::check(&mut errors, &new.spec, &new.metadata.name, &path);
        has_no_annotated_options(&mut errors, new);
        errors
    }
    fn validate_update(&self, new: &PersistentVolume, old: &PersistentVolume) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        errors.extend(self.validate(new));
        // Upstream validates the metadata and the spec a second time.
        errors.extend(metadata_checks::whole(self, new));
        let path = FieldPath::new("spec");
        validation::check(&mut errors, &new.spec, &new.metadata.name, &path);
        check_update(&mut errors, &new.spec, &old.spec);
        errors
    }
}

/// The status strategy of [`PersistentVolumes`].
#[derive(Debug)]
struct PersistentVolumesStatus;

impl KindStrategy for PersistentVolumesStatus {
    type Kind = PersistentVolume;

    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut PersistentVolume,
        old: &PersistentVolume,
    ) {
        let before = old.status.last_phase_transition_time;
        let time = &mut new.status.last_phase_transition_time;
        if new.status.phase == old.status.phase {
            *time = time.or(before);
        } else if time.is_none() || *time == before {
            *time = Some(cx.now());
        }
    }
}

/// Node labels that were renamed.
const MOVED: [(&str, &str); 5] = [
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    (
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/zone",
    ),
];

/// Returns the stored affinity with renamed labels, where `new` uses the current names. For every
/// label that was not renamed, upstream substitutes an empty name.
fn relabelled(
    old: Option<&VolumeNodeAffinity>,
    new: Option<&VolumeNodeAffinity>,
) -> Option<Box<VolumeNodeAffinity>> {
    let mut affinity = old?.clone();
    let now: Vec<&Str> = new.map_or_else(Vec::new, |new| {
        let terms = new.required.iter().flat_map(|it| &it.node_selector_terms);
        let all = terms.flat_map(|it| it.match_expressions.iter().chain(&it.match_fields));
        all.map(|it| &it.key).collect()
    });
    let required = affinity.required.iter_mut();
    let terms = required.flat_map(|it| &mut it.node_selector_terms);
    let all = terms.flat_map(|it| it.match_expressions.iter_mut().chain(&mut it.match_fields));
    for (requirement, key) in all.zip(now) {
        let moved = MOVED.iter().find(|(old, _)| requirement.key == *old);
        if *key == moved.map_or("", |(_, new)| *new) {
            requirement.key = key.clone();
        }
    }
    Some(Box::new(affinity))
}

/// Mount options belong in the spec; the annotation is only for older providers.
fn has_no_annotated_options(errors: &mut Errors, volume: &PersistentVolume) {
    const OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";
    let spec = &volume.spec;
    let knows_options = spec.gce_persistent_disk.is_some()
        || spec.aws_elastic_block_store.is_some()
        || spec.glusterfs.is_some()
        || spec.nfs.is_some()
        || spec.rbd.is_some()
        || spec.quobyte.is_some()
        || spec.iscsi.is_some()
        || spec.cinder.is_some()
        || spec.cephfs.is_some()
        || spec.azure_file.is_some()
        || spec.vsphere_volume.is_some()
        || spec.azure_disk.is_some()
        || spec.photon_persistent_disk.is_some();
    if !knows_options && volume.metadata.annotations.contains_key(OPTIONS) {
        let path = FieldPath::new("metadata")
            .child("annotations")
            .child(OPTIONS);
        let detail = "may not specify mount options for this volume type";
        errors.push(FieldError::forbidden(&path, detail));
    }
}

fn check_update(errors: &mut Errors, new: &PersistentVolumeSpec, old: &PersistentVolumeSpec) {
    let mut source = only_source(new);
    let before = only_source(old);
    // The secret for expansion may be added later.
    if let (Some(csi), Some(old)) = (&mut source.csi, &before.csi)
        && old.controller_expand_secret_ref.is_none()
    {
        csi.controller_expand_secret_ref = None;
    }
    if source != before {
        let path = FieldPath::new("spec").child("persistentvolumesource");
        let diff = text_diff::json_diff(&source_text(&before), &source_text(&source));
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{diff}");
        errors.push(FieldError::forbidden(&path, detail));
    }
    let modes = (&new.volume_mode, &old.volume_mode);
    let path = FieldPath::new("volumeMode");
    rules::immutable_value(errors, modes.0, modes.1, &path, |mode| {
        mode.as_ref().map_or_else(BadValue::null, BadValue::json)
    });
    let places = (&new.node_affinity, &old.node_affinity);
    if old.node_affinity.is_some()
        && *places.0 != relabelled(places.1.as_deref(), places.0.as_deref())
    {
        let path = FieldPath::new("nodeAffinity");
        let affinity = places.0.as_deref();
        let shown = affinity.map_or_else(BadValue::null, |it| go_struct::shown(it));
        let detail = "field is immutable, except for updating from beta label to GA";
        errors.push(FieldError::invalid(&path, shown, detail));
    }
    if old.volume_attributes_class_name.is_some() && new.volume_attributes_class_name.is_none() {
        let path = FieldPath::new("spec").child("volumeAttributesClassName");
        let detail = "update from non-nil value to nil is forbidden";
        errors.push(FieldError::forbidden(&path, detail));
    }
}

/// Returns only the volume source, without the settings for its use.
fn only_source(spec: &PersistentVolumeSpec) -> PersistentVolumeSpec {
    let mut only = spec.clone();
    only.access_modes.clear();
    only.capacity.clear();
    only.claim_ref = None;
    only.persistent_volume_reclaim_policy = Str::default();
    only.storage_class_name = Str::default();
    only.mount_options.clear();
    only.volume_mode = None;
    only.node_affinity = None;
    only.volume_attributes_class_name = None;
    only
}

/// Returns the sources as upstream's diff shows them.
fn source_text(spec: &PersistentVolumeSpec) -> String {
    let is_source = |name: &str| OF_PERSISTENT_VOLUMES.iter().any(|it| it.name == name);
    go_struct::fields(spec, is_source)
}
