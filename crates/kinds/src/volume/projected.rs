//! Validation of volumes whose files come from several objects or from the Pod itself.

use crate::shared::rules::{self, Errors};
use crate::shared::{self, downward_api, go_struct, signer};
use crate::volume::source_validation as source;
use crate::volume::source_validation::{Rule, local_path, typed};
use crate::volume::sources::KEY_TO_PATH;
use Rule::{Required, Text};
use kubist_api::core::v1::{
    ClusterTrustBundleProjection, DownwardAPIVolumeFile, DownwardAPIVolumeSource,
    PodCertificateProjection, ProjectedVolumeSource, ServiceAccountTokenProjection,
    VolumeProjection,
};
use kubist_apimachinery::wire::Message;
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_label_selector};
use std::collections::BTreeSet;

/// The files of one volume so far, and the volume's path.
struct Files<'a> {
    taken: BTreeSet<&'a str>,
    path: &'a FieldPath,
}

impl<'a> Files<'a> {
    /// Adds a file, which must be unique. `shown` is its value in the error.
    fn add(&mut self, errors: &mut Errors, file: &'a Str, shown: &str) {
        if !self.taken.insert(file) {
            let detail = "conflicting duplicate paths";
            errors.push(FieldError::invalid(self.path, shown, detail));
        }
    }
}

/// Checks files with Pod fields.
pub(crate) fn downward(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    if let Some(downward) = typed::<DownwardAPIVolumeSource>(source) {
        for file in &downward.items {
            check_file(errors, file, path);
        }
    }
}

/// Checks files from several sources.
pub(crate) fn projected(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    let Some(projected) = typed::<ProjectedVolumeSource>(source) else {
        return;
    };
    let mut files = Files {
        taken: BTreeSet::new(),
        path,
    };
    for (index, source) in projected.sources.iter().enumerate() {
        let path = path.child("sources").index(index);
        check_objects(errors, source, &mut files, &path);
        if let Some(token) = &source.service_account_token {
            check_token(errors, token, &files, &path.child("serviceAccountToken"));
        }
        if let Some(bundle) = &source.cluster_trust_bundle {
            check_bundle(errors, bundle, &path.child("clusterTrustBundle"));
            files.add(errors, &bundle.path, &bundle.path);
        }
        if let Some(certificate) = &source.pod_certificate {
            let path = path.child("podCertificate");
            check_certificate(errors, certificate, &mut files, &path);
        }
        if source::present(source).count() > 1 {
            let detail = "may not specify more than 1 volume type per source";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
}

fn check_objects<'a>(
    errors: &mut Errors,
    source: &'a VolumeProjection,
    files: &mut Files<'a>,
    path: &FieldPath,
) {
    let secret = source.secret.as_ref();
    let map = source.config_map.as_ref();
    let objects = [
        ("secret", secret.map(|it| (&it.name, &it.items))),
        ("configMap", map.map(|it| (&it.name, &it.items))),
    ];
    for (field, object) in objects {
        let Some((name, items)) = object else {
            continue;
        };
        let path = path.child(field);
        rules::required(errors, name, &path.child("name"));
        for (index, item) in items.iter().enumerate() {
            let path = path.child("items").index(index);
            source::apply(errors, item, KEY_TO_PATH, &path);
            if !item.path.is_empty() {
                files.add(errors, &item.path, name);
            }
        }
    }
    if let Some(downward) = &source.downward_api {
        for file in &downward.items {
            check_file(errors, file, &path.child("downwardAPI"));
            if !file.path.is_empty() {
                files.add(errors, &file.path, &file.path);
            }
        }
    }
}

/// Upstream does not report which file is invalid.
fn check_file(errors: &mut Errors, file: &DownwardAPIVolumeFile, path: &FieldPath) {
    let place = [Required("path"), Text("path", local_path)];
    source::apply(errors, file, &place, path);
    match (&file.field_ref, &file.resource_field_ref) {
        (Some(field), resource) => {
            let at = path.child("fieldRef");
            downward_api::check_field(errors, field, &downward_api::FILE_FIELDS, &at);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.push(FieldError::invalid(path, "resource", detail));
            }
        }
        (None, Some(resource)) => {
            let path = path.child("resourceFieldRef");
            let name = &resource.container_name;
            if rules::required(errors, name, &path.child("containerName")) {
                downward_api::check_resource(errors, resource, &path);
            }
        }
        (None, None) => {
            let detail = "one of fieldRef and resourceFieldRef is required";
            errors.push(FieldError::required(path, detail));
        }
    }
    source::apply(errors, file, &[Rule::mode("mode")], path);
}

fn check_token(
    errors: &mut Errors,
    token: &ServiceAccountTokenProjection,
    files: &Files<'_>,
    path: &FieldPath,
) {
    /// Ten minutes.
    const SECONDS_MIN: i64 = 600;
    const SECONDS_MAX: i64 = 1 << 32;
    let seconds = token.expiration_seconds.unwrap_or_default();
    let at = path.child("expirationSeconds");
    if seconds < SECONDS_MIN {
        let detail = "may not specify a duration less than 10 minutes";
        errors.push(FieldError::invalid(&at, seconds, detail));
    }
    if seconds > SECONDS_MAX {
        let detail = "may not specify a duration larger than 2^32 seconds";
        errors.push(FieldError::invalid(&at, seconds, detail));
    }
    // Upstream's path is that of the volume.
    let place = [Required("path"), Text("path", local_path)];
    source::apply(errors, token, &place, files.path);
}

/// Checks certificates by the name of their bundle, or from all bundles of a signer.
fn check_bundle(errors: &mut Errors, bundle: &ClusterTrustBundleProjection, path: &FieldPath) {
    let selector = path.child("labelSelector");
    match (&bundle.name, &bundle.signer_name) {
        (Some(_), Some(_)) => {
            let detail = "only one of name and signerName may be used";
            errors.push(FieldError::invalid(path, go_struct::shown(bundle), detail));
        }
        (Some(name), None) => {
            let path = path.child("name");
            if name.is_empty() {
                let detail = "must be a valid object name";
                errors.push(FieldError::required(&path, detail));
            }
            rules::text(errors, name, &path, signer::bundle_name);
            if let Some(chosen) = bundle.label_selector.as_deref() {
                let detail = "labelSelector must be unset if name is specified";
                errors.push(FieldError::invalid(&selector, rules::shown(chosen), detail));
            }
        }
        (None, Some(signer)) => {
            let path = path.child("signerName");
            if signer.is_empty() {
                let detail = "must be a valid signer name";
                errors.push(FieldError::required(&path, detail));
            }
            signer::check(errors, signer, &path);
            if let Some(chosen) = bundle.label_selector.as_deref() {
                errors.extend(validate_label_selector(chosen, &selector, false));
            }
        }
        (None, None) => {
            let detail = "either name or signerName must be specified";
            errors.push(FieldError::required(path, detail));
        }
    }
    let place = [Required("path"), Text("path", local_path)];
    source::apply(errors, bundle, &place, path);
}

fn check_certificate<'a>(
    errors: &mut Errors,
    certificate: &'a PodCertificateProjection,
    files: &mut Files<'a>,
    path: &FieldPath,
) {
    const KEY_TYPES: [&str; 6] = [
        "RSA3072",
        "RSA4096",
        "ECDSAP256",
        "ECDSAP384",
        "ECDSAP521",
        "ED25519",
    ];
    const SECONDS_MIN: i32 = 3600;
    signer::check(errors, &certificate.signer_name, &path.child("signerName"));
    let annotations = path.child("userAnnotations");
    shared::annotations::check_prefixed(errors, &certificate.user_annotations, &annotations);
    let key_type = path.child("keyType");
    rules::one_of_texts(errors, &certificate.key_type, &KEY_TYPES, &key_type);
    if let Some(seconds) = certificate.max_expiration_seconds {
        let at = path.child("maxExpirationSeconds");
        let max = signer::certificate_seconds_max(&certificate.signer_name);
        if seconds < SECONDS_MIN {
            let detail = "if provided, maxExpirationSeconds must be >= 3600";
            errors.push(FieldError::invalid(&at, seconds, detail));
        }
        if seconds > max {
            let detail = format!("if provided, maxExpirationSeconds must be <= {max}");
            errors.push(FieldError::invalid(&at, seconds, detail));
        }
    }
    let places = [
        ("credentialBundlePath", &certificate.credential_bundle_path),
        ("keyPath", &certificate.key_path),
        ("certificateChainPath", &certificate.certificate_chain_path),
    ];
    for (field, file) in places.iter().filter(|(_, file)| !file.is_empty()) {
        rules::text(errors, file, &path.child(field), local_path);
        files.add(errors, file, file);
    }
    if places.iter().all(|(_, file)| file.is_empty()) {
        let detail =
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        errors.push(FieldError::required(path, detail));
    }
}
