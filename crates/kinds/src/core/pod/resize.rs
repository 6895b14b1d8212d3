//! Validation of in-place resource resizes of a Pod.

use crate::core::pod::{self, quality_of_service};
use crate::pod_spec::annotations::MIRROR;
use crate::pod_spec::container::is_sidecar;
use crate::shared::rules::Errors;
use kubist_api::core::v1::{Container, Pod, PodSpec, ResourceRequirements};
use kubist_apimachinery::{FieldError, FieldPath, Quantity, Str};
use std::collections::BTreeMap;

/// The resources that can be resized in place.
const RESIZABLE: [&str; 2] = ["cpu", "memory"];
const ONLY_THESE: &str = "only cpu and memory resources are mutable";

/// Copies the fields that a resize may change. Lists with different containers are copied whole,
/// because validation rejects them.
pub(crate) fn restrict(kept: &mut PodSpec, new: &mut PodSpec) {
    if kept.containers.len() != new.containers.len()
        || kept.init_containers.len() != new.init_containers.len()
    {
        *kept = std::mem::take(new);
        return;
    }
    kept.resources = new.resources.take();
    for (kept, new) in [
        (&mut kept.containers, &mut new.containers),
        (&mut kept.init_containers, &mut new.init_containers),
    ] {
        if kept
            .iter()
            .zip(&*new)
            .any(|(old, new)| old.name != new.name)
        {
            std::mem::swap(kept, new);
            continue;
        }
        for (kept, new) in kept.iter_mut().zip(new) {
            kept.resources = std::mem::take(&mut new.resources);
            kept.resize_policy = std::mem::take(&mut new.resize_policy);
        }
    }
}

/// Checks a resize.
pub(crate) fn check(errors: &mut Errors, new: &Pod, old: &Pod) {
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
    pod::validation::check(errors, new, Some(old));
    check_class(errors, new, old, &path);
    if !supports_resize(old) {
        let detail = "Pod running on node without support for resize";
        errors.push(FieldError::forbidden(&path, detail));
    }
    let (now, before) = (&new.spec, &old.spec);
    let of_pod = has_pod_resources(now) || has_pod_resources(before);
    if of_pod {
        check_pod_resources(errors, now, before, &path);
    }
    let status = &old.status;
    if !status.node_allocatable_resource_claim_statuses.is_empty() {
        let detail = "pods with node allocatable resource claims cannot be resized";
        errors.push(FieldError::forbidden(&path, detail));
    }
    if !same_containers(errors, now, before, &path) {
        return;
    }
    let initial = now.init_containers.iter().zip(&before.init_containers);
    let others = now.containers.iter().zip(&before.containers);
    let at = path.child("initContainers");
    for (index, (new, old)) in initial.clone().enumerate() {
        nothing_removed(errors, new, old, &at.index(index).child("resources"));
    }
    let at = path.child("containers");
    for (index, (new, old)) in others.clone().enumerate() {
        nothing_removed(errors, new, old, &at.index(index).child("resources"));
    }
    for (new, old) in others {
        if without_resizable(new, old) != *old {
            errors.push(FieldError::forbidden(&path, ONLY_THESE));
        }
    }
    let at = path.child("initContainers");
    for (index, (new, old)) in initial.enumerate() {
        check_initial(errors, new, old, &at.index(index));
    }
    if errors.is_empty() && !of_pod && now.resources != before.resources {
        errors.push(FieldError::forbidden(&path, ONLY_THESE));
    }
}

/// Checks that the quality-of-service class is unchanged. The error shows the stored class, as
/// upstream.
fn check_class(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) {
    let before = match old.status.qos_class.as_str() {
        "" => quality_of_service::class(&old.spec),
        stored => stored,
    };
    if quality_of_service::class(&new.spec) != before {
        let detail = "Pod QOS Class may not change as a result of resizing";
        errors.push(FieldError::invalid(path, &new.status.qos_class, detail));
    }
}

/// Reports whether the status of the first running container contains resources; true if no
/// container is running.
fn supports_resize(pod: &Pod) -> bool {
    let mut statuses = pod.status.container_statuses.iter();
    let running = statuses.find(|it| it.state.running.is_some());
    running.is_none_or(|it| it.resources.is_some())
}

/// Reports whether the Pod has pod-level resources.
fn has_pod_resources(spec: &PodSpec) -> bool {
    let resources = spec.resources.as_deref();
    resources.is_some_and(|it| !(it.requests.is_empty() && it.limits.is_empty()))
}

fn check_pod_resources(errors: &mut Errors, new: &PodSpec, old: &PodSpec, path: &FieldPath) {
    let at = path.child("resources");
    let (now, before) = (new.resources.as_deref(), old.resources.as_deref());
    let Some(now) = now else {
        if before.is_some() {
            let detail = "pod-level resources cannot be removed";
            errors.push(FieldError::forbidden(&at, detail));
        }
        return;
    };
    if let Some(before) = before {
        if is_removed(&now.requests, &before.requests) {
            let detail = "pod-level resource requests cannot be removed";
            errors.push(FieldError::forbidden(&at.child("requests"), detail));
        }
        if is_removed(&now.limits, &before.limits) {
            let detail = "pod-level resource limits cannot be removed";
            errors.push(FieldError::forbidden(&at.child("limits"), detail));
        }
    }
    let nothing = ResourceRequirements::default();
    let before = before.unwrap_or(&nothing);
    let rest = ResourceRequirements {
        claims: now.claims.clone(),
        ..with_resizable_of(now, before)
    };
    if rest != *before {
        let detail = "only cpu and memory resources are mutable at pod-level";
        errors.push(FieldError::forbidden(path, detail));
    }
}

/// Checks that containers are not added, removed or renamed.
fn same_containers(errors: &mut Errors, new: &PodSpec, old: &PodSpec, path: &FieldPath) -> bool {
    let before = errors.len();
    for (field, now, was) in [
        ("containers", &new.containers, &old.containers),
        ("initContainers", &new.init_containers, &old.init_containers),
    ] {
        let path = path.child(field);
        if now.len() != was.len() {
            let detail = format!("{field} may not be added or removed on resize");
            errors.push(FieldError::forbidden(&path, detail));
            continue;
        }
        for (index, (now, was)) in now.iter().zip(was).enumerate() {
            if now.name != was.name {
                let path = path.index(index).child("name");
                let detail = format!("{field} may not be renamed or reordered on resize");
                errors.push(FieldError::forbidden(&path, detail));
            }
        }
    }
    errors.len() == before
}

fn nothing_removed(errors: &mut Errors, new: &Container, old: &Container, path: &FieldPath) {
    let (now, before) = (&new.resources, &old.resources);
    if is_removed(&now.requests, &before.requests) {
        let detail = "resource requests cannot be removed";
        errors.push(FieldError::forbidden(&path.child("requests"), detail));
    }
    if is_removed(&now.limits, &before.limits) {
        let detail = "resource limits cannot be removed";
        errors.push(FieldError::forbidden(&path.child("limits"), detail));
    }
}

fn check_initial(errors: &mut Errors, new: &Container, old: &Container, path: &FieldPath) {
    if without_resizable(new, old) != *old {
        let detail = "only cpu and memory resources for init or sidecar containers are mutable";
        errors.push(FieldError::forbidden(path, detail));
    }
    if new == old || is_sidecar(new) {
        return;
    }
    let restarts = new.resize_policy.iter();
    for _ in restarts.filter(|it| it.restart_policy == "RestartContainer") {
        let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot \
                      be resized";
        errors.push(FieldError::forbidden(path, detail));
    }
}

type Amounts = BTreeMap<Str, Quantity>;

fn is_removed(now: &Amounts, before: &Amounts) -> bool {
    before.keys().any(|name| !now.contains_key(name))
}

/// Returns the new container with its resizable fields as in the old one. As upstream, claims are
/// lost, so a container with claims cannot be resized.
fn without_resizable(new: &Container, old: &Container) -> Container {
    let mut rest = new.clone();
    rest.resources = with_resizable_of(&new.resources, &old.resources);
    rest
}

fn with_resizable_of(
    new: &ResourceRequirements,
    old: &ResourceRequirements,
) -> ResourceRequirements {
    ResourceRequirements {
        limits: amounts_with_resizable_of(&new.limits, &old.limits),
        requests: amounts_with_resizable_of(&new.requests, &old.requests),
        claims: Vec::new(),
    }
}

fn amounts_with_resizable_of(new: &Amounts, old: &Amounts) -> Amounts {
    let mut mixed = new.clone();
    for name in RESIZABLE {
        match old.get(name) {
            Some(amount) => mixed.insert(name.into(), amount.clone()),
            None => mixed.remove(name),
        };
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(name: &str, requests: &[(&str, &str)]) -> Container {
        let mut container = Container {
            name: name.into(),
            ..Container::default()
        };
        for (name, amount) in requests {
            let amount: Quantity = amount.parse().expect("an amount");
            let requests = &mut container.resources.requests;
            requests.insert((*name).into(), amount);
        }
        container
    }

    fn spec(containers: Vec<Container>) -> PodSpec {
        PodSpec {
            containers,
            ..PodSpec::default()
        }
    }

    #[test]
    fn only_resources_are_taken_over() {
        let mut kept = spec(vec![container("a", &[("cpu", "1")])]);
        let mut other = container("a", &[("cpu", "2")]);
        other.image = "other".into();
        restrict(&mut kept, &mut spec(vec![other]));
        assert_eq!(kept, spec(vec![container("a", &[("cpu", "2")])]));
        let other = spec(vec![container("b", &[])]);
        restrict(&mut kept, &mut other.clone());
        assert_eq!(kept, other);
    }

    #[test]
    fn containers_stay_in_their_order() {
        let old = spec(vec![container("a", &[]), container("b", &[])]);
        let path = FieldPath::new("spec");
        let of = |new: &PodSpec| -> Vec<String> {
            let mut errors = Errors::new();
            same_containers(&mut errors, new, &old, &path);
            errors.iter().map(ToString::to_string).collect()
        };
        assert_eq!(of(&old), [""; 0]);
        assert_eq!(
            of(&spec(vec![container("a", &[])])),
            ["spec.containers: Forbidden: containers may not be added or removed on resize"]
        );
        let detail = "Forbidden: containers may not be renamed or reordered on resize";
        assert_eq!(
            of(&spec(vec![container("b", &[]), container("a", &[])])),
            [
                format!("spec.containers[0].name: {detail}"),
                format!("spec.containers[1].name: {detail}"),
            ]
        );
    }

    #[test]
    fn cpu_and_memory_are_all_that_changes() {
        let old = container("a", &[("cpu", "1"), ("memory", "1Gi")]);
        let new = container("a", &[("cpu", "2"), ("memory", "2Gi")]);
        assert_eq!(without_resizable(&new, &old), old);
        let new = container("a", &[("cpu", "2"), ("ephemeral-storage", "1Gi")]);
        assert_ne!(without_resizable(&new, &old), old);
        let of_pod = |amounts: &[(&str, &str)]| PodSpec {
            resources: Some(Box::new(container("a", amounts).resources)),
            ..PodSpec::default()
        };
        let mut errors = Errors::new();
        let (new, old) = (of_pod(&[("hugepages-2Mi", "2Mi")]), of_pod(&[("cpu", "1")]));
        check_pod_resources(&mut errors, &new, &old, &FieldPath::new("spec"));
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "spec.resources.requests: Forbidden: pod-level resource requests cannot be removed",
                "spec: Forbidden: only cpu and memory resources are mutable at pod-level",
            ]
        );
    }
}
