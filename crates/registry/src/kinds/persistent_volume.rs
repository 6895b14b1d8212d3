//! PersistentVolumes.

use crate::{Admission, BoxFuture, KindStrategy, RequestContext, StatusKeeps};
use kubist_api::core::v1::{PersistentVolume, PersistentVolumeSpec, PersistentVolumeStatus};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Status, Str};

use super::persistent_volume_claim::{add_finalizer, check_modes};
use super::rules::{self, Errors};
use super::volume_defaults::default_persistent_volume;
use super::volume_rules::{self, host_path, in_upstream_order};
use super::{affinity_rules, resource_rules};

#[derive(Debug)]
pub(super) struct PersistentVolumes;

impl KindStrategy for PersistentVolumes {
    type Kind = PersistentVolume;

    fn apply_defaults(&self, object: &mut PersistentVolume) {
        default_persistent_volume(object);
    }
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut PersistentVolume,
        old: Option<&'a PersistentVolume>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        if cx.subresource.is_empty() && old.is_none() {
            add_finalizer(&mut new.metadata, "kubernetes.io/pv-protection");
        }
        Box::pin(std::future::ready(Ok(())))
    }
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut PersistentVolume) {
        new.status = PersistentVolumeStatus::default();
        new.status.phase = "Pending".into();
        new.status.last_phase_transition_time = Some(cx.now());
    }
    fn prepare_for_status_update(
        &self,
        cx: &RequestContext,
        new: &mut PersistentVolume,
        old: &PersistentVolume,
    ) {
        let told = &mut new.status.last_phase_transition_time;
        if new.status.phase != old.status.phase
            && (told.is_none() || *told == old.status.last_phase_transition_time)
        {
            *told = Some(cx.now());
        }
    }
    fn validate(&self, new: &PersistentVolume) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(&self, new: &PersistentVolume, old: &PersistentVolume) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let path = FieldPath::new("spec").child("persistentvolumesource");
        let sources = |volume: &PersistentVolume| {
            let mut only = volume.spec.clone();
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
        };
        if sources(new) != sources(old) {
            let detail = "spec.persistentvolumesource is immutable after creation";
            errors.push(FieldError::forbidden(&path, detail));
        }
        if new.spec.volume_mode != old.spec.volume_mode {
            let path = FieldPath::new("volumeMode");
            let shown = new
                .spec
                .volume_mode
                .as_ref()
                .map_or_else(BadValue::null, BadValue::from);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}

fn check(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        errors.push(FieldError::required(&modes, ""));
    }
    check_modes(errors, &spec.access_modes, &modes);
    let capacity = path.child("capacity");
    if spec.capacity.is_empty() {
        errors.push(FieldError::required(&capacity, ""));
    }
    if spec.capacity.len() != 1 || !spec.capacity.contains_key("storage") {
        let shown = if spec.capacity.is_empty() {
            BadValue::null()
        } else {
            BadValue::json(&spec.capacity)
        };
        errors.push(FieldError::not_supported(&capacity, shown, &["storage"]));
    }
    resource_rules::check_list(errors, &spec.capacity, &capacity);
    for (name, amount) in spec.capacity.iter().filter(|(_, it)| it.signum() == 0) {
        let detail = "must be greater than zero";
        errors.push(FieldError::invalid(
            &capacity.key(name),
            amount.text(),
            detail,
        ));
    }
    if !spec.persistent_volume_reclaim_policy.is_empty() {
        let supported = ["Delete", "Recycle", "Retain"];
        let path = path.child("persistentVolumeReclaimPolicy");
        rules::one_of(
            errors,
            &spec.persistent_volume_reclaim_policy,
            &supported,
            &path,
        );
    }
    if let Some(required) = spec
        .node_affinity
        .as_ref()
        .and_then(|it| it.required.as_ref())
    {
        let path = path.child("nodeAffinity").child("required");
        affinity_rules::check_node_selector(errors, required, &path);
    }
    check_source(errors, spec, path);
    if let Some(mode) = &spec.volume_mode {
        let path = path.child("volumeMode");
        rules::one_of(errors, mode, &["Block", "Filesystem"], &path);
    }
}

fn check_source(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    const OTHERS: [&str; 2] = ["claimRef", "nodeAffinity"];
    let present = volume_rules::present_fields(spec).into_iter();
    let sources = in_upstream_order(present.filter(|it| !OTHERS.contains(it)).collect());
    if sources.is_empty() {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
    for source in sources.iter().skip(1) {
        let detail = "may not specify more than 1 volume type";
        errors.push(FieldError::forbidden(&path.child(source), detail));
    }
    match sources.first() {
        Some(&"hostPath") => {
            if let Some(at) = &spec.host_path {
                let kind = at.type_.as_deref();
                host_path(errors, &at.path, kind, &path.child("hostPath"));
                let recycled = spec.persistent_volume_reclaim_policy == "Recycle";
                if recycled && at.path.trim_end_matches('/').is_empty() {
                    let path = path.child("persistentVolumeReclaimPolicy");
                    let detail = "may not be 'recycle' for a hostPath mount of '/'";
                    errors.push(FieldError::forbidden(&path, detail));
                }
            }
        }
        Some(&"nfs") => {
            if let Some(nfs) = &spec.nfs {
                let path = path.child("nfs");
                rules::required(errors, &nfs.server, &path.child("server"));
                rules::required(errors, &nfs.path, &path.child("path"));
            }
        }
        Some(&"csi") => {
            if let Some(csi) = &spec.csi {
                let path = path.child("csi");
                rules::required(errors, &csi.driver, &path.child("driver"));
                rules::required(errors, &csi.volume_handle, &path.child("volumeHandle"));
            }
        }
        Some(&"local") => {
            if let Some(local) = &spec.local {
                rules::required(errors, &local.path, &path.child("local").child("path"));
                if spec.node_affinity.is_none() {
                    let detail = "Local volume requires node affinity";
                    errors.push(FieldError::required(&path.child("nodeAffinity"), detail));
                }
            }
        }
        _ => {}
    }
}
