//! PersistentVolumes.

use crate::{Admission, BoxFuture, KindStrategy, RequestContext, StatusKeeps};
use kubist_api::core::v1::{
    CSIPersistentVolumeSource, PersistentVolume, PersistentVolumeSpec, PersistentVolumeStatus,
    VolumeNodeAffinity,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Status, Str, validate_name};

use super::persistent_volume_claim::{add_finalizer, check_modes};
use super::rules::{self, Errors};
use super::volume_defaults::default_persistent_volume;
use super::volume_rules::{self, host_path, in_upstream_order};
use super::{affinity_rules, fill, go_struct, resource_rules};

#[derive(Debug)]
pub(super) struct PersistentVolumes;

impl KindStrategy for PersistentVolumes {
    type Kind = PersistentVolume;

    fn apply_defaults(&self, object: &mut PersistentVolume) {
        fill::round(&mut object.spec.capacity);
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
        let modes = (&new.spec.volume_mode, &old.spec.volume_mode);
        let path = FieldPath::new("volumeMode");
        rules::immutable_value(&mut errors, modes.0, modes.1, &path, |mode| {
            mode.as_ref().map_or_else(BadValue::null, BadValue::from)
        });
        let places = (&new.spec.node_affinity, &old.spec.node_affinity);
        if old.spec.node_affinity.is_some() && current(places.0) != current(places.1) {
            let path = FieldPath::new("nodeAffinity");
            let affinity = places.0.as_deref();
            let shown = affinity.map_or_else(BadValue::null, |it| go_struct::shown(it));
            let detail = "field is immutable, except for updating from beta label to GA";
            errors.push(FieldError::invalid(&path, shown, detail));
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

/// Labels of nodes that have another name now.
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

/// An affinity with the labels' present names.
fn current(affinity: &Option<Box<VolumeNodeAffinity>>) -> Option<Box<VolumeNodeAffinity>> {
    let mut affinity = affinity.clone()?;
    let terms = affinity.required.iter_mut();
    let terms = terms.flat_map(|required| &mut required.node_selector_terms);
    for requirement in terms.flat_map(|term| &mut term.match_expressions) {
        let moved = MOVED.iter().find(|(old, _)| requirement.key == *old);
        if let Some((_, new)) = moved {
            requirement.key = (*new).into();
        }
    }
    Some(affinity)
}

/// Checks a volume that stands in an attachment and not by itself.
pub(super) fn check_inline(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    const DETAIL: &str = "may not be specified in the context of inline volumes";
    for (name, is_set) in [
        ("claimRef", spec.claim_ref.is_some()),
        ("capacity", !spec.capacity.is_empty()),
        ("nodeAffinity", spec.node_affinity.is_some()),
        ("storageClassName", !spec.storage_class_name.is_empty()),
    ] {
        if is_set {
            errors.push(FieldError::forbidden(&path.child(name), DETAIL));
        }
    }
    if spec.csi.is_none() {
        let detail = "has to be specified in the context of inline volumes";
        errors.push(FieldError::required(&path.child("csi"), detail));
    }
    for (name, value, only) in [
        (
            "persistentVolumeReclaimPolicy",
            spec.persistent_volume_reclaim_policy.as_str(),
            "Retain",
        ),
        (
            "volumeMode",
            spec.volume_mode.as_deref().unwrap_or("Filesystem"),
            "Filesystem",
        ),
    ] {
        if !value.is_empty() && value != only {
            let detail = format!("may only be {only} in the context of inline volumes");
            errors.push(FieldError::forbidden(&path.child(name), detail));
        }
    }
    check_access(errors, spec, path);
    check_source(errors, spec, path);
}

fn check_access(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        errors.push(FieldError::required(&modes, ""));
    }
    check_modes(errors, &spec.access_modes, &modes);
}

fn check(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    check_access(errors, spec, path);
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
    if let Some(affinity) = &spec.node_affinity {
        let path = path.child("nodeAffinity").child("required");
        if let Some(required) = &affinity.required {
            affinity_rules::check_node_selector(errors, required, &path);
        } else {
            let detail = "must specify required node constraints";
            errors.push(FieldError::required(&path, detail));
        }
    }
    check_source(errors, spec, path);
    if let Some(mode) = &spec.volume_mode {
        let path = path.child("volumeMode");
        rules::one_of(errors, mode, &["Block", "Filesystem"], &path);
    }
    if !spec.storage_class_name.is_empty() {
        let path = path.child("storageClassName");
        let rule = validate_name::dns1123_subdomain;
        rules::text(errors, &spec.storage_class_name, &path, rule);
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

fn check_source(errors: &mut Errors, spec: &PersistentVolumeSpec, path: &FieldPath) {
    const OTHERS: [&str; 2] = ["claimRef", "nodeAffinity"];
    let present = volume_rules::present_fields(spec).into_iter();
    let sources = in_upstream_order(present.filter(|it| !OTHERS.contains(it)).collect());
    if sources.is_empty() {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
    // Upstream does not count this one.
    for source in sources.iter().skip(1).filter(|it| **it != "flexVolume") {
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
                let at = path.child("path");
                rules::required(errors, &nfs.path, &at);
                if !nfs.path.starts_with('/') {
                    let detail = "must be an absolute path";
                    errors.push(FieldError::invalid(&at, &nfs.path, detail));
                }
            }
        }
        Some(&"csi") => {
            if let Some(csi) = &spec.csi {
                check_csi(errors, csi, &path.child("csi"));
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

fn check_csi(errors: &mut Errors, csi: &CSIPersistentVolumeSource, path: &FieldPath) {
    rules::csi_driver_name(errors, &csi.driver, &path.child("driver"));
    rules::required(errors, &csi.volume_handle, &path.child("volumeHandle"));
    for (name, secret) in [
        (
            "controllerPublishSecretRef",
            &csi.controller_publish_secret_ref,
        ),
        (
            "controllerExpandSecretRef",
            &csi.controller_expand_secret_ref,
        ),
        ("nodePublishSecretRef", &csi.node_publish_secret_ref),
        ("nodeExpandSecretRef", &csi.node_expand_secret_ref),
    ] {
        if let Some(secret) = secret {
            let path = path.child(name);
            rules::required(errors, &secret.name, &path.child("name"));
            rules::required(errors, &secret.namespace, &path.child("namespace"));
        }
    }
}
