//! What requests and limits must satisfy.

use kubist_api::core::v1::{PodSpec, ResourceRequirements};
use kubist_apimachinery::{FieldError, FieldPath, Quantity, Str, validate_name};
use std::collections::{BTreeMap, BTreeSet};

use super::rules::{self, Errors};

const STANDARD: [&str; 3] = ["cpu", "ephemeral-storage", "memory"];
/// Names without a domain that are resources of something, though not of containers.
const STANDARD_ELSEWHERE: [&str; 18] = [
    "storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
    "count",
];

/// Checks what a container requests and may use.
pub(super) fn check(errors: &mut Errors, resources: &ResourceRequirements, path: &FieldPath) {
    let (limits_path, requests_path) = (path.child("limits"), path.child("requests"));
    for (name, amount) in &resources.limits {
        let path = limits_path.key(name);
        check_container_name(errors, name, &path);
        check_amount(errors, name, amount, &path);
    }
    for (name, amount) in &resources.requests {
        let path = requests_path.key(name);
        check_container_name(errors, name, &path);
        check_amount(errors, name, amount, &path);
        match resources.limits.get(name) {
            Some(limit) if is_exact(name) && amount != limit => {
                let detail = format!("must be equal to {name} limit of {limit}");
                errors.push(FieldError::invalid(&requests_path, amount.text(), detail));
            }
            Some(limit) if !is_exact(name) && amount > limit => {
                let detail = format!("must be less than or equal to {name} limit of {limit}");
                errors.push(FieldError::invalid(&requests_path, amount.text(), detail));
            }
            None if is_exact(name) => {
                let detail = "Limit must be set for non overcommitable resources";
                errors.push(FieldError::required(&limits_path, detail));
            }
            _ => {}
        }
    }
    check_huge_pages(errors, resources, path);
}

/// Claims that a container uses are those of its Pod.
pub(super) fn check_claims(
    errors: &mut Errors,
    resources: &ResourceRequirements,
    spec: &PodSpec,
    path: &FieldPath,
) {
    let known: Vec<&str> = spec
        .resource_claims
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    let mut seen = BTreeSet::new();
    for (index, claim) in resources.claims.iter().enumerate() {
        let path = path.index(index);
        if claim.name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else if !known.contains(&claim.name.as_str()) {
            errors.push(FieldError::not_found(&path, &claim.name));
        }
        if !claim.request.is_empty() {
            let at = path.child("request");
            rules::text(errors, &claim.request, &at, validate_name::dns1123_label);
        }
        if !seen.insert((&claim.name, &claim.request)) {
            errors.push(FieldError::duplicate(&path, &claim.name));
        }
    }
}

/// Huge pages come with ordinary resources only.
fn check_huge_pages(errors: &mut Errors, resources: &ResourceRequirements, path: &FieldPath) {
    let keys = || resources.limits.keys().chain(resources.requests.keys());
    let any = |wanted: &dyn Fn(&str) -> bool| keys().any(|it| wanted(it));
    if any(&|it| it.starts_with("hugepages-")) && !any(&|it| it == "cpu" || it == "memory") {
        let detail = "HugePages require cpu or memory";
        errors.push(FieldError::forbidden(path, detail));
    }
}

/// Whether what is requested must be what is the limit.
fn is_exact(name: &str) -> bool {
    is_extended(name) || name.starts_with("hugepages-")
}

/// Whether a name is not one of Kubernetes' own.
pub(super) fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && validate_name::qualified_name(&format!("requests.{name}")).is_empty()
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// The name of a resource that containers can ask for.
pub(super) fn check_container_name(errors: &mut Errors, name: &str, path: &FieldPath) {
    check_any_name(errors, name, path);
    if !name.contains('/') {
        if !(STANDARD.contains(&name) || name.starts_with("hugepages-")) {
            let detail = "must be a standard resource for containers";
            errors.push(FieldError::invalid(path, name, detail));
        }
    } else if !is_native(name) && !is_extended(name) {
        let detail = "doesn't follow extended resource name standard";
        errors.push(FieldError::invalid(path, name, detail));
    }
}

/// The name of any resource.
pub(super) fn check_any_name(errors: &mut Errors, name: &str, path: &FieldPath) {
    let problems = validate_name::qualified_name(name);
    if !problems.is_empty() {
        let wrong = |it| FieldError::invalid(path, name, it);
        errors.extend(problems.into_iter().map(wrong));
        return;
    }
    let is_standard = STANDARD.contains(&name) || name.starts_with("hugepages-");
    if !name.contains('/') && !is_standard && !STANDARD_ELSEWHERE.contains(&name) {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(path, name, detail));
    }
}

/// An amount must not be negative, and whole where it counts things.
pub(super) fn check_amount(errors: &mut Errors, name: &str, amount: &Quantity, path: &FieldPath) {
    non_negative(errors, amount, path);
    let counts = is_extended(name) || COUNTED.contains(&name);
    if counts && amount.milli_value() % 1000 != 0 {
        errors.push(FieldError::invalid(
            path,
            amount.text(),
            "must be an integer",
        ));
    }
}

/// Resources that are counted in ones.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// An amount must not be negative.
pub(super) fn non_negative(errors: &mut Errors, amount: &Quantity, path: &FieldPath) {
    if amount.signum() < 0 {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(path, amount.text(), detail));
    }
}

/// Amounts of anything, as of capacities.
pub(super) fn check_list(errors: &mut Errors, amounts: &BTreeMap<Str, Quantity>, path: &FieldPath) {
    for (name, amount) in amounts {
        let path = path.key(name);
        let problems = validate_name::qualified_name(name);
        let wrong = |it| FieldError::invalid(&path, name, it);
        errors.extend(problems.into_iter().map(wrong));
        check_amount(errors, name, amount, &path);
    }
}
