//! PersistentVolumeClaims.

use crate::{Admission, BoxFuture, KindStrategy, RequestContext, StatusKeeps};
use kubist_api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus,
    TypedLocalObjectReference, TypedObjectReference,
};
use kubist_api::storage::v1::StorageClass;
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, ObjectMeta, Quantity, Status, Str, Time,
    validate_label_selector,
};
use std::any::Any;
use std::collections::BTreeMap;

use super::rules::{self, Errors};
use super::volume_defaults::default_claim_spec;
use super::{claim_status_rules, fill, go_struct, text_diff};

#[derive(Debug)]
pub(super) struct PersistentVolumeClaims;

const ACCESS_MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
/// Marks the class of claims that name none.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const BETA_DEFAULT_CLASS: &str = "storageclass.beta.kubernetes.io/is-default-class";
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const ONLY_THESE: &str = "spec is immutable after creation except resources.requests and \
                          volumeAttributesClassName for bound claims";

impl KindStrategy for PersistentVolumeClaims {
    type Kind = PersistentVolumeClaim;

    fn apply_defaults(&self, object: &mut PersistentVolumeClaim) {
        fill::round(&mut object.spec.resources.requests);
        fill::round(&mut object.spec.resources.limits);
        fill::round(&mut object.status.capacity);
        fill::round(&mut object.status.allocated_resources);
        default_claim_spec(&mut object.spec);
        fill::text(&mut object.status.phase, "Pending");
    }
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut PersistentVolumeClaim,
        old: Option<&'a PersistentVolumeClaim>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            if cx.subresource.is_empty() && old.is_none() {
                add_finalizer(&mut new.metadata, "kubernetes.io/pvc-protection");
                set_default_class(cx, new).await?;
            }
            Ok(())
        })
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut PersistentVolumeClaim) {
        new.status = PersistentVolumeClaimStatus::default();
        new.status.phase = "Pending".into();
        drop_sources(&mut new.spec, None);
        level_sources(&mut new.spec);
    }
    fn prepare_for_update(
        &self,
        _: &RequestContext,
        new: &mut PersistentVolumeClaim,
        old: &PersistentVolumeClaim,
    ) {
        drop_sources(&mut new.spec, Some(&old.spec));
        level_sources(&mut new.spec);
    }
    fn validate(&self, new: &PersistentVolumeClaim) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_claim_spec(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(
        &self,
        new: &PersistentVolumeClaim,
        old: &PersistentVolumeClaim,
    ) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        check_update(&mut errors, new, old);
        errors
    }
    fn validate_status_update(
        &self,
        new: &PersistentVolumeClaim,
        _: &PersistentVolumeClaim,
    ) -> Vec<FieldError> {
        claim_status_rules::check(new)
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}

/// Adds a finalizer that is not there yet.
pub(super) fn add_finalizer(metadata: &mut ObjectMeta, finalizer: &str) {
    if !metadata.finalizers.iter().any(|it| it == finalizer) {
        metadata.finalizers.push(finalizer.into());
    }
}

async fn set_default_class(
    cx: &Admission<'_>,
    claim: &mut PersistentVolumeClaim,
) -> Result<(), Status> {
    let annotated = claim.metadata.annotations.contains_key(BETA_CLASS);
    if claim.spec.storage_class_name.is_some() || annotated {
        return Ok(());
    }
    let all = cx
        .objects
        .list("storage.k8s.io", "storageclasses", "")
        .await?;
    let classes = all
        .iter()
        .filter_map(|it| (&**it as &dyn Any).downcast_ref::<StorageClass>());
    let is_default = |class: &&StorageClass| {
        let marked = |key: &str| {
            class
                .metadata
                .annotations
                .get(key)
                .is_some_and(|it| it == "true")
        };
        marked(DEFAULT_CLASS) || marked(BETA_DEFAULT_CLASS)
    };
    // The newest, and of several the first by name.
    let newest = classes.filter(is_default).min_by_key(|class| {
        let created = class.metadata.creation_timestamp.map_or(0, Time::unix);
        (std::cmp::Reverse(created), class.metadata.name.clone())
    });
    if let Some(class) = newest {
        claim.spec.storage_class_name = Some(class.metadata.name.clone());
    }
    Ok(())
}

/// Sources that upstream ignores, unless the claim has one already: those in other namespaces
/// (its gate CrossNamespaceVolumeDataSource is off by default), and in the older field all but
/// claims and snapshots.
fn drop_sources(spec: &mut PersistentVolumeClaimSpec, old: Option<&PersistentVolumeClaimSpec>) {
    let has = |of: fn(&PersistentVolumeClaimSpec) -> bool| old.is_some_and(of);
    let elsewhere = |it: &TypedObjectReference| !it.namespace.as_deref().unwrap_or("").is_empty();
    if spec.data_source_ref.as_deref().is_some_and(elsewhere)
        && !has(|old| old.data_source_ref.is_some())
    {
        spec.data_source_ref = None;
    }
    if spec.data_source_ref.is_some()
        || has(|old| old.data_source.is_some() || old.data_source_ref.is_some())
    {
        return;
    }
    let is_known = |it: &TypedLocalObjectReference| {
        let group = it.api_group.as_deref().unwrap_or_default();
        let known = [
            ("", "PersistentVolumeClaim"),
            ("snapshot.storage.k8s.io", "VolumeSnapshot"),
        ];
        known.contains(&(group, it.kind.as_str()))
    };
    if !spec.data_source.as_deref().is_some_and(is_known) {
        spec.data_source = None;
    }
}

/// The two fields that name a source say the same, as far as they can.
fn level_sources(spec: &mut PersistentVolumeClaimSpec) {
    match (&spec.data_source, &spec.data_source_ref) {
        (Some(source), None) => {
            spec.data_source_ref = Some(Box::new(TypedObjectReference {
                api_group: source.api_group.clone(),
                kind: source.kind.clone(),
                name: source.name.clone(),
                namespace: None,
            }));
        }
        (None, Some(source)) if source.namespace.as_deref().unwrap_or_default().is_empty() => {
            spec.data_source = Some(Box::new(TypedLocalObjectReference {
                api_group: source.api_group.clone(),
                kind: source.kind.clone(),
                name: source.name.clone(),
            }));
        }
        _ => {}
    }
}

/// The mode that goes with no other.
const ALONE: &str = "ReadWriteOncePod";

/// Checks how a volume may be accessed.
pub(super) fn check_modes(errors: &mut Errors, modes: &[Str], path: &FieldPath) {
    for mode in modes {
        rules::one_of(errors, mode, &ACCESS_MODES, path);
    }
    let others = |it: &Str| *it != *ALONE && ACCESS_MODES.contains(&it.as_str());
    if modes.iter().any(|it| it == ALONE) && modes.iter().any(others) {
        let detail = "may not use ReadWriteOncePod with other access modes";
        errors.push(FieldError::forbidden(path, detail));
    }
}

fn check_claim_spec(errors: &mut Errors, spec: &PersistentVolumeClaimSpec, path: &FieldPath) {
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        let detail = "at least 1 access mode is required";
        errors.push(FieldError::required(&modes, detail));
    }
    if let Some(selector) = &spec.selector {
        errors.extend(validate_label_selector(
            selector,
            &path.child("selector"),
            false,
        ));
    }
    check_modes(errors, &spec.access_modes, &modes);
    let at = path.child("resources").key("storage");
    match spec.resources.requests.get("storage") {
        None => errors.push(FieldError::required(&at, "")),
        Some(amount) if amount.signum() <= 0 => {
            errors.push(FieldError::invalid(
                &at,
                amount.text(),
                "must be greater than zero",
            ));
        }
        Some(_) => {}
    }
    if let Some(class) = spec.storage_class_name.as_ref().filter(|it| !it.is_empty()) {
        let path = path.child("storageClassName");
        let rule = kubist_apimachinery::validate_name::dns1123_subdomain;
        rules::text(errors, class, &path, rule);
    }
    if let Some(mode) = &spec.volume_mode {
        let path = path.child("volumeMode");
        rules::one_of(errors, mode, &["Block", "Filesystem"], &path);
    }
    check_sources(errors, spec, path);
    let class = spec.volume_attributes_class_name.as_ref();
    if let Some(class) = class.filter(|it| !it.is_empty()) {
        let path = path.child("volumeAttributesClassName");
        let rule = kubist_apimachinery::validate_name::dns1123_subdomain;
        rules::text(errors, class, &path, rule);
    }
}

fn check_sources(errors: &mut Errors, spec: &PersistentVolumeClaimSpec, path: &FieldPath) {
    if let Some(it) = &spec.data_source {
        let path = path.child("dataSource");
        check_reference(errors, it.api_group.as_ref(), &it.kind, &it.name, &path);
    }
    let mut elsewhere = false;
    if let Some(it) = &spec.data_source_ref {
        let path = path.child("dataSourceRef");
        check_reference(errors, it.api_group.as_ref(), &it.kind, &it.name, &path);
        if let Some(namespace) = it.namespace.as_ref().filter(|it| !it.is_empty()) {
            elsewhere = true;
            let rule = kubist_apimachinery::validate_name::dns1123_label;
            rules::text(errors, namespace, &path.child("namespace"), rule);
        }
    }
    let (Some(source), Some(reference)) = (&spec.data_source, &spec.data_source_ref) else {
        return;
    };
    let differ = source.api_group != reference.api_group
        || source.kind != reference.kind
        || source.name != reference.name;
    let detail = match (elsewhere, differ) {
        (true, _) => "may not be specified when dataSourceRef.namespace is specified",
        (false, true) => "must match dataSourceRef",
        (false, false) => return,
    };
    let shown = BadValue::json(&serde_json::json!({}));
    errors.push(FieldError::invalid(path, shown, detail));
}

fn check_reference(
    errors: &mut Errors,
    group: Option<&Str>,
    kind: &Str,
    name: &Str,
    path: &FieldPath,
) {
    rules::required(errors, name, &path.child("name"));
    rules::required(errors, kind, &path.child("kind"));
    match group.filter(|it| !it.is_empty()) {
        Some(group) => {
            let rule = kubist_apimachinery::validate_name::dns1123_subdomain;
            rules::text(errors, group, &path.child("apiGroup"), rule);
        }
        None if kind != "PersistentVolumeClaim" => {
            let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.push(FieldError::invalid(path, kind, detail));
        }
        None => {}
    }
}

fn check_update(errors: &mut Errors, new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) {
    let path = FieldPath::new("spec");
    let mut rest = new.spec.clone();
    let bound = old.status.phase == "Bound";
    // Binding is a change of its own.
    if old.spec.volume_name.is_empty() {
        rest.volume_name = old.spec.volume_name.clone();
    }
    if bound {
        rest.resources
            .requests
            .clone_from(&old.spec.resources.requests);
        rest.volume_attributes_class_name
            .clone_from(&old.spec.volume_attributes_class_name);
    }
    // A class may be filled in later, and moved out of the annotation.
    if old.spec.storage_class_name.is_none() {
        rest.storage_class_name = None;
    }
    if rest != old.spec {
        let before = go_struct::text(&old.spec);
        let diff = text_diff::json_diff(&before, &go_struct::text(&rest));
        errors.push(FieldError::forbidden(
            &path,
            format!("{ONLY_THESE}\n{diff}"),
        ));
    }
    let size = |amounts: &BTreeMap<Str, Quantity>| amounts.get("storage").cloned();
    let nothing = Quantity::default();
    let asked = |claim: &PersistentVolumeClaim| {
        let asked = size(&claim.spec.resources.requests);
        asked.unwrap_or_else(|| nothing.clone())
    };
    let got = size(&old.status.capacity).unwrap_or_else(|| nothing.clone());
    if asked(new) < asked(old) && asked(new) <= got {
        let path = path.child("resources").child("requests").child("storage");
        let detail = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden(&path, detail));
    }
    let modes = (&new.spec.volume_mode, &old.spec.volume_mode);
    let path = FieldPath::new("volumeMode");
    rules::immutable_value(errors, modes.0, modes.1, &path, |mode| {
        mode.as_ref().map_or_else(BadValue::null, BadValue::from)
    });
}
