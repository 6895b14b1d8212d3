//! Validation of annotations that have a meaning for Pods.

use crate::pod_spec::any_container;
use crate::pod_spec::profiles::{APP_ARMOR, LOCALHOST, SECCOMP_OF_CONTAINER, SECCOMP_OF_POD};
use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use crate::volume::source_validation::descending_path;
use kubist_api::core::v1::{Pod, PodSpec};
use kubist_apimachinery::{FieldError, FieldPath, ObjectMeta, Str};
use std::collections::BTreeMap;

/// Marks a mirror Pod: a Pod that its node creates, and that the API server only displays.
pub(crate) const MIRROR: &str = "kubernetes.io/config.mirror";
/// The order in which a ReplicaSet deletes its Pods: lower costs first.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Checks the annotations of a Pod or template.
pub(crate) fn check(
    errors: &mut Errors,
    spec: &PodSpec,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let annotations = &subject.metadata.annotations;
    if let Some(value) = annotations.get(MIRROR)
        && spec.node_name.is_empty()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.push(FieldError::invalid(&path.key(MIRROR), value, detail));
    }
    let had_no_cost = subject.old.is_some_and(|(old, _)| bad_cost(old).is_some());
    if let Some(value) = bad_cost(subject.metadata).filter(|_| !had_no_cost) {
        let path = path.key(DELETION_COST);
        errors.push(FieldError::invalid(&path, value, "must be a 32bit integer"));
    }
    check_seccomp(errors, annotations, path);
    for (key, value) in annotations {
        if let Some(name) = key.strip_prefix(APP_ARMOR) {
            check_app_armor(errors, spec, name, value, &path.key(key));
        }
    }
}

/// Returns a deletion cost that is not a number in Go's syntax.
fn bad_cost(metadata: &ObjectMeta) -> Option<&Str> {
    let value = metadata.annotations.get(DELETION_COST)?;
    let plain = value.starts_with(|it: char| it == '-' || ('1'..='9').contains(&it));
    let fine = (plain || value == "0") && value.parse::<i32>().is_ok();
    (!fine).then_some(value)
}

fn check_seccomp(errors: &mut Errors, annotations: &BTreeMap<Str, Str>, path: &FieldPath) {
    let of_pod = annotations.get_key_value(SECCOMP_OF_POD);
    let of_containers = annotations
        .iter()
        .filter(|(key, _)| key.starts_with(SECCOMP_OF_CONTAINER));
    for (key, value) in of_pod.into_iter().chain(of_containers) {
        let path = path.child(key);
        if matches!(
            value.as_str(),
            "runtime/default" | "docker/default" | "unconfined"
        ) {
            continue;
        }
        if let Some(name) = value.strip_prefix(LOCALHOST) {
            rules::text(errors, name, &path, descending_path);
        } else {
            let detail = "must be a valid seccomp profile";
            errors.push(FieldError::invalid(&path, value, detail));
        }
    }
}

fn check_app_armor(
    errors: &mut Errors,
    spec: &PodSpec,
    container: &str,
    profile: &str,
    path: &FieldPath,
) {
    let mut all = any_container::all(spec, &FieldPath::new("spec"));
    if !all.any(|(it, _)| it.name == container) {
        let detail = "container not found";
        errors.push(FieldError::invalid(path, container, detail));
    }
    let known = matches!(profile, "" | "runtime/default" | "unconfined");
    if !known && !profile.starts_with(LOCALHOST) {
        let detail = format!("invalid AppArmor profile name: {profile:?}");
        errors.push(FieldError::invalid(path, profile, detail));
    }
}

/// Checks that the AppArmor profiles and the mirror annotation do not change.
pub(crate) fn check_update(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) {
    let (now, before) = (&new.metadata.annotations, &old.metadata.annotations);
    let mut forbid = |key: &Str, verb: &str| {
        let what = if key.starts_with(APP_ARMOR) {
            "AppArmor annotations"
        } else if key == MIRROR {
            "mirror pod annotation"
        } else {
            return;
        };
        let detail = format!("may not {verb} {what}");
        errors.push(FieldError::forbidden(&path.key(key), detail));
    };
    for (key, _) in before.iter().filter(|&(key, it)| now.get(key) != Some(it)) {
        forbid(key, "remove or update");
    }
    for key in now.keys().filter(|&key| !before.contains_key(key)) {
        forbid(key, "add");
    }
}
