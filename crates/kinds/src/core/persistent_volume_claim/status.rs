//! Validation of the status of PersistentVolumeClaims.

use crate::shared;
use crate::shared::rules::Errors;
use kubist_api::core::v1::PersistentVolumeClaim;
use kubist_apimachinery::{FieldError, FieldPath, Quantity, validate_name};

/// The resize states.
const RESIZES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

/// Checks the status of a claim.
pub(crate) fn check(claim: &PersistentVolumeClaim) -> Errors {
    let mut errors = Errors::new();
    let (path, status) = (FieldPath::new("status"), &claim.status);
    if claim.spec.access_modes.is_empty() {
        // Upstream's path.
        let path = FieldPath::new("Spec").child("accessModes");
        errors.push(FieldError::required(&path, ""));
    }
    let at = path.child("capacity");
    for (name, amount) in &status.capacity {
        check_amount(&mut errors, amount, &at.key(name));
    }
    let at = path.child("allocatedResourceStatuses");
    for (name, resize) in &status.allocated_resource_statuses {
        check_name(&mut errors, name, &at);
        if !RESIZES.contains(&resize.as_str()) {
            errors.push(FieldError::not_supported(&at, name, &RESIZES));
        }
    }
    let at = path.child("allocatedResources");
    for (name, amount) in &status.allocated_resources {
        if check_name(&mut errors, name, &at) {
            let path = at.key(name);
            if check_amount(&mut errors, amount, &path) {
                shared::resources::check_amount(&mut errors, "storage", amount, &path);
            }
        }
    }
    errors
}

/// Checks a resource name: of the Kubernetes resources, only storage is allowed.
fn check_name(errors: &mut Errors, name: &str, path: &FieldPath) -> bool {
    let before = errors.len();
    let problems = validate_name::qualified_name(name).into_iter();
    errors.extend(problems.map(|it| FieldError::invalid(path, name, it)));
    if errors.len() == before && shared::resources::is_native(name) && name != "storage" {
        errors.push(FieldError::not_supported(path, name, &["storage"]));
    }
    errors.len() == before
}

fn check_amount(errors: &mut Errors, amount: &Quantity, path: &FieldPath) -> bool {
    let is_negative = amount.signum() < 0;
    if is_negative {
        let detail = "must be a valid resource quantity";
        errors.push(FieldError::invalid(path, amount.value(), detail));
    }
    !is_negative
}
