//! Validation of PersistentVolumeClaim specs: in claims, in claim templates of StatefulSets and in
//! ephemeral volumes.

use crate::shared::rules::{self, Errors};
use crate::{shared, volume};
use kubist_api::core::v1::{
    PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate, TypedLocalObjectReference,
    TypedObjectReference,
};
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, ObjectMeta, Str, validate_label_selector, validate_labels,
    validate_name,
};

/// The annotation that names the storage class of older claims.
pub(crate) const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

const ACCESS_MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
/// The access mode that cannot be combined with another.
const ALONE: &str = "ReadWriteOncePod";

/// Violations that are tolerated because the stored claim already has them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tolerated {
    /// Selector values that are not valid label values.
    selector: bool,
    /// Data source groups that are not DNS subdomains.
    groups: bool,
}

impl Tolerated {
    /// Returns the violations that an update of `old` may keep.
    pub(crate) fn of(old: &PersistentVolumeClaimSpec) -> Self {
        let problems = old.selector.as_ref().map(|selector| {
            let path = FieldPath::new("selector");
            validate_label_selector(selector, &path, false)
        });
        let (source, reference) = (&old.data_source, &old.data_source_ref);
        Self {
            selector: problems.is_some_and(|it| !it.is_empty()),
            groups: source.as_ref().is_some_and(|it| it.api_group.is_some())
                || reference.as_ref().is_some_and(|it| it.api_group.is_some()),
        }
    }
}

/// Checks the claim template of an ephemeral volume.
pub(crate) fn check_template(
    errors: &mut Errors,
    template: &PersistentVolumeClaimTemplate,
    path: &FieldPath,
) {
    check_metadata(errors, &template.metadata, &path.child("metadata"));
    check(
        errors,
        &template.spec,
        Tolerated::default(),
        &path.child("spec"),
    );
}

/// Only labels and annotations of a template are copied.
fn check_metadata(errors: &mut Errors, metadata: &ObjectMeta, path: &FieldPath) {
    let annotations = path.child("annotations");
    errors.extend(shared::annotations::check(
        &metadata.annotations,
        &annotations,
    ));
    errors.extend(validate_labels(&metadata.labels, &path.child("labels")));
    let present = volume::source_validation::present(metadata);
    for field in present.filter(|it| !matches!(*it, "annotations" | "labels")) {
        let field = if field == "uid" { "uID" } else { field };
        errors.push(FieldError::forbidden(&path.child(field), "cannot be set"));
    }
}

/// Checks the access modes of a volume.
pub(crate) fn check_modes(errors: &mut Errors, modes: &[Str], path: &FieldPath) {
    for mode in modes {
        rules::one_of(errors, mode, &ACCESS_MODES, path);
    }
    let others = |it: &Str| *it != *ALONE && ACCESS_MODES.contains(&it.as_str());
    if modes.iter().any(|it| it == ALONE) && modes.iter().any(others) {
        let detail = "may not use ReadWriteOncePod with other access modes";
        errors.push(FieldError::forbidden(path, detail));
    }
}

/// Checks the spec of a claim.
pub(crate) fn check(
    errors: &mut Errors,
    spec: &PersistentVolumeClaimSpec,
    tolerated: Tolerated,
    path: &FieldPath,
) {
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        let detail = "at least 1 access mode is required";
        errors.push(FieldError::required(&modes, detail));
    }
    if let Some(selector) = &spec.selector {
        let at = path.child("selector");
        errors.extend(validate_label_selector(selector, &at, tolerated.selector));
    }
    check_modes(errors, &spec.access_modes, &modes);
    let at = path.child("resources").key("storage");
    match spec.resources.requests.get("storage") {
        None => errors.push(FieldError::required(&at, "")),
        Some(amount) if amount.signum() <= 0 => {
            let detail = "must be greater than zero";
            errors.push(FieldError::invalid(&at, amount.text(), detail));
        }
        Some(_) => {}
    }
    check_class(
        errors,
        spec.storage_class_name.as_ref(),
        &path.child("storageClassName"),
    );
    if let Some(mode) = &spec.volume_mode {
        let path = path.child("volumeMode");
        rules::one_of(errors, mode, &["Block", "Filesystem"], &path);
    }
    check_sources(errors, spec, tolerated, path);
    check_class(
        errors,
        spec.volume_attributes_class_name.as_ref(),
        &path.child("volumeAttributesClassName"),
    );
}

/// Checks the class; an empty class name is valid, too.
fn check_class(errors: &mut Errors, class: Option<&Str>, path: &FieldPath) {
    if let Some(class) = class.filter(|it| !it.is_empty()) {
        rules::text(errors, class, path, validate_name::dns1123_subdomain);
    }
}

fn check_sources(
    errors: &mut Errors,
    spec: &PersistentVolumeClaimSpec,
    tolerated: Tolerated,
    path: &FieldPath,
) {
    let mut elsewhere = false;
    if let Some(it) = spec.data_source.as_deref() {
        let named = (it.api_group.as_ref(), &it.kind, &it.name);
        check_reference(errors, named, tolerated, &path.child("dataSource"));
    }
    if let Some(it) = spec.data_source_ref.as_deref() {
        let path = path.child("dataSourceRef");
        let named = (it.api_group.as_ref(), &it.kind, &it.name);
        check_reference(errors, named, tolerated, &path);
        if let Some(namespace) = it.namespace.as_ref().filter(|it| !it.is_empty()) {
            elsewhere = true;
            let rule = validate_name::dns1123_label;
            rules::text(errors, namespace, &path.child("namespace"), rule);
        }
    }
    let (Some(source), Some(reference)) = (&spec.data_source, &spec.data_source_ref) else {
        return;
    };
    let detail = match (elsewhere, is_same(source, reference)) {
        (true, _) => "may not be specified when dataSourceRef.namespace is specified",
        (false, false) => "must match dataSourceRef",
        (false, true) => return,
    };
    // Upstream shows the field path as the value, which prints as an empty object.
    let shown = BadValue::json(&serde_json::json!({}));
    errors.push(FieldError::invalid(path, shown, detail));
}

fn is_same(source: &TypedLocalObjectReference, reference: &TypedObjectReference) -> bool {
    source.api_group == reference.api_group
        && source.kind == reference.kind
        && source.name == reference.name
}

fn check_reference(
    errors: &mut Errors,
    (group, kind, name): (Option<&Str>, &Str, &Str),
    tolerated: Tolerated,
    path: &FieldPath,
) {
    rules::required(errors, name, &path.child("name"));
    rules::required(errors, kind, &path.child("kind"));
    match group.filter(|it| !it.is_empty()) {
        Some(_) if tolerated.groups => {}
        Some(group) => {
            let path = path.child("apiGroup");
            rules::text(errors, group, &path, validate_name::dns1123_subdomain);
        }
        None if kind != "PersistentVolumeClaim" => {
            let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.push(FieldError::invalid(path, kind, detail));
        }
        None => {}
    }
}
