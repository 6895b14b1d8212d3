//! The subresources of a Pod that change its spec: ephemeral containers and container resources.

use crate::core::pod;
use crate::pod_spec::annotations::MIRROR;
use crate::shared::rules::Errors;
use crate::shared::{go_struct, text_diff};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::keep_most;

/// The maximum number of containers whose changes an error lists.
const DIFFS_MAX: usize = 16;

/// Restores everything that the subresource `part` may not change.
pub(crate) fn restrict(part: &str, new: &mut Pod, old: &Pod) {
    let mut kept = old.clone();
    keep_most(&mut new.metadata, &old.metadata);
    kept.metadata = std::mem::take(&mut new.metadata);
    match part {
        "ephemeralcontainers" => {
            kept.spec.ephemeral_containers = std::mem::take(&mut new.spec.ephemeral_containers);
        }
        "resize" => pod::resize::restrict(&mut kept.spec, &mut new.spec),
        _ => {}
    }
    *new = kept;
}

/// Checks a change through the subresource `part`.
pub(crate) fn check(part: &str, new: &Pod, old: &Pod) -> Errors {
    let mut errors = Vec::new();
    match part {
        "ephemeralcontainers" => check_ephemeral(&mut errors, new, old),
        "resize" => pod::resize::check(&mut errors, new, old),
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
    pod::validation::check(errors, new, Some(old));
    let mut diffs = 0_usize;
    for before in &old.spec.ephemeral_containers {
        let mut now = new.spec.ephemeral_containers.iter();
        let name = &before.name;
        let detail = match now.find(|it| it.name == *name) {
            None => format!("existing ephemeral containers {name:?} may not be removed\n"),
            Some(now) if now != before => {
                diffs += 1;
                let diff = if diffs > DIFFS_MAX {
                    String::new()
                } else {
                    text_diff::json_diff(&go_struct::text(before), &go_struct::text(now))
                };
                format!("existing ephemeral containers {name:?} may not be changed\n{diff}")
            }
            Some(_) => continue,
        };
        errors.push(FieldError::forbidden(&path, detail));
    }
}
