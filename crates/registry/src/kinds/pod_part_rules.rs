//! The parts of a Pod that have paths of their own: ephemeral containers, and the resources of
//! its containers.

use crate::store::keep_most;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{FieldError, FieldPath};

use super::pod_annotation_rules::MIRROR;
use super::rules::Errors;
use super::{pod_resize_rules, pod_rules};

/// Keeps what the path `part` does not change as it was.
pub(super) fn restrict(part: &str, new: &mut Pod, old: &Pod) {
    let mut kept = old.clone();
    keep_most(&mut new.metadata, &old.metadata);
    kept.metadata = std::mem::take(&mut new.metadata);
    match part {
        "ephemeralcontainers" => {
            kept.spec.ephemeral_containers = std::mem::take(&mut new.spec.ephemeral_containers);
        }
        "resize" => pod_resize_rules::restrict(&mut kept.spec, &mut new.spec),
        _ => {}
    }
    *new = kept;
}

/// Checks a change through the path `part`.
pub(super) fn check(part: &str, new: &Pod, old: &Pod) -> Errors {
    let mut errors = Vec::new();
    match part {
        "ephemeralcontainers" => check_ephemeral(&mut errors, new, old),
        "resize" => pod_resize_rules::check(&mut errors, new, old),
        _ => {}
    }
    errors
}

fn check_ephemeral(errors: &mut Errors, new: &Pod, old: &Pod) {
    let path = FieldPath::new("spec").child("ephemeralContainers");
    if old.metadata.annotations.contains_key(MIRROR) {
        let detail = "static pods do not support ephemeral containers";
        errors.push(FieldError::forbidden(&FieldPath::new(""), detail));
        return;
    }
    pod_rules::check(errors, new, Some(old));
    for before in &old.spec.ephemeral_containers {
        let mut now = new.spec.ephemeral_containers.iter();
        let name = &before.name;
        let what = match now.find(|it| it.name == *name) {
            None => "removed",
            Some(now) if now != before => "changed",
            Some(_) => continue,
        };
        let detail = format!("existing ephemeral containers {name:?} may not be {what}\n");
        errors.push(FieldError::forbidden(&path, detail));
    }
}
