//! The parts of a Pod that have paths of their own: ephemeral containers, and the resources of
//! its containers.

use kubist_api::core::v1::{Container, Pod};
use kubist_apimachinery::{FieldError, FieldPath, Str};
use std::collections::BTreeMap;

use super::pod_annotation_rules::MIRROR;
use super::rules::Errors;
use super::{pod_rules, quality_of_service};

/// The resources that change while a Pod runs.
const RESIZABLE: [&str; 2] = ["cpu", "memory"];

/// Keeps what the path `part` does not change as it was.
pub(super) fn restrict(part: &str, new: &mut Pod, old: &Pod) {
    let mut kept = old.clone();
    kept.metadata.resource_version = new.metadata.resource_version.clone();
    kept.metadata.uid = new.metadata.uid.clone();
    match part {
        "ephemeralcontainers" => {
            kept.spec.ephemeral_containers = std::mem::take(&mut new.spec.ephemeral_containers);
        }
        "resize" => {
            resize(&mut kept.spec.containers, &new.spec.containers);
            resize(&mut kept.spec.init_containers, &new.spec.init_containers);
        }
        _ => {}
    }
    *new = kept;
}

fn resize(kept: &mut [Container], new: &[Container]) {
    // The first of each name.
    let new: BTreeMap<&Str, &Container> = new.iter().rev().map(|it| (&it.name, it)).collect();
    for container in kept {
        if let Some(new) = new.get(&container.name) {
            container.resources = new.resources.clone();
            container.resize_policy.clone_from(&new.resize_policy);
        }
    }
}

/// Checks a change through the path `part`.
pub(super) fn check(part: &str, new: &Pod, old: &Pod) -> Errors {
    let mut errors = Vec::new();
    match part {
        "ephemeralcontainers" => check_ephemeral(&mut errors, new, old),
        "resize" => check_resize(&mut errors, new, old),
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

fn check_resize(errors: &mut Errors, new: &Pod, old: &Pod) {
    let path = FieldPath::new("spec");
    let os = old.spec.os.as_deref();
    let refused = if old.metadata.annotations.contains_key(MIRROR) {
        Some("static pods cannot be resized")
    } else {
        os.filter(|it| it.name == "windows")
            .map(|_| "windows pods cannot be resized")
    };
    if let Some(detail) = refused {
        errors.push(FieldError::forbidden(&FieldPath::new(""), detail));
        return;
    }
    pod_rules::check(errors, new, Some(old));
    let class = quality_of_service::class(&new.spec);
    if class != quality_of_service::class(&old.spec) {
        let detail = "Pod QOS Class may not change as a result of resizing";
        errors.push(FieldError::invalid(&path, class, detail));
    }
    let lists = [
        (
            "containers",
            &new.spec.containers,
            &old.spec.containers,
            true,
        ),
        (
            "initContainers",
            &new.spec.init_containers,
            &old.spec.init_containers,
            false,
        ),
    ];
    for (field, new, old, all) in lists {
        for (index, (new, old)) in new.iter().zip(old).enumerate() {
            let path = path.child(field).index(index);
            let runs = all || new.restart_policy.as_deref() == Some("Always");
            check_container(errors, new, old, runs, &path);
        }
    }
}

fn check_container(
    errors: &mut Errors,
    new: &Container,
    old: &Container,
    runs: bool,
    path: &FieldPath,
) {
    if new.resize_policy != old.resize_policy {
        let detail = "only cpu and memory resources are mutable";
        errors.push(FieldError::forbidden(&path.child("resizePolicy"), detail));
    }
    if new.resources == old.resources {
        return;
    }
    let path = path.child("resources");
    if !runs {
        let detail = "only cpu and memory resources for sidecar containers are mutable";
        errors.push(FieldError::forbidden(&path, detail));
        return;
    }
    for (field, what, new, old) in [
        (
            "limits",
            "limits",
            &new.resources.limits,
            &old.resources.limits,
        ),
        (
            "requests",
            "requests",
            &new.resources.requests,
            &old.resources.requests,
        ),
    ] {
        if old.keys().any(|name| !new.contains_key(name)) {
            let detail = format!("resource {what} cannot be removed");
            errors.push(FieldError::forbidden(&path.child(field), detail));
        }
        let fixed = |name: &&Str| !RESIZABLE.contains(&name.as_str());
        let names = new.keys().chain(old.keys());
        if names
            .filter(fixed)
            .any(|name| new.get(name) != old.get(name))
        {
            let detail = "only cpu and memory resources are mutable";
            errors.push(FieldError::forbidden(&path.child(field), detail));
        }
    }
}
