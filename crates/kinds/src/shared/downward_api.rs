//! Validation of references to the fields and container resources of a Pod (the downward API).

use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{ObjectFieldSelector, ResourceFieldSelector};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// The fields that a variable may refer to.
pub(crate) const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// The fields that a file may refer to.
pub(crate) const FILE_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];
/// All other fields that references may name.
const OTHER_FIELDS: [&str; 6] = [
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.host",
    "status.phase",
];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// Checks a reference to a Pod field, which must be among `allowed`.
pub(crate) fn check_field(
    errors: &mut Errors,
    field: &ObjectFieldSelector,
    allowed: &[&str],
    path: &FieldPath,
) {
    if !rules::required(errors, &field.api_version, &path.child("apiVersion"))
        || !rules::required(errors, &field.field_path, &path.child("fieldPath"))
    {
        return;
    }
    let name = field.field_path.as_str();
    let at = path.child("fieldPath");
    let unknown = |why: &str| {
        let detail = format!("error converting fieldPath: {why}: {name}");
        FieldError::invalid(&at, name, detail)
    };
    if field.api_version != "v1" {
        let version = &field.api_version;
        let detail = format!("error converting fieldPath: unsupported pod version: {version}");
        errors.push(FieldError::invalid(&at, name, detail));
        return;
    }
    match subscript(name) {
        // Upstream's path is that of the reference.
        Some(("metadata.annotations", key)) => {
            let key = key.to_lowercase();
            rules::text(errors, &key, path, validate_name::qualified_name);
        }
        Some(("metadata.labels", key)) => {
            rules::text(errors, key, path, validate_name::qualified_name);
        }
        Some(_) => errors.push(unknown("field label does not support subscript")),
        None if !ENV_FIELDS.contains(&name) && !OTHER_FIELDS.contains(&name) => {
            errors.push(unknown("field label not supported"));
        }
        None => {
            // The name of the field in the first API versions.
            let name = if name == "spec.host" {
                "spec.nodeName"
            } else {
                name
            };
            rules::one_of_texts(errors, name, allowed, &at);
        }
    }
}

/// Splits `map['key']` into the map and the key.
fn subscript(path: &str) -> Option<(&str, &str)> {
    let (map, key) = path.strip_suffix("']")?.split_once("['")?;
    (!map.is_empty()).then_some((map, key))
}

/// Checks a reference to container resources.
pub(crate) fn check_resource(errors: &mut Errors, field: &ResourceFieldSelector, path: &FieldPath) {
    let (name, at) = (&field.resource, path.child("resource"));
    if rules::required(errors, name, &at) && !is_huge_pages(name) {
        rules::one_of_texts(errors, name, &RESOURCES, &at);
    }
    check_divisor(errors, field, path);
}

fn is_huge_pages(resource: &str) -> bool {
    let kinds = ["limits.hugepages-", "requests.hugepages-"];
    kinds.iter().any(|it| resource.starts_with(it))
}

/// Checks the divisor: a suffix without a number.
fn check_divisor(errors: &mut Errors, field: &ResourceFieldSelector, path: &FieldPath) {
    const BYTES: [&str; 13] = [
        "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
    ];
    if field.divisor.is_zero() {
        return;
    }
    let name = field.resource.as_str();
    let of_bytes = |what: &str| {
        let all = BYTES.join(", ");
        format!("only divisor's values {all} are supported with the {what} resource")
    };
    let (supported, detail): (&[&str], String) = match name {
        "limits.cpu" | "requests.cpu" => (
            &["1m", "1"],
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned(),
        ),
        "limits.memory" | "requests.memory" => (&BYTES, of_bytes("memory")),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (&BYTES, of_bytes("local ephemeral storage"))
        }
        _ if is_huge_pages(name) => (&BYTES, of_bytes("hugepages")),
        _ => return,
    };
    if !supported.contains(&field.divisor.as_str()) {
        errors.push(FieldError::invalid(&path.child("divisor"), name, detail));
    }
}
