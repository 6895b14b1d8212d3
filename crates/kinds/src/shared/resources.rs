//! Names and amounts of resources: validation and warnings.

use crate::shared::rules::Errors;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Quantity, Str, validate_name};
use std::collections::BTreeMap;

/// The prefix of huge page resources. The page size follows.
pub(crate) const HUGE_PAGES: &str = "hugepages-";

const STANDARD: [&str; 3] = ["cpu", "ephemeral-storage", "memory"];
/// Standard names without a domain that are not container resources.
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

/// Reports whether a resource can be requested at Pod level.
pub(crate) fn is_of_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_pages(name)
}

/// Reports whether a resource is a huge page resource.
pub(crate) fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Reports whether the request must equal the limit.
pub(crate) fn is_exact(name: &str) -> bool {
    !is_native(name) || is_huge_pages(name)
}

/// Reports whether a name is not one of Kubernetes' own.
pub(crate) fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && validate_name::qualified_name(&format!("requests.{name}")).is_empty()
}

pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Checks the name of a container resource.
pub(crate) fn check_container_name(errors: &mut Errors, name: &str, path: &FieldPath) {
    check_any_name(errors, name, path);
    if !name.contains('/') {
        if !(STANDARD.contains(&name) || is_huge_pages(name)) {
            let detail = "must be a standard resource for containers";
            errors.push(FieldError::invalid(path, BadValue::json(name), detail));
        }
    } else if !is_native(name) && !is_extended(name) {
        let detail = "doesn't follow extended resource name standard";
        errors.push(FieldError::invalid(path, BadValue::json(name), detail));
    }
}

/// Checks the name of any resource.
pub(crate) fn check_any_name(errors: &mut Errors, name: &str, path: &FieldPath) {
    let problems = validate_name::qualified_name(name);
    if !problems.is_empty() {
        let wrong = |it| FieldError::invalid(path, BadValue::json(name), it);
        errors.extend(problems.into_iter().map(wrong));
        return;
    }
    let pages = is_huge_pages(name) || name.starts_with("requests.hugepages-");
    let is_standard = STANDARD.contains(&name) || STANDARD_ELSEWHERE.contains(&name);
    if !name.contains('/') && !is_standard && !pages {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(path, BadValue::json(name), detail));
    }
}

/// Checks that a quantity is not negative, and that it is an integer if the resource is counted.
pub(crate) fn check_amount(errors: &mut Errors, name: &str, amount: &Quantity, path: &FieldPath) {
    non_negative(errors, amount, path);
    let counts = is_extended(name) || COUNTED.contains(&name);
    if counts && !amount.is_whole() {
        errors.push(FieldError::invalid(
            path,
            amount.text(),
            "must be an integer",
        ));
    }
}

/// Resources that are counted in integers.
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

/// Checks that a quantity is not negative.
pub(crate) fn non_negative(errors: &mut Errors, amount: &Quantity, path: &FieldPath) {
    if amount.signum() < 0 {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(path, amount.text(), detail));
    }
}

/// Warns of one byte amount that is not a whole number.
pub(crate) fn warn_of_fraction(
    found: &mut Vec<String>,
    amounts: &BTreeMap<Str, Quantity>,
    name: &str,
    path: &FieldPath,
) {
    if let Some(amount) = amounts.get(name)
        && !amount.is_whole()
    {
        found.push(format!(
            "{}: fractional byte value {:?} is invalid, must be an integer",
            path.key(name),
            amount.as_str()
        ));
    }
}
